import { useLayoutEffect, useRef, useState } from "react";
import type { Contract, Schemas } from "../api/client";
import { type ScaleEnds, scaleText } from "../chart/figures";
import { GradeFlags } from "../grades/GradeFlags";
import { CriterionWeight, FailedGates, ScoreBreakdown } from "../grades/ScoreBreakdown";
import type { Said } from "../grades/weightedTotal";
import { useMoney } from "../money/useMoney";
import { type Canonical, criteriaOf } from "../rubrics/canonical";
import { criterionScaleOf, ownScoreOf } from "../rubrics/scales";
import { Code } from "../traces/view/Code";
import { markQuotes, type Quote } from "../traces/view/highlights";
import { TraceView } from "../traces/view/TraceView";
import { Badge, StatusBadge } from "../ui/Badge";
import { CodeText } from "../ui/CodeText";
import { plural, score } from "../ui/format";
import { CaseLabels } from "./CaseLabels";
import { CaseName, tagName } from "./CaseName";
import { RerunCase } from "./RerunCase";
import styles from "./Scorecard.module.css";
import { questionsOfPath } from "./treePath";

type CaseResult = Contract["CaseResult"];
type Grade = Contract["Grade"];
type Evidence = Contract["Evidence"];

type ScorecardProps = { run: Schemas["RunInFull"]; place: number; result: unknown };

/** All grades of one case, labels of people, and the material that was graded. */
export function Scorecard({ run, place, result }: ScorecardProps) {
  const it = result as CaseResult;
  const rubric = run.rubrics[it.rubric] as Canonical | undefined;
  const criteria = criteriaOf(rubric);
  const [quote, setQuote] = useState<Quote | null>(null);
  const { verdict } = it;
  const path = verdict.path ?? [];
  const texts = questionsOfPath(rubric, path);
  const questions = new Map(path.map(({ node }, at) => [node, texts[at]]));
  const money = useMoney();
  return (
    <article className={styles.card}>
      <header className={styles.head}>
        <h2>
          <CaseName {...tagName(it)} />
        </h2>
        <div className={styles.verdict}>
          <StatusBadge status={verdict.status} />
          <VerdictScore rubric={rubric} verdict={verdict} grades={it.grades} />
          {verdict.vacuous && <Badge>no criterion applied</Badge>}
          {it.spend.cost != null && <span className={styles.spend}>{money(it.spend.cost)}</span>}
          <RerunCase run={run} result={it} />
        </div>
      </header>
      <CaseLabels run={run.id} place={place} />
      <FailedGates failed={verdict.failed_gates} undecided={verdict.undecided_gates} />
      {rubric && (
        <ScoreBreakdown
          rubric={rubric}
          verdict={verdict}
          saidOf={(criterion) => saidOf(it.grades, criterion)}
        />
      )}
      {path.length > 0 && <TreePath questions={texts} path={path} />}
      <ul className={styles.grades}>
        {it.grades.map((grade, at) => (
          <GradeRow
            key={at}
            grade={grade}
            name={questions.get(grade.criterion) ?? grade.criterion}
            criterion={criteria.get(grade.criterion)}
            onQuote={setQuote}
          />
        ))}
      </ul>
      <MaterialView material={it.material} grades={it.grades} quote={quote} />
    </article>
  );
}

type VerdictScoreProps = { rubric: Canonical | undefined; verdict: Contract["Verdict"]; grades: Grade[] };

/** The score as the author of the rubric wants to see it, and from 0 to 1 beside it. */
export function VerdictScore({ rubric, verdict, grades }: VerdictScoreProps) {
  const answers = grades.flatMap(({ criterion, outcome }) =>
    outcome.kind === "scored" && outcome.unit != null
      ? [{ criterion, value: outcome.value, unit: outcome.unit }]
      : [],
  );
  const own = rubric && ownScoreOf(rubric, verdict, answers);
  if (own === undefined) return <b>{score(verdict.score)}</b>;
  return (
    <>
      <b>{own}</b> <span className={styles.muted}>{score(verdict.score)}</span>
    </>
  );
}

const saidOf = (grades: Grade[], criterion: string): Said[] =>
  grades.flatMap(({ criterion: name, grader, outcome }) =>
    name === criterion && outcome.kind === "scored" && outcome.unit != null
      ? [{ grader: grader.name, unit: outcome.unit }]
      : [],
  );

type TreePathProps = { questions: string[]; path: Contract["TreePathStep"][] };

