import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useProject } from "../api/session";
import { Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { count, plural } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import styles from "./AgreementPage.module.css";
import { agreement } from "./doors";
import { words } from "./rules";
import { TaskFrame } from "./TaskFrame";
import type { AgainstJudge, Agreed, Agreement, TaskInFull } from "./types";

/** How far people agree with each other, and judges with people. */
export function AgreementPage() {
  return <TaskFrame>{(task) => <Found task={task} />}</TaskFrame>;
}

function Found({ task }: { task: TaskInFull }) {
  const project = useProject();
  const found = useQuery({
    queryKey: ["agreement", project.id, task.id],
    queryFn: () => agreement(project.id, task.id),
    select: (it) => ({
      ...it,
      criteria: it.criteria.toSorted((a, b) => placeOf(task, a) - placeOf(task, b)),
    }),
  });
  return (
    <Loaded query={found} what="how far people agree">
      {(it) =>
        it.criteria.length === 0 ? (
          <State title="Nothing to compare yet">
            <p>Two people have to answer the same item first.</p>
          </State>
        ) : (
          <div className={styles.parts}>
            <Criteria criteria={it.criteria} />
            {it.pairs.length > 0 && <Pairs found={it} />}
            {it.people.length > 0 && <People found={it} />}
            {it.judge.map((one) => (
              <Judge key={`${one.criterion} ${one.judge}`} found={one} label={labelOf(it, one.criterion)} />
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

/** Where a criterion stands among the questions of its task. */
function placeOf(task: TaskInFull, { scheme: name, criterion }: Agreed): number {
  const at = task.schemes.findIndex((it) => it.name === name);
  const scheme = task.schemes[at];
  const rows = scheme?.kind === "rubric" ? scheme.criteria.map((it) => it.name) : [];
  // What is no criterion, such as the whole, stands after them.
  return at * 1000 + (rows.includes(criterion) ? rows.indexOf(criterion) : rows.length);
}

const labelOf = (found: Agreement, criterion: string): string =>
  found.criteria.find((it) => it.criterion === criterion)?.label ?? words(criterion);

function Part({ title, about, children }: { title: string; about: ReactNode; children: ReactNode }) {
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

/** What Krippendorff calls reliable, and the least that still allows tentative conclusions. */
const [RELIABLE, TENTATIVE] = [0.8, 0.667];

function verdict(it: number | null | undefined): string {
  if (it == null) return "";
  return it >= RELIABLE ? "reliable" : it >= TENTATIVE ? "tentative" : "not reliable";
}

function Criteria({ criteria }: { criteria: Agreed[] }) {
  const lowest = Math.min(0, ...criteria.flatMap((it) => [it.value ?? 0, it.interval?.[0] ?? 0]));
  // To the next tenth, so that the least of them still has room.
  const from = Math.max(-1, Math.floor(lowest * 10) / 10);
  const columns: Column<Agreed>[] = [
    { name: "label", head: "Criterion", cell: (it) => it.label },
    {
      name: "bar",
      head: <Ticks from={from} />,
      cell: (it) =>
        it.value == null ? (
          <span className={styles.soft}>{it.undefined ?? "too few answers"}</span>
        ) : (
          <Bar value={it.value} interval={it.interval} from={from} />
        ),
    },
    { name: "alpha", head: "α", align: "end", cell: (it) => <b>{number(it.value)}</b> },
    {
      name: "interval",
      head: "95 % interval",
      align: "end",
      cell: (it) => interval(it.interval),
      wide: true,
    },
    { name: "verdict", head: "", cell: (it) => verdict(it.value), wide: true },
    { name: "items", head: "Items", align: "end", cell: (it) => count(it.n_items), wide: true },
    { name: "pairs", head: "Pairs", align: "end", cell: (it) => count(it.n_pairs), wide: true },
  ];
  return (
    <Part
      title="Among people"
      about="Krippendorff’s α: 1 is perfect agreement, 0 what chance would give. From 0.80 on conclusions can be relied on, from 0.67 on tentatively."
    >
      <div className={styles.bars}>
        <Table
          caption="Agreement for each criterion"
          columns={columns}
          rows={criteria}
          keyOf={(it) => `${it.scheme}/${it.criterion}`}
        />
      </div>
    </Part>
  );
}

const HIGH = 20;

/** Drawn from 0 to the value; the thin line is the interval. Numbers stand beside it. */
function Bar({ value, interval, from }: { value: number; interval?: Agreed["interval"]; from: number }) {
  const x = (it: number) => (100 * (Math.max(from, it) - from)) / (1 - from);
  const [left, right] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
  return (
    <svg className={styles.bar} viewBox={`0 0 100 ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
      {[TENTATIVE, RELIABLE].map((it) => (
        <line key={it} data-mark x1={x(it)} x2={x(it)} y1={0} y2={HIGH} />
      ))}
      <rect data-verdict={verdict(value)} x={left} width={right - left} y={HIGH * 0.25} height={HIGH * 0.5} />
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

function Ticks({ from }: { from: number }) {
  const ticks = [...(from < 0 ? [from] : []), 0, TENTATIVE, RELIABLE, 1];
  const isMinor = (it: number) => it === TENTATIVE || it < 0;
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

function Pairs({ found }: { found: Agreement }) {
  const asked = new Set(found.pairs.map((it) => it.criterion));
  const criteria = [...new Set([...found.criteria.map((it) => it.criterion), ...asked])].filter((it) =>
    asked.has(it),
  );
  const [criterion, setCriterion] = useState(criteria[0] ?? "");
  const here = found.pairs.filter((it) => it.criterion === criterion);
  const people = [...new Set(here.flatMap((it) => [it.a, it.b]))];
  const cell = (a: string, b: string) =>
    here.find((it) => (it.a === a && it.b === b) || (it.a === b && it.b === a));
  return (
    <Part
      title="Pairs of people"
      about="Who agrees with whom, on what both answered: κ, weighted by distance where the scale is numbers."
    >
      <div className={styles.which}>
        <Select
          label="Criterion"
          value={criterion}
          options={criteria.map((it) => ({ value: it, label: labelOf(found, it) }))}
          onChange={(it) => setCriterion(it.target.value)}
        />
      </div>
      <Matrix
        caption={`Agreement of pairs on ${labelOf(found, criterion)}`}
        rows={people}
        columns={people}
        cell={(row, column) => {
          const [a, b] = [people[row] ?? "", people[column] ?? ""];
          if (a === b) return { text: "", share: 0 };
          const it = cell(a, b);
          if (!it) return { text: "–", share: 0, title: "no item in common" };
          const title = it.undefined ?? `over ${plural(it.n, "item")}`;
          return { text: number(it.value), share: Math.max(0, it.value ?? 0), title };
        }}
      />
    </Part>
  );
}

type Cell = { text: string; share: number; title?: string; isRight?: boolean };
type MatrixProps = {
  caption: string;
  /** What rows and columns are, above the first. */
  corner?: string;
  rows: string[];
  columns: string[];
  cell: (row: number, column: number) => Cell;
};

/** Numbers in a square, the larger the darker. */
function Matrix({ caption, corner, rows, columns, cell }: MatrixProps) {
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

function People({ found }: { found: Agreement }) {
  const names = [...new Set(found.people.map((it) => it.name))];
  const { criteria } = found;
  return (
    <Part
      title="Without each person"
      about="What α would be without somebody. Where it rises, they differ from the others more than those do among themselves."
    >
      <Matrix
        caption="α without each person"
        rows={["everybody", ...names]}
        columns={criteria.map((it) => it.label)}
        cell={(row, column) => {
          const all = criteria[column];
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
    </Part>
  );
}

function Judge({ found, label }: { found: AgainstJudge; label: string }) {
  const { labels, counts } = found.confusion ?? { labels: [], counts: [] };
  const most = Math.max(1, ...counts.flat());
  const columns: Column<AgainstJudge["disagreements"][number]>[] = [
    { name: "item", head: "Item", cell: (it) => it.candidate || it.item },
    { name: "judge", head: "Judge", cell: (it) => it.judge },
    { name: "people", head: "People", cell: (it) => it.people.join(", ") },
    { name: "reason", head: "What the judge said", cell: (it) => it.reason ?? "–", wide: true },
  ];
  return (
    <Part
      title={`${label}: ${found.judge} against people`}
      about={
        found.kappa == null ? (
          (found.undefined ?? "Too few items have both.")
        ) : (
          <>
            κ <b>{number(found.kappa)}</b>
            {found.interval && <> ({interval(found.interval)})</>}. Rows are what most people say, columns
            what the judge says.
          </>
        )
      }
    >
      {labels.length > 0 && (
        <Matrix
          caption={`${found.judge} against people on ${label}`}
          corner="people ↓ judge →"
          rows={labels}
          columns={labels}
          cell={(row, column) => {
            const n = counts[row]?.[column] ?? 0;
            return { text: n === 0 ? "·" : count(n), share: n / most, isRight: row === column };
          }}
        />
      )}
      {found.disagreements.length > 0 && (
        <>
          <h3>Where they differ, the furthest apart first</h3>
          <Table
            caption="Disagreements"
            columns={columns}
            rows={found.disagreements}
            keyOf={(it) => it.item}
          />
        </>
      )}
    </Part>
  );
}
