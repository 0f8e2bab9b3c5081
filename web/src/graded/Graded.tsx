import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answered, api } from "../api/client";
import { useProject } from "../api/session";
import { fixed, percent } from "../chart/figures";
import type { Decision } from "../monitors/doors";
import { StateBadge } from "../monitors/StateBadge";
import { strataWords, toldOf } from "../monitors/states";
import { type Canonical, criteriaOf } from "../rubrics/canonical";
import { rubricsQuery, versionQuery } from "../rubrics/doors";
import type { Trace } from "../traces/view/parts";
import { Badge, type Status, StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Loaded } from "../ui/Loaded";
import { Waiting } from "../ui/State";
import { score } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import { DecisionPath, stationsOf } from "./DecisionPath";
import { Flags } from "./Flags";
import styles from "./Graded.module.css";
import type { Said as OfGrader } from "./sum";
import { Gates, Total, Weight } from "./Total";
import {
  type Evidence,
  type GradeSaid,
  type Grid,
  gridsOf,
  type Placed,
  placed,
  spreadOf,
  type Verdict,
} from "./table";

/** Every grade of a trace, with all that was said. */
export const gradesQuery = (project: string, trace: string) =>
  queryOptions({
    queryKey: ["grades", project, trace],
    queryFn: async () => {
      const all: GradeSaid[] = [];
      let after: string | undefined;
      do {
        const query = { candidate: trace, limit: 200, after, full: true };
        const page = await answered(api(project).GET("/api/v1/grades", { params: { query } }));
        all.push(...page.items);
        after = page.next ?? undefined;
      } while (after);
      return all;
    },
  });

export const verdictsQuery = (project: string, trace: string) =>
  queryOptions({
    queryKey: ["verdicts", project, trace],
    queryFn: () =>
      answered(api(project).GET("/api/v1/verdicts", { params: { query: { candidate: trace } } })),
  });

/** What each monitor made of it; asked again while one is at it. */
export const whyQuery = (project: string, trace: string) =>
  queryOptions({
    queryKey: ["why", project, trace],
    queryFn: () =>
      answered(api(project).GET("/api/v1/traces/{id}/decisions", { params: { path: { id: trace } } })),
    refetchInterval: ({ state }) => (state.data?.some((it) => it.judge_status === "pending") ? 3000 : false),
  });

type GradedProps = {
  trace: string;
  /** When it finished; not yet where it is none. */
  finished: string | null | undefined;
  /** Whoever looks has still to answer it. */
  isWithheld: boolean;
  /** What it did, once that is read. */
  content: Trace | undefined;
  onQuote: (quote: Placed) => void;
  onExchanges: () => void;
};

