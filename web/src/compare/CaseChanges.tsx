import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { type ScaleEnds, scaleText } from "../chart/figures";
import { ScaledScore } from "../chart/ScaledScore";
import { declaredScalesOf } from "../rubrics/scales";
import { CaseName, nameWithParts, tagName } from "../runs/CaseName";
import { runQuery } from "../runs/queries";
import { Badge, StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { CodeText } from "../ui/CodeText";
import { Field } from "../ui/Field";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { Tabs } from "../ui/Tabs";
import styles from "./CaseChanges.module.css";
import { type CaseChange, type ChangeFilter, changesQuery } from "./queries";

type Counts = Schemas["ChangeCountsView"];

const VIEWS: { name: ChangeFilter; label: string; countOf: (counts: Counts) => number; none: string }[] = [
  { name: "verdict", label: "Verdict changed", countOf: (it) => it.verdict, none: "No verdict changed." },
  { name: "worse", label: "Got worse", countOf: (it) => it.worse, none: "No case got worse." },
  { name: "better", label: "Got better", countOf: (it) => it.better, none: "No case got better." },
  {
    name: "different-answer",
    label: "Different answer, same verdict",
    countOf: (it) => it.different_answer,
    none: "No case has a different answer with the same verdict.",
  },
  {
    name: "undecided",
    label: "Undecided",
    countOf: (it) => it.undecided,
    none: "Every case has a verdict in both runs.",
  },
  { name: "all", label: "All", countOf: (it) => it.all, none: "The runs have no case in common." },
];

/** Cases of two runs side by side: answers with a word diff, and reasons and evidence of graders. */
export function CaseChanges({ before, after }: { before: string; after: string }) {
  const project = useProject();
  const { show = "verdict", find } = useSearch({ from: "/p/$project/compare" });
  const navigate = useNavigate({ from: "/p/$project/compare" });
  const changes = useInfiniteQuery(changesQuery(project.id, { before, after, filter: show, find }));
  const go = (to: { show?: ChangeFilter; find?: string }) =>
    navigate({ search: (old) => ({ ...old, ...to }), replace: true, resetScroll: false });
  const counts = changes.data?.pages[0]?.counts;
  const view = VIEWS.find((it) => it.name === show);
  const scales = { before: useRunScales(before), after: useRunScales(after) };
  return (
    <section className={styles.changes} aria-label="Cases side by side">
      <h3>Cases side by side</h3>
      <Field
        label="Find a case"
        type="search"
        defaultValue={find ?? ""}
        placeholder="part of a name"
        onChange={(event) => go({ find: event.target.value || undefined })}
      />
      <Tabs
        label="Which cases"
        selected={show}
        onSelect={(name) => go({ show: name })}
        tabs={VIEWS.map(({ name, label, countOf }) => ({
          name,
          label: counts ? `${label} (${count(countOf(counts))})` : label,
        }))}
      >
        <Loaded query={changes} what="the cases">
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0)
              return <p>{find ? "No case name contains this text." : (view?.none ?? "")}</p>;
            return (
              <>
                <p className={styles.soft} role="status">
                  {items.length} of {plural(pages[0]?.n_found ?? items.length, unitOf(items))}
                </p>
                {items.map((change) => (
                  <CaseChangeCard key={change.case} change={change} run={after} scales={scales} />
                ))}
                <MoreButton query={changes} />
              </>
            );
          }}
        </Loaded>
      </Tabs>
    </section>
  );
}

/** The scales of a run: of the overall score, which all its rubrics share, and of each criterion. */
export type RunScales = { overall?: ScaleEnds | null; criteria: Map<string, ScaleEnds> };
const NO_SCALES: RunScales = { criteria: new Map() };

/** The scales of a run, once it is loaded. */
export function useRunScales(run: string): RunScales {
  const project = useProject();
  const { data } = useQuery(runQuery(project.id, run));
  return useMemo(
    () => (data ? { overall: data.scale, criteria: declaredScalesOf(data.rubrics) } : NO_SCALES),
    [data],
  );
}