function TreePath({ questions, path }: TreePathProps) {
  return (
    <ol className={styles.path} aria-label="Path through the decision tree">
      {path.map((it, at) => (
        <li key={at}>
          <span className={styles.node} title={it.node}>
            {questions[at]}
          </span>{" "}
          <b>{it.answer}</b>
          {it.score != null && <> → {score(it.score)}</>}
          {it.reason && (
            <span className={styles.muted}>
              {" "}
              <CodeText text={it.reason} />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

type GradeRowProps = {
  grade: Grade;
  /** The criterion, or the question of a decision tree. */
  name: string;
  criterion?: Canonical;
  onQuote: (quote: Quote) => void;
};

/** One grade: criterion, answer, grader, reason and evidence. */
function GradeRow({ grade, name, criterion, onQuote }: GradeRowProps) {
  const { outcome } = grade;
  const unit = outcome.kind === "scored" ? (outcome.unit ?? null) : null;
  return (
    <li className={styles.grade} data-outcome={outcome.kind}>
      <div className={styles.what}>
        <h3>{name}</h3>
        {typeof criterion?.description === "string" && (
          <p className={styles.muted}>{criterion.description}</p>
        )}
        <CriterionWeight criterion={criterion} />
      </div>
      <div className={styles.answer}>
        <GradeAnswer outcome={outcome} scale={criterionScaleOf(criterion)} />
        {unit !== null && (
          <meter className={styles.meter} min={0} max={1} value={unit} aria-label="Score on 0 to 1" />
        )}
      </div>
      <div className={styles.why}>
        <GradeFlags flags={grade.flags} />
        {grade.reason && (
          <p className={styles.reason}>
            <CodeText text={grade.reason} />
          </p>
        )}
        {grade.points?.map((it, at) => (
          <p key={at} className={styles.point}>
            {it.holds ? "✓" : "✕"} {it.text}
          </p>
        ))}
        {grade.evidence?.map((it, at) => (
          <EvidenceQuote key={at} evidence={it} onQuote={onQuote} />
        ))}
        <p className={styles.by}>
          {grade.grader.kind} <b>{grade.grader.name}</b>
          {grade.spend?.from_cache && " · cached"}
          {grade.attempts &&
            grade.attempts.length > 0 &&
            ` · after ${plural(grade.attempts.length, "failed attempt")}`}
        </p>
      </div>
    </li>
  );
}

type GradeAnswerProps = { outcome: Contract["Outcome"]; scale: ScaleEnds | undefined };

/** The answer on the scale of its criterion, and from 0 to 1 beside it. */
export function GradeAnswer({ outcome, scale }: GradeAnswerProps) {
  switch (outcome.kind) {
    case "scored":
      if (!scale || typeof outcome.value !== "number")
        return <b className={styles.value}>{said(outcome.value)}</b>;
      return (
        <span>
          <b className={styles.value}>
            {said(outcome.value)} {scaleText(scale)}
          </b>{" "}
          <span className={styles.muted}>{score(outcome.unit)}</span>
        </span>
      );
    case "not_applicable":
      return <Badge>not applicable</Badge>;
    case "abstained":
      return <Badge tone="deferred">undecided</Badge>;
    case "failed":
      return (
        <>
          <Badge tone="error">! {outcome.failure.replaceAll("_", " ")}</Badge>
          {outcome.detail && (
            <p className={styles.muted}>
              <CodeText text={outcome.detail} />
            </p>
          )}
        </>
      );
    case "deferred":
      return <Badge tone="deferred">– {outcome.why.replaceAll("_", " ")}</Badge>;
  }
}

function said(value: unknown): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  return typeof value === "number" ? String(Math.round(value * 1000) / 1000) : String(value);
}

function EvidenceQuote({ evidence, onQuote }: { evidence: Evidence; onQuote: (quote: Quote) => void }) {
  const { found, quote } = evidence;
  if (!found) {
    return (
      <p className={styles.lost}>
        “{quote}” <Badge tone="error">quote not found</Badge>
      </p>
    );
  }
  const show = () => onQuote({ part: found.in, quote, start: found.start, end: found.end });
  return (
    <button type="button" className={styles.quote} title={`Show it in ${found.in}`} onClick={show}>
      {quote}
    </button>
  );
}

type MaterialViewProps = { material: CaseResult["material"]; grades: Grade[]; quote: Quote | null };

/** The material that was graded, with the quotes of graders marked in it. */
function MaterialView({ material, grades, quote }: MaterialViewProps) {
  const root = useRef<HTMLDivElement>(null);
  const [step, setStep] = useState<number>();
  const quotes = grades.flatMap((grade) =>
    (grade.evidence ?? []).flatMap(({ found, quote }) =>
      found ? [{ part: found.in, quote, start: found.start, end: found.end }] : [],
    ),
  );
  useLayoutEffect(() => {
    if (root.current && !material?.trace) markQuotes(root.current, quotes);
  });
  useLayoutEffect(() => {
    if (!quote?.part) return;
    const at = Number(/^trace\.(\d+)\./.exec(quote.part)?.[1]);
    if (at) setStep(at);
    else {
      const region = root.current?.querySelector(`[data-part="${CSS.escape(quote.part)}"]`);
      region?.scrollIntoView({ block: "center", behavior: "smooth" });
    }
  }, [quote]);
  if (!material) return null;
  const blocks: [string, string | null | undefined, string?][] = [
    ["Task", material.task],
    ...(material.context ?? []).map((it): [string, string] => ["Context", it]),
    ["Response", material.response, "response"],
    ["Reference", material.reference],
  ];
  return (
    <div ref={root} className={styles.material}>
      {blocks.map(
        ([title, text, part], at) =>
          text && (
            <section key={at} data-part-of={part}>
              <h3>{title}</h3>
              <p dir="auto" data-text data-part={part}>
                {text}
              </p>
            </section>
          ),
      )}
      {material.diff && (
        <section>
          <h3>Diff</h3>
          <Code text={material.diff} part="diff" />
        </section>
      )}
      {material.trace && (
        <div className={styles.trace}>
          <TraceView trace={material.trace} step={step} onStepChange={setStep} quotes={quotes} />
        </div>
      )}
    </div>
  );
}
