import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { distanceText, percent, type ScaleEnds, scaleText } from "../chart/figures";
import type { Decision } from "../monitors/queries";
import { StateBadge } from "../monitors/StateBadge";
import { describeState, strataWords } from "../monitors/traceStates";
import { type Canonical, criteriaOf } from "../rubrics/canonical";
import { rubricsQuery, versionQuery } from "../rubrics/queries";
import { criterionScaleOf } from "../rubrics/scales";
import { VersionScore } from "../rubrics/VersionScore";
import { useVersionName } from "../rubrics/versions";
import type { Trace } from "../traces/view/traceParts";
import { Badge, type Status, StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { CodeText } from "../ui/CodeText";
import { score } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { LoadingNotice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { DecisionPath, stationsOf } from "./DecisionPath";
import { GradeFlags } from "./GradeFlags";
import {
  type Evidence,
  type GradeSaid,
  type Grid,
  gradesIn,
  gridsOf,
  type Placed,
  placed,
  spreadOf,
  type Verdict,
} from "./gradeTable";
import { gradesQuery, traceDecisionsQuery, verdictsQuery } from "./queries";
import { CriterionWeight, FailedGates, ScoreBreakdown } from "./ScoreBreakdown";
import styles from "./TraceGrades.module.css";
import type { Said as OfGrader } from "./weightedTotal";

type TraceGradesProps = {
  trace: string;
  /** When the trace finished; null while it is open. */
  finished: string | null | undefined;
  /** The reader still has to annotate it. */
  isWithheld: boolean;
  /** Its steps, when they are loaded. */
  content: Trace | undefined;
  onQuote: (quote: Placed) => void;
  onExchanges: () => void;
};

/** Decisions of monitors about a trace, and its grades. */
export function TraceGrades({
  trace,
  finished,
  isWithheld,
  content,
  onQuote,
  onExchanges,
}: TraceGradesProps) {
  const project = useProject();
  const decisions = useQuery(traceDecisionsQuery(project.id, trace));
  const grades = useQuery(gradesQuery(project.id, trace));
  const verdicts = useQuery(verdictsQuery(project.id, trace));
  const isAsked =
    !isWithheld &&
    (decisions.data?.some((it) => /^(scored|judge_error)$/.test(it.state)) ||
      grades.data?.some((it) => it.grader_kind === "judge"));
  return (
    <div
      className={styles.graded}
      // Also while data loads: most traces have grades, and the layout does not jump then.
      data-graded={decisions.isPending || decisions.data?.length || grades.data?.length ? true : undefined}
    >
      <section className={styles.part} aria-label="Decisions of monitors">
        <div className={styles.head}>
          <h2>Decisions of monitors</h2>
          {isAsked && (
            <Button look="quiet" onClick={onExchanges}>
              Judge requests
            </Button>
          )}
        </div>
        <Loaded query={decisions} what="decisions of monitors">
          {(all) =>
            all.length === 0 ? (
              <NoMonitorNote isFinished={finished != null} />
            ) : (
              <MonitorDecisions all={all} finished={finished} verdicts={verdicts.data?.items ?? []} />
            )
          }
        </Loaded>
        {isWithheld && <WithheldNote />}
      </section>
      <Loaded query={grades} what="grades">
        {(all) =>
          all.length === 0 ? null : (
            <section className={styles.part} aria-label="Grades">
              <h2>Grades by grader</h2>
              {gridsOf(all).map((it) => (
                <GradeTable
                  key={it.version}
                  grid={it}
                  verdict={verdicts.data?.items.find((one) => one.rubric_version === it.version)}
                  content={content}
                  onQuote={onQuote}
                />
              ))}
            </section>
          )
        }
      </Loaded>
    </div>
  );
}

function WithheldNote() {
  const project = useProject();
  return (
    <p className={styles.withheld} role="note">
      <b>You have not annotated this trace yet.</b> Grades by judges and other people are hidden until then,
      so that they do not influence you.{" "}
      <Link to="/p/$project/annotate" params={{ project: project.name }}>
        Annotate
      </Link>
    </p>
  );
}

function NoMonitorNote({ isFinished }: { isFinished: boolean }) {
  const project = useProject();
  return (
    <p className={styles.soft}>
      {isFinished
        ? "No monitor covered this agent when the trace finished. "
        : "The trace is not finished. Monitors decide about it when it finishes. "}
      <Link to="/p/$project/monitors" params={{ project: project.name }}>
        Monitors
      </Link>
    </p>
  );
}

type MonitorDecisionsProps = { all: Decision[]; finished: string | null | undefined; verdicts: Verdict[] };

function MonitorDecisions({ all, finished, verdicts }: MonitorDecisionsProps) {
  const project = useProject();
  return (
    <ul className={styles.decisions}>
      {all.map((it) => {
        const name = it.monitor_name ?? it.monitor;
        const verdict = verdicts.find((one) => one.monitor === it.monitor);
        const note = it.history?.at(-1)?.note;
        return (
          <li key={it.monitor}>
            <div className={styles.line}>
              <Link to="/p/$project/monitors/$monitor" params={{ project: project.name, monitor: name }}>
                {name}
              </Link>
              <StateBadge state={it.state} />
              {it.is_disputed && (
                <Badge tone="fail">judges disagree by {distanceText(it.spread ?? 0, it.spread_scale)}</Badge>
              )}
            </div>
            <DecisionPath label={`Decision of ${name}`} stations={stationsOf(it, finished, verdict)} />
            <p className={styles.why}>
              <CodeText text={it.reason} />
              {note && note !== it.reason && (
                <>
                  ; <CodeText text={note} />
                </>
              )}
            </p>
            <p className={styles.soft}>
              {describeState(it.state).means} Sampling probability {percent(it.probability)} (
              {strataWords[it.stratum] ?? it.stratum})
              {it.upstream < 1 && `; the sender keeps ${percent(it.upstream)} of its traces`}.
            </p>
          </li>
        );
      })}
    </ul>
  );
}

type Shown = { content: Trace | undefined; onQuote: (quote: Placed) => void };
type GradeTableProps = Shown & { grid: Grid; verdict?: Verdict };
type Row = Grid["rows"][number];

function GradeTable({ grid, verdict, content, onQuote }: GradeTableProps) {
  const project = useProject();
  const version = useQuery(versionQuery(project.id, grid.version));
  if (version.isPending) return <LoadingNotice what="the rubric" />;
  const rubric = version.data?.canonical as Canonical | undefined;
  const criteria = criteriaOf(rubric);
  const order = [...criteria.keys()];
  const place = (it: Row) => (criteria.has(it.criterion) ? order.indexOf(it.criterion) : order.length);
  const rows = grid.rows.toSorted((a, b) => place(a) - place(b));
  const hasTwo = grid.graders.length > 1;
  const columns: Column<Row>[] = [
    {
      name: "criterion",
      head: "Criterion",
      cell: (it) => (
        <>
          {it.criterion} <CriterionWeight criterion={criteria.get(it.criterion)} />
        </>
      ),
    },
    ...grid.graders.map(
      (grader, at): Column<Row> => ({
        name: `${grader.kind} ${grader.name}`,
        head: <GraderColumnHead grader={grader} />,
        cell: (it) => (
          <GradeCell
            grade={it.grades[at]}
            scale={criterionScaleOf(criteria.get(it.criterion))}
            content={content}
            onQuote={onQuote}
          />
        ),
      }),
    ),
    ...(hasTwo
      ? [
          {
            name: "apart",
            head: "Spread",
            about: SPREAD,
            align: "end" as const,
            wide: true,
            cell: (it: Row) => {
              const spread = spreadOf(it.grades);
              return spread === null
                ? "–"
                : distanceText(spread, criterionScaleOf(criteria.get(it.criterion)));
            },
          },
        ]
      : []),
  ];
  return (
    <div className={styles.part}>
      <div className={styles.line}>
        {verdict && (
          <>
            <StatusBadge status={verdict.status as Status} />
            <span className={styles.score}>
              <VersionScore version={grid.version} score={verdict.score} isMain />
            </span>
          </>
        )}
        <RubricLink version={grid.version} rubric={version.data?.rubric} />
      </div>
      <FailedGates failed={verdict?.failed_gates} undecided={verdict?.undecided_gates} />
      {rubric && verdict && (
        <ScoreBreakdown rubric={rubric} verdict={verdict} saidOf={(criterion) => saidOf(grid, criterion)} />
      )}
      {grid.graders.length > MOST_COLUMNS ? (
        <GradeList grid={grid} rows={rows} criteria={criteria} content={content} onQuote={onQuote} />
      ) : (
        <Table caption="Grades by criterion" columns={columns} rows={rows} keyOf={(it) => it.criterion} />
      )}
    </div>
  );
}

const SPREAD =
  "Difference between the highest and the lowest score of the graders; on the scale of the criterion, where it has one, and from 0 to 1.";

function GraderColumnHead({ grader }: { grader: Grid["graders"][number] }) {
  return (
    <span className={styles.grader}>
      {grader.kind} <b>{grader.name}</b>
    </span>
  );
}

/** Graders that have a column each; with more of them, reasons would be three words wide. */
const MOST_COLUMNS = 2;

type GradeListProps = Shown & { grid: Grid; rows: Row[]; criteria: ReturnType<typeof criteriaOf> };

/** Grades of many graders, one below the other for each criterion. */
function GradeList({ grid, rows, criteria, ...shown }: GradeListProps) {
  return (
    <ul className={styles.list} aria-label="Grades by criterion">
      {rows.map((row) => {
        const spread = spreadOf(row.grades);
        return (
          <li key={row.criterion}>
            <h3 className={styles.criterion}>
              {row.criterion} <CriterionWeight criterion={criteria.get(row.criterion)} />
              {spread !== null && (
                <span className={styles.soft}>
                  <Term about={SPREAD}>spread</Term>{" "}
                  {distanceText(spread, criterionScaleOf(criteria.get(row.criterion)))}
                </span>
              )}
            </h3>
            <dl className={styles.byGrader}>
              {gradesIn(grid, row).map(({ grader, grade }) => (
                <div key={`${grader.kind} ${grader.name}`}>
                  <dt>
                    {grader.kind} <b>{grader.name}</b>
                  </dt>
                  <dd>
                    <GradeCell
                      grade={grade}
                      scale={criterionScaleOf(criteria.get(row.criterion))}
                      {...shown}
                    />
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        );
      })}
    </ul>
  );
}

/** Scores of judges and checks; human grades do not enter the verdict. */
const saidOf = (grid: Grid, criterion: string): OfGrader[] =>
  (grid.rows.find((it) => it.criterion === criterion)?.grades ?? []).flatMap((it) =>
    it?.score == null || it.grader_kind === "human" ? [] : [{ grader: it.grader, unit: it.score }],
  );

/** Link to a rubric version. */
function RubricLink({ version, rubric }: { version: string; rubric: string | undefined }) {
  const project = useProject();
  const rubrics = useQuery(rubricsQuery(project.id));
  const name = rubrics.data?.find((it) => it.id === rubric)?.name;
  const versionName = useVersionName(rubric ?? "", version);
  if (rubric === undefined || name === undefined) return <code>{version}</code>;
  return (
    <span>
      rubric{" "}
      <Link
        to="/p/$project/rubrics/$rubric"
        params={{ project: project.name, rubric }}
        search={{ version }}
        title={version}
      >
        {name} {versionName}
      </Link>
    </span>
  );
}

type GradeCellProps = Shown & { grade: GradeSaid | undefined; scale: ScaleEnds | undefined };

function GradeCell({ grade, scale, ...shown }: GradeCellProps) {
  if (!grade) return <span className={styles.soft}>–</span>;
  return (
    <div className={styles.said}>
      <span className={styles.line}>
        <GradeOutcome grade={grade} scale={scale} />
      </span>
      <GradeFlags flags={grade.flags} />
      {grade.reason && (
        <p className={styles.reason} dir="auto">
          <CodeText text={grade.reason} />
        </p>
      )}
      {grade.why && <p className={styles.soft}>{grade.why}</p>}
      {grade.error && (
        <p className={styles.soft}>
          {grade.error.failure.replaceAll("_", " ")}: {grade.error.detail}
        </p>
      )}
      {grade.points?.map((it, at) => (
        <div key={at} className={styles.said}>
          <p className={styles.soft}>
            {it.holds ? "✓" : "✕"} {it.text}
          </p>
          <GradeQuotes all={it.evidence ?? []} {...shown} />
        </div>
      ))}
      <GradeQuotes all={grade.evidence ?? []} {...shown} />
    </div>
  );
}

function GradeQuotes({ all, content, onQuote }: Shown & { all: Evidence[] }) {
  return all.map((it, at) => {
    if (!it.found) {
      return (
        <p key={at} className={styles.lost}>
          “{it.quote}” <Badge tone="error">quote not found</Badge>
        </p>
      );
    }
    const place = placed(content, it);
    return (
      <Button
        key={at}
        look="link"
        className={styles.quote}
        disabled={!place}
        title={place && `Show it in step ${place.step}`}
        onClick={() => place && onQuote(place)}
      >
        {it.quote}
      </Button>
    );
  });
}

type GradeOutcomeProps = {
  grade: GradeSaid;
  /** The scale of the criterion, where it has one and the page knows its rubric. */
  scale?: ScaleEnds;
};

export function GradeOutcome({ grade, scale }: GradeOutcomeProps) {
  // On the scale of the rubric's author first, on 0 to 1 beside it.
  const isNative = typeof grade.value === "number" && (scale !== undefined || grade.value !== grade.score);
  const native = isNative ? grade.value : undefined;
  switch (grade.outcome) {
    case "scored":
      return (
        <>
          {native !== undefined && (
            <b className={styles.value}>
              {String(native)} {scale && `${scaleText(scale)} `}
            </b>
          )}
          <b className={styles.value} data-soft={native !== undefined || undefined}>
            {score(grade.score)}
          </b>{" "}
          {grade.is_passed != null && (
            <Badge tone={grade.is_passed ? "pass" : "fail"}>{grade.is_passed ? "✓ pass" : "✕ fail"}</Badge>
          )}
        </>
      );
    case "failed":
      return <Badge tone="error">! grader error</Badge>;
    case "abstained":
      return <Badge tone="deferred">undecided</Badge>;
    case "not_applicable":
      return <Badge>not applicable</Badge>;
    default:
      return <Badge tone="deferred">– {grade.outcome.replaceAll("_", " ")}</Badge>;
  }
}