/** The score of a case in each of two runs, on the scale of each, where it has one, and from 0 to 1. */
export function ScoreChange({ before, after, scales }: ScoreChangeProps) {
  return (
    <>
      <ScaledScore mean={before} scale={scales.before.overall} isMinor digits={2} /> →{" "}
      <ScaledScore mean={after} scale={scales.after.overall} isMinor digits={2} />
    </>
  );
}

type ScoreChangeProps = {
  before: number | null | undefined;
  after: number | null | undefined;
  scales: PairScales;
};

/** Trials of a case are listed one by one. */
const unitOf = (items: CaseChange[]): string =>
  items.some((change) => change.parts?.trial != null) ? "trial" : "case";

/** The scales of each of two runs, whose rubrics may differ. */
export type PairScales = { before: RunScales; after: RunScales };
type CaseChangeCardProps = { change: CaseChange; run: string; scales: PairScales };

function CaseChangeCard({ change, run, scales }: CaseChangeCardProps) {
  const project = useProject();
  const { before, after } = change;
  return (
    <article className={styles.card} aria-label={change.case}>
      <header className={styles.head}>
        <h4>
          <Link
            to="/p/$project/runs/$run"
            params={{ project: project.name, run }}
            search={{ find: change.case }}
          >
            <CaseName {...tagName(nameWithParts(change.case, change.parts))} />
          </Link>
        </h4>
        <span className={styles.verdicts}>
          <StatusBadge status={before.status} />
          {before.status !== after.status && (
            <>
              {" "}
              → <StatusBadge status={after.status} />
            </>
          )}
          <span className={styles.scores}>
            <ScoreChange before={before.score} after={after.score} scales={scales} />
          </span>
          {change.rubric_changed && <Badge>rubric changed</Badge>}
        </span>
      </header>
      <AnswerChange change={change} />
      <CriterionChanges criteria={change.criteria} scales={scales} />
    </article>
  );
}

type WordRun = Schemas["WordRunView"];

function AnswerChange({ change }: { change: CaseChange }) {
  const { before, after, answer_diff: diff } = change;
  if (before.answer == null && after.answer == null)
    return <p className={styles.soft}>The answers are not stored in the runs.</p>;
  if (before.answer != null && after.answer != null && !change.answer_changed) {
    return (
      <div className={styles.answer}>
        <h5>Same answer in both runs</h5>
        <AnswerText words={[{ change: "same", text: after.answer }]} />
      </div>
    );
  }
  const whole = (text: string): WordRun[] => [{ change: "same", text }];
  const without = (kind: string) => diff.filter((run) => run.change !== kind);
  return (
    <div className={styles.answers}>
      <div className={styles.answer}>
        <h5>Answer before</h5>
        {before.answer == null ? (
          <p className={styles.soft}>The earlier run has no answer.</p>
        ) : (
          <AnswerText words={diff.length > 0 ? without("added") : whole(before.answer)} />
        )}
      </div>
      <div className={styles.answer}>
        <h5>Answer after</h5>
        {after.answer == null ? (
          <p className={styles.soft}>The later run has no answer.</p>
        ) : (
          <AnswerText words={diff.length > 0 ? without("removed") : whole(after.answer)} />
        )}
      </div>
    </div>
  );
}

/** Letters of an unchanged stretch that are shown around a change, and those of an answer without one. */
const [AROUND, LONGEST] = [160, 600];