/** Why a trace has a score or none, and what each grader said. */
export function Graded({ trace, finished, isWithheld, content, onQuote, onExchanges }: GradedProps) {
  const project = useProject();
  const decisions = useQuery(whyQuery(project.id, trace));
  const grades = useQuery(gradesQuery(project.id, trace));
  const verdicts = useQuery(verdictsQuery(project.id, trace));
  const isAsked =
    !isWithheld &&
    (decisions.data?.some((it) => /^(scored|judge_error)$/.test(it.state)) ||
      grades.data?.some((it) => it.grader_kind === "judge"));
  return (
    <div
      className={styles.graded}
      // Also while nothing is known yet: most traces that are looked at have something, and nothing jumps then.
      data-graded={decisions.isPending || decisions.data?.length || grades.data?.length ? true : undefined}
    >
      <section className={styles.part} aria-label="Why it has a score, or none">
        <div className={styles.head}>
          <h2>Why it has a score, or none</h2>
          {isAsked && (
            <Button look="quiet" onClick={onExchanges}>
              What judges were asked
            </Button>
          )}
        </div>
        <Loaded query={decisions} what="what monitors made of it">
          {(all) =>
            all.length === 0 ? (
              <Unwatched isFinished={finished != null} />
            ) : (
              <Decided all={all} finished={finished} verdicts={verdicts.data?.items ?? []} />
            )
          }
        </Loaded>
        {isWithheld && <Withheld />}
      </section>
      <Loaded query={grades} what="grades">
        {(all) =>
          all.length === 0 ? null : (
            <section className={styles.part} aria-label="Grades">
              <h2>Grades, side by side</h2>
              {gridsOf(all).map((it) => (
                <Scores
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

function Withheld() {
  const project = useProject();
  return (
    <p className={styles.withheld} role="note">
      <b>You have still to answer this one.</b> What judges and others said of it is shown after that, so that
      you say what you think.{" "}
      <Link to="/p/$project/annotate" params={{ project: project.name }}>
        Annotate
      </Link>
    </p>
  );
}

function Unwatched({ isFinished }: { isFinished: boolean }) {
  const project = useProject();
  return (
    <p className={styles.soft}>
      {isFinished
        ? "No monitor watched its agent when it finished, so nobody decided about it. "
        : "It has not finished; monitors decide about it once it has. "}
      <Link to="/p/$project/monitors" params={{ project: project.name }}>
        Monitors
      </Link>
    </p>
  );
}

type DecidedProps = { all: Decision[]; finished: string | null | undefined; verdicts: Verdict[] };

function Decided({ all, finished, verdicts }: DecidedProps) {
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
              {it.is_disputed && <Badge tone="fail">judges disagree: {fixed(it.spread ?? 0, 2)} apart</Badge>}
            </div>
            <DecisionPath
              label={`What became of it by ${name}`}
              stations={stationsOf(it, finished, verdict)}
            />
            <p className={styles.why}>
              {it.reason}
              {note && note !== it.reason && <>; {note}</>}
            </p>
            <p className={styles.soft}>
              {toldOf(it.state).means} {percent(it.probability)} of traces like it are judged, as{" "}
              {strataWords[it.stratum] ?? it.stratum}
              {it.upstream < 1 && `; whoever sent it keeps ${percent(it.upstream)} of them`}.
            </p>
          </li>
        );
      })}
    </ul>
  );
}

type Shown = { content: Trace | undefined; onQuote: (quote: Placed) => void };
type ScoresProps = Shown & { grid: Grid; verdict?: Verdict };
type Row = Grid["rows"][number];

function Scores({ grid, verdict, content, onQuote }: ScoresProps) {
  const project = useProject();
  const version = useQuery(versionQuery(project.id, grid.version));
  if (version.isPending) return <Waiting what="the rubric" />;
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
          {it.criterion} <Weight criterion={criteria.get(it.criterion)} />
        </>
      ),
    },
    ...grid.graders.map(
      (grader, at): Column<Row> => ({
        name: `${grader.kind} ${grader.name}`,
        head: (
          <>
            {grader.kind} <b>{grader.name}</b>
          </>
        ),
        cell: (it) => <Said grade={it.grades[at]} content={content} onQuote={onQuote} />,
      }),
    ),
    ...(hasTwo
      ? [
          {
            name: "apart",
            head: "Apart",
            align: "end" as const,
            cell: (it: Row) => {
              const spread = spreadOf(it.grades);
              return spread === null ? "–" : fixed(spread, 2);
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
            <b className={styles.score}>{score(verdict.score)}</b>
          </>
        )}
        <RubricOf version={grid.version} rubric={version.data?.rubric} />
      </div>
      <Gates failed={verdict?.failed_gates} undecided={verdict?.undecided_gates} />
      {rubric && verdict && (
        <Total rubric={rubric} verdict={verdict} saidOf={(criterion) => saidOf(grid, criterion)} />
      )}
      <Table
        caption={`Grades by ${grid.version}`}
        columns={columns}
        rows={rows}
        keyOf={(it) => it.criterion}
      />
    </div>
  );
}

/** What judges and programs said; people are heard beside them. */
const saidOf = (grid: Grid, criterion: string): OfGrader[] =>
  (grid.rows.find((it) => it.criterion === criterion)?.grades ?? []).flatMap((it) =>
    it?.score == null || it.grader_kind === "human" ? [] : [{ grader: it.grader, unit: it.score }],
  );

/** A version of a rubric by the rubric's name. */
function RubricOf({ version, rubric }: { version: string; rubric: string | undefined }) {
  const project = useProject();
  const rubrics = useQuery(rubricsQuery(project.id));
  const name = rubrics.data?.find((it) => it.id === rubric)?.name;
  if (rubric === undefined || name === undefined) return <code>{version}</code>;
  return (
    <span>
      by{" "}
      <Link
        to="/p/$project/rubrics/$rubric"
        params={{ project: project.name, rubric }}
        search={{ version }}
        title={version}
      >
        {name}
      </Link>
    </span>
  );
}

function Said({ grade, ...shown }: Shown & { grade: GradeSaid | undefined }) {
  if (!grade) return <span className={styles.soft}>–</span>;
  return (
    <div className={styles.said}>
      <span className={styles.line}>
        <Outcome grade={grade} />
      </span>
      <Flags flags={grade.flags} />
      {grade.reason && (
        <p className={styles.reason} dir="auto">
          {grade.reason}
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
          <Quotes all={it.evidence ?? []} {...shown} />
        </div>
      ))}
      <Quotes all={grade.evidence ?? []} {...shown} />
    </div>
  );
}

function Quotes({ all, content, onQuote }: Shown & { all: Evidence[] }) {
  return all.map((it, at) => {
    if (!it.found) {
      return (
        <p key={at} className={styles.lost}>
          “{it.quote}” <Badge tone="error">does not stand there</Badge>
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

export function Outcome({ grade }: { grade: GradeSaid }) {
  switch (grade.outcome) {
    case "scored":
      return (
        <>
          <b className={styles.value}>{score(grade.score)}</b>
          {grade.is_passed != null && (
            <Badge tone={grade.is_passed ? "pass" : "fail"}>{grade.is_passed ? "✓ passes" : "✕ fails"}</Badge>
          )}
        </>
      );
    case "failed":
      return <Badge tone="error">! the grader broke</Badge>;
    case "abstained":
      return <Badge tone="deferred">could not tell</Badge>;
    case "not_applicable":
      return <Badge>not applicable</Badge>;
    default:
      return <Badge tone="deferred">– {grade.outcome.replaceAll("_", " ")}</Badge>;
  }
}
