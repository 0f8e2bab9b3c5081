import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useProject } from "../api/session";
import type { Quote } from "../traces/view/highlights";
import { Button } from "../ui/Button";
import { CodeText } from "../ui/CodeText";
import { Dialog } from "../ui/Dialog";
import { Select } from "../ui/Field";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { type Explanation, Term } from "../ui/Term";
import styles from "./AgreementPage.module.css";
import { words } from "./answers";
import { ExcludedAnnotators } from "./ExcludedAnnotators";
import { ItemView } from "./ItemView";
import { AnnotatorDrift, AnnotatorPace } from "./PeoplePage";
import { agreementQuery, answersQuery, peopleQuery } from "./queries";
import type { AgreementSearch } from "./search";
import { TaskLayout } from "./TaskLayout";
import type { AgainstJudge, Agreed, Agreement, Person, TaskInFull } from "./types";

/** Agreement between annotators, and between judges and annotators. */
export function AgreementPage() {
  return <TaskLayout>{(task) => <AgreementView task={task} />}</TaskLayout>;
}

const HERE = "/p/$project/annotate/$task/agreement";

/** The selection is in the address. */
function useAgreementSearch() {
  const search = useSearch({ from: HERE });
  const navigate = useNavigate({ from: HERE });
  const set = (change: Partial<AgreementSearch>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  return [search, set] as const;
}

function AgreementView({ task }: { task: TaskInFull }) {
  const project = useProject();
  const found = useQuery({
    ...agreementQuery(project.id, task.id),
    select: (it) => ({
      ...it,
      criteria: it.criteria.toSorted((a, b) => placeOf(task, a) - placeOf(task, b)),
    }),
  });
  const working = useQuery(peopleQuery(project.id, task.id));
  return (
    <Loaded query={found} what="agreement">
      {(it) =>
        it.criteria.length === 0 ? (
          <Notice title="Nothing to compare yet">
            <p>Agreement is measured when two annotators have answered the same item.</p>
            <ExcludedAnnotators task={task} />
          </Notice>
        ) : (
          <div className={styles.parts}>
            <ExcludedAnnotators task={task} />
            <CriterionAgreement criteria={it.criteria} />
            {it.judge.length > 0 && <JudgeAgreementTable found={it} />}
            <div className={styles.beside}>
              {it.people.length > 0 && <AnnotatorMatrix found={it} working={working.data?.items ?? []} />}
              {it.pairs.length > 0 && <AnnotatorPairs found={it} />}
            </div>
          </div>
        )
      }
    </Loaded>
  );
}

/** The position of a criterion among the questions of its task. */
function placeOf(task: TaskInFull, { scheme: name, criterion }: Agreed): number {
  const at = task.schemes.findIndex((it) => it.name === name);
  const scheme = task.schemes[at];
  const rows = scheme?.kind === "rubric" ? scheme.criteria.map((it) => it.name) : [];
  // Other rows, such as the overall rating, come after them.
  return at * 1000 + (rows.includes(criterion) ? rows.indexOf(criterion) : rows.length);
}

const labelOf = (found: Agreement, criterion: string): string =>
  found.criteria.find((it) => it.criterion === criterion)?.label ?? words(criterion);

function AgreementSection({
  title,
  about,
  children,
}: {
  title: string;
  about: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={styles.part}>
      <h2>{title}</h2>
      <p className={styles.soft}>{about}</p>
      {children}
    </section>
  );
}

const number = (it: number | null | undefined): string =>
  it == null ? "–" : it.toFixed(2).replace("-", "−");
const interval = (it: [number, number] | null | undefined): string =>
  it ? `${number(it[0])} to ${number(it[1])}` : "–";

/** Krippendorff's limits for good agreement and for tentative conclusions, as lines behind the bars. */
const [GOOD, TENTATIVE] = [0.8, 0.667];

/** What the server concludes from a value and its interval. */
const STRENGTHS: Record<string, string> = {
  good: "good",
  tentative: "tentative",
  unclear: "more answers needed",
  low: "too low",
};

type Measured = {
  value?: number | null;
  interval?: [number, number] | null;
  /** Why there is no value. */
  undefined?: string | null;
  tone?: string;
};

/** The start of an axis: 0, or the smallest value rounded down to a tenth. */
function startOf(all: Measured[]): number {
  const lowest = Math.min(0, ...all.flatMap((it) => [it.value ?? 0, it.interval?.[0] ?? 0]));
  return Math.max(-1, Math.floor(lowest * 10) / 10);
}

const ALPHA: Explanation = {
  about:
    "Krippendorff’s alpha: agreement of all annotators beyond chance. 1 is perfect agreement, 0 is chance level.",
  entry: "krippendorffs-alpha",
};

const KAPPA: Explanation = {
  about:
    "Cohen’s kappa: agreement of the judge with the majority of annotators beyond chance, weighted by distance on numeric scales.",
  entry: "cohens-kappa",
};

/** Columns with a bar on a shared axis, the number and its interval. */
function measured<Row>(
  head: string,
  help: Explanation,
  rows: Row[],
  of: (row: Row) => Measured,
): Column<Row>[] {
  const from = startOf(rows.map(of));
  return [
    {
      name: "bar",
      head: <AgreementAxis from={from} />,
      cell: (row) => {
        const it = of(row);
        if (it.value == null) return <span className={styles.soft}>{it.undefined ?? "too few answers"}</span>;
        return <AgreementBar value={it.value} interval={it.interval} from={from} tone={it.tone} />;
      },
    },
    { name: "value", head, ...help, align: "end", cell: (row) => <b>{number(of(row).value)}</b> },
    {
      name: "interval",
      head: "95 % interval",
      about: "Confidence interval of the agreement, from ten items on. A wide one needs more items.",
      entry: "confidence-interval",
      align: "end",
      cell: (row) => interval(of(row).interval),
      wide: true,
    },
  ];
}

function CriterionAgreement({ criteria }: { criteria: Agreed[] }) {
  const columns: Column<Agreed>[] = [
    { name: "label", head: "Criterion", cell: (it) => it.label },
    ...measured("α", ALPHA, criteria, (it) => ({ ...it, tone: it.strength })),
    {
      name: "verdict",
      head: "Meaning",
      about:
        "Good: the interval does not reach below 0.667, and α is at least 0.80. Tentative: the interval does not reach below 0.667. With a wider interval, more answers are needed.",
      entry: "krippendorffs-alpha",
      cell: (it) =>
        it.value == null ? "" : <Term about={it.conclusion}>{STRENGTHS[it.strength] ?? it.strength}</Term>,
      wide: true,
    },
    {
      name: "items",
      head: "Items",
      about: "Items that at least two annotators answered. Others say nothing about agreement.",
      entry: "krippendorffs-alpha",
      align: "end",
      cell: (it) => count(it.n_items),
      wide: true,
    },
  ];
  return (
    <AgreementSection
      title="Agreement between annotators"
      about="Krippendorff’s α: 1 is perfect agreement, 0 is chance level. At least 0.80 is good, at least 0.67 allows tentative conclusions, if the interval does not reach lower."
    >
      <div className={styles.bars}>
        <Table
          caption="Agreement for each criterion"
          columns={columns}
          rows={criteria}
          keyOf={(it) => `${it.scheme}/${it.criterion}`}
        />
      </div>
    </AgreementSection>
  );
}

const HIGH = 20;

type AgreementBarProps = { value: number; interval?: Agreed["interval"]; from: number; tone?: string };

/** Drawn from 0 to the value; the thin line is the interval. */
function AgreementBar({ value, interval, from, tone = "plain" }: AgreementBarProps) {
  const x = (it: number) => (100 * (Math.max(from, it) - from)) / (1 - from);
  const [left, right] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
  return (
    <svg className={styles.bar} viewBox={`0 0 100 ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
      {[TENTATIVE, GOOD].map((it) => (
        <line key={it} data-mark x1={x(it)} x2={x(it)} y1={0} y2={HIGH} />
      ))}
      <rect data-tone={tone} x={left} width={right - left} y={HIGH * 0.25} height={HIGH * 0.5} />
      <line data-zero x1={x(0)} x2={x(0)} y1={0} y2={HIGH} />
      {interval && (
        <>
          <line data-whisker x1={x(interval[0])} x2={x(interval[1])} y1={HIGH / 2} y2={HIGH / 2} />
          {interval.map((it, nth) => (
            <line key={nth} data-whisker x1={x(it)} x2={x(it)} y1={HIGH * 0.3} y2={HIGH * 0.7} />
          ))}
        </>
      )}
    </svg>
  );
}

function AgreementAxis({ from }: { from: number }) {
  const ticks = [...(from < 0 ? [from] : []), 0, TENTATIVE, GOOD, 1];
  const isMinor = (it: number) => it !== 0 && it !== 1;
  return (
    <span className={styles.ticks} aria-hidden="true">
      {ticks.map((it) => (
        <span
          key={it}
          data-minor={isMinor(it) || undefined}
          style={{ insetInlineStart: `${(100 * (it - from)) / (1 - from)}%` }}
        >
          {it === 0 || it === 1 ? it : number(it)}
        </span>
      ))}
    </span>
  );
}

/** Every judge on every criterion, and one of them in detail. */
function JudgeAgreementTable({ found }: { found: Agreement }) {
  const [search, set] = useAgreementSearch();
  const at = (it: AgainstJudge) => found.criteria.findIndex((one) => one.criterion === it.criterion);
  const all = found.judge.toSorted((a, b) => at(a) - at(b) || a.judge.localeCompare(b.judge));
  const worst = all.toSorted((a, b) => (a.kappa ?? 2) - (b.kappa ?? 2))[0];
  const selected = all.find((it) => it.judge === search.judge && it.criterion === search.on) ?? worst;
  const columns: Column<AgainstJudge>[] = [
    {
      name: "criterion",
      head: "Criterion",
      cell: (it) => (
        <Button
          look="tool"
          aria-pressed={it === selected}
          onClick={() => set({ judge: it.judge, on: it.criterion, all: undefined, item: undefined })}
        >
          {labelOf(found, it.criterion)}
        </Button>
      ),
    },
    { name: "judge", head: "Judge", cell: (it) => it.judge },
    ...measured("κ", KAPPA, all, (it) => ({ ...it, value: it.kappa })),
    {
      name: "apart",
      head: "Items that differ",
      about: "Items where the judge’s answer differs from that of at least one annotator.",
      entry: "disagreement",
      align: "end",
      cell: (it) => count(it.disagreements.length),
      wide: true,
    },
  ];
  return (
    <AgreementSection
      title="Judge–human agreement"
      about="Cohen’s κ between a judge and the majority of annotators, weighted by distance on numeric scales. Select a row to see the items that differ."
    >
      <div className={styles.judges}>
        <Table
          caption="Judge–human agreement"
          columns={columns}
          rows={all}
          keyOf={(it) => `${it.criterion} ${it.judge}`}
        />
      </div>
      {selected && <JudgeAgreement found={selected} criterion={found.criteria[at(selected)]} />}
    </AgreementSection>
  );
}

/** Disagreements that are shown at first. */
const FIRST = 5;

type JudgeAgreementProps = { found: AgainstJudge; criterion: Agreed | undefined };

function JudgeAgreement({ found, criterion }: JudgeAgreementProps) {
  const [search, set] = useAgreementSearch();
  const { labels, counts } = found.confusion ?? { labels: [], counts: [] };
  const most = Math.max(1, ...counts.flat());
  const title = `${criterion?.label ?? words(found.criterion)}: ${found.judge}`;
  const shown = search.all ? found.disagreements : found.disagreements.slice(0, FIRST);
  const looked = found.disagreements.find((it) => it.item === search.item && it.item !== "");
  return (
    <section className={styles.judge} aria-label={title}>
      <div className={styles.part}>
        <h3>{title}</h3>
        {labels.length > 0 && (
          <ShadedMatrix
            caption={`${title}, confusion matrix`}
            corner="annotators ↓ judge →"
            rows={labels}
            columns={labels}
            cell={(row, column) => {
              const n = counts[row]?.[column] ?? 0;
              return { text: n === 0 ? "·" : count(n), share: n / most, isRight: row === column };
            }}
          />
        )}
        <p className={styles.soft}>
          Rows: majority of annotators. Columns: judge. The diagonal is agreement. Ties have no majority and
          are not counted.
        </p>
      </div>
      <div className={styles.part}>
        <h3>Items where the judge differs from an annotator, largest difference first</h3>
        {shown.length === 0 && <p className={styles.soft}>None.</p>}
        <ol className={styles.apart}>
          {shown.map((it) => (
            <li key={it.item || it.candidate}>
              <p className={styles.title} dir="auto">
                {new Set(it.people).size > 1 && criterion ? (
                  <Link
                    from={HERE}
                    to="/p/$project/annotate/$task/disputes"
                    search={{ item: it.item, row: `${criterion.scheme}/${criterion.criterion}` }}
                  >
                    {it.title}
                  </Link>
                ) : it.item ? (
                  <Link
                    from={HERE}
                    to={HERE}
                    search={(before) => ({ ...before, item: it.item })}
                    resetScroll={false}
                  >
                    {it.title}
                  </Link>
                ) : (
                  it.title
                )}
                {it.title !== it.candidate && <span className={styles.id}> {it.candidate}</span>}
              </p>
              <p className={styles.said}>
                judge <b>{it.judge}</b> people <b>{it.people.join(" ")}</b>
              </p>
              {it.reason && (
                <blockquote className={styles.reason} dir="auto">
                  <CodeText text={it.reason} />
                </blockquote>
              )}
            </li>
          ))}
        </ol>
        {found.disagreements.length > FIRST && (
          <div>
            <Button onClick={() => set({ all: search.all ? undefined : true })}>
              {search.all ? "Show fewer" : `Show all ${count(found.disagreements.length)}`}
            </Button>
          </div>
        )}
      </div>
      {looked && (
        <DisagreementDialog apart={looked} judge={found.judge} onClose={() => set({ item: undefined })} />
      )}
    </section>
  );
}

type DisagreementDialogProps = {
  apart: AgainstJudge["disagreements"][number];
  judge: string;
  onClose: () => void;
};

/** The item on which the judge and annotators differ. */
function DisagreementDialog({ apart, judge, onClose }: DisagreementDialogProps) {
  const project = useProject();
  const [step, setStep] = useState<number>();
  const found = useQuery(answersQuery(project.id, apart.item));
  return (
    <Dialog title={apart.title} onClose={onClose} wide>
      <p className={styles.said}>
        {judge} <b>{apart.judge}</b> people <b>{apart.people.join(" ")}</b>
      </p>
      {apart.reason && (
        <blockquote className={styles.reason} dir="auto">
          <CodeText text={apart.reason} />
        </blockquote>
      )}
      <Loaded query={found} what="the answers">
        {(it) => (
          <div className={styles.seen}>
            <ItemView item={it.item} step={step} onStepChange={setStep} quotes={NO_QUOTES} />
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}

const NO_QUOTES: Quote[] = [];

function AnnotatorPairs({ found }: { found: Agreement }) {
  const [search, set] = useAgreementSearch();
  const asked = new Set(found.pairs.map((it) => it.criterion));
  const criteria = [...new Set([...found.criteria.map((it) => it.criterion), ...asked])].filter((it) =>
    asked.has(it),
  );
  const criterion = criteria.find((it) => it === search.pairs) ?? criteria[0] ?? "";
  const here = found.pairs.filter((it) => it.criterion === criterion);
  const names = [...new Set(here.flatMap((it) => [it.a, it.b]))];
  const cell = (a: string, b: string) =>
    here.find((it) => (it.a === a && it.b === b) || (it.a === b && it.b === a));
  return (
    <AgreementSection
      title="Pairs of annotators"
      about="Cohen’s κ of each pair on the items that both answered, weighted by distance on numeric scales."
    >
      <div className={styles.which}>
        <Select
          label="Criterion"
          value={criterion}
          options={criteria.map((it) => ({ value: it, label: labelOf(found, it) }))}
          onChange={(it) => set({ pairs: it.target.value })}
        />
      </div>
      <ShadedMatrix
        caption={`Agreement of pairs on ${labelOf(found, criterion)}`}
        rows={names}
        columns={names}
        cell={(row, column) => {
          const [a, b] = [names[row] ?? "", names[column] ?? ""];
          if (a === b) return { text: "", share: 0 };
          const it = cell(a, b);
          if (!it) return { text: "–", share: 0, title: "no common items" };
          const title = it.undefined ?? `over ${plural(it.n, "item")}`;
          return { text: number(it.value), share: Math.max(0, it.value ?? 0), title };
        }}
      />
    </AgreementSection>
  );
}

type Cell = { text: ReactNode; share: number; title?: string; isRight?: boolean };
type ShadedMatrixProps = {
  caption: string;
  /** The label of the corner cell. */
  corner?: string;
  rows: string[];
  columns: string[];
  cell: (row: number, column: number) => Cell;
};

/** A matrix of numbers; larger ones are darker. */
function ShadedMatrix({ caption, corner, rows, columns, cell }: ShadedMatrixProps) {
  return (
    <div className={styles.frame} tabIndex={0} role="group" aria-label={caption}>
      <table className={styles.matrix}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <td>{corner}</td>
            {columns.map((it, at) => (
              <th key={at} scope="col">
                {it}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              <th scope="row">{row}</th>
              {columns.map((_, nth) => {
                const it = cell(at, nth);
                return (
                  <td key={nth} title={it.title} data-right={it.isRight || undefined}>
                    <span className={styles.shade} style={{ opacity: it.share }} />
                    <span className={styles.number}>{it.text}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Columns before those of criteria: pace and drift. */
const OWN = 2;

function AnnotatorMatrix({ found, working }: { found: Agreement; working: Person[] }) {
  const names = [...new Set(found.people.map((it) => it.name))];
  const { criteria } = found;
  const slowest = Math.max(1, ...working.map((it) => it.median_seconds ?? 0));
  return (
    <AgreementSection
      title="Annotators"
      about="Median time per item; mean rating in the first and second half of the work (drift); and α without this annotator. If α is higher without an annotator, this annotator deviates from the others."
    >
      <ShadedMatrix
        caption="Pace, drift and α without each annotator"
        corner="left out"
        rows={["none", ...names]}
        columns={["pace", "drift", ...criteria.map((it) => `α ${it.label}`)]}
        cell={(row, column) => {
          const person = working.find((it) => it.name === names[row - 1]);
          if (column < OWN) {
            const text =
              person &&
              (column === 0 ? (
                <AnnotatorPace person={person} slowest={slowest} />
              ) : (
                <AnnotatorDrift person={person} />
              ));
            return { text: text ?? "", share: 0 };
          }
          const all = criteria[column - OWN];
          if (row === 0) return { text: number(all?.value), share: 0, isRight: true };
          const it = found.people.find(
            (one) => one.name === names[row - 1] && one.criterion === all?.criterion,
          );
          const gain = Math.max(0, (it?.leave_out ?? 0) - (all?.value ?? 0));
          return {
            text: number(it?.leave_out),
            share: it?.leave_out == null ? 0 : Math.min(1, 4 * gain),
            title: it?.undefined ?? undefined,
          };
        }}
      />
    </AgreementSection>
  );
}