/** An answer in which changed words are marked; long unchanged stretches are cut until somebody opens them. */
function AnswerText({ words }: { words: WordRun[] }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = words.reduce((sum, run) => sum + run.text.length, 0) > LONGEST;
  const shorten = (run: WordRun, at: number): string => {
    const room = words.length === 1 ? LONGEST : AROUND;
    if (isOpen || !isLong || run.change !== "same" || run.text.length <= 2 * room) return run.text;
    // Cut between words, as far as there are any.
    const start = at === 0 && words.length > 1 ? "" : run.text.slice(0, room).replace(/\s\S{0,40}$/, "");
    const end = at === words.length - 1 ? "" : run.text.slice(-room).replace(/^\S{0,40}\s/, "");
    return `${start} … ${end}`.trimStart();
  };
  const draw = (run: WordRun, at: number): ReactNode => {
    const text = shorten(run, at);
    if (run.change === "removed") return <del key={at}>{text}</del>;
    if (run.change === "added") return <ins key={at}>{text}</ins>;
    return <span key={at}>{text}</span>;
  };
  const isCut = isLong && words.some((run, at) => shorten(run, at) !== run.text);
  return (
    <>
      <div className={styles.text}>{words.map(draw)}</div>
      {(isCut || isOpen) && (
        <Button look="quiet" onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all of it"}
        </Button>
      )}
    </>
  );
}

type Criterion = Schemas["CriterionChangeView"];
type Answer = Schemas["CriterionAnswerView"];

const isSame = ({ before, after }: Criterion): boolean => JSON.stringify(before) === JSON.stringify(after);

type CriterionChangesProps = { criteria: Criterion[]; scales: PairScales };

export function CriterionChanges({ criteria, scales }: CriterionChangesProps) {
  const changed = criteria.filter((criterion) => !isSame(criterion));
  const same = criteria.filter(isSame);
  return (
    <>
      {changed.length > 0 && (
        <CriterionChangeTable caption="Criteria that changed" criteria={changed} scales={scales} />
      )}
      {same.length > 0 && (
        <details className={styles.same}>
          <summary>
            {changed.length === 0
              ? "All grades are the same"
              : `Same grades for ${plural(same.length, "criterion", "criteria")}`}
          </summary>
          <CriterionChangeTable
            caption="Criteria with the same grades"
            criteria={same}
            scales={scales}
            isSame
          />
        </details>
      )}
    </>
  );
}

type CriterionChangeTableProps = CriterionChangesProps & { caption: string; isSame?: boolean };

function CriterionChangeTable({ caption, criteria, scales, isSame }: CriterionChangeTableProps) {
  return (
    <table className={styles.criteria}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Criterion</th>
          <th scope="col">{isSame ? "Before and after" : "Before"}</th>
          {!isSame && <th scope="col">After</th>}
        </tr>
      </thead>
      <tbody>
        {criteria.map(({ criterion, before, after }) => (
          <tr key={criterion}>
            <th scope="row">{criterion}</th>
            {!isSame && (
              <td data-side="Before">
                <GraderAnswers answers={before} scale={scales.before.criteria.get(criterion)} />
              </td>
            )}
            <td data-side={isSame ? undefined : "After"}>
              <GraderAnswers answers={after} scale={scales.after.criteria.get(criterion)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type GraderAnswersProps = { answers: Answer[]; scale: ScaleEnds | undefined };

/** The server writes an answer as `2 (0.25)`: a number on the scale of the criterion, and the same from 0 to 1. */
const addScale = (answer: string, scale: ScaleEnds | undefined): string =>
  scale ? answer.replace(/^-?\d+(?:\.\d+)?(?= \(\d\.\d\d\))/, `$& ${scaleText(scale)}`) : answer;

function GraderAnswers({ answers, scale }: GraderAnswersProps) {
  if (answers.length === 0) return <span className={styles.soft}>not asked</span>;
  return answers.map((answer, at) => (
    <div key={at} className={styles.said}>
      <p>
        <b>{addScale(answer.answer, scale)}</b> <span className={styles.soft}>by {answer.grader}</span>
      </p>
      {answer.reason && (
        <p>
          <CodeText text={answer.reason} />
        </p>
      )}
      {answer.evidence.length > 0 && (
        <ul className={styles.evidence}>
          {answer.evidence.map((quote, nth) => (
            <li key={nth}>{quote}</li>
          ))}
        </ul>
      )}
    </div>
  ));
}
