import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answered, api, type Schemas } from "../api/client";
import { useProject } from "../api/session";
import { fixed, percent } from "../chart/figures";
import type { Decision } from "../monitors/doors";
import { toldOf } from "../monitors/states";
import { Badge, type Status, StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Loaded } from "../ui/Loaded";
import { moment, score } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import styles from "./Graded.module.css";
import { type GradeSaid, type Grid, gridsOf, spreadOf, stepOf } from "./table";

type Verdict = Schemas["VerdictLine"];

/** Every grade of a trace. */
export const gradesQuery = (project: string, trace: string) =>
  queryOptions({
    queryKey: ["grades", project, trace],
    queryFn: async () => {
      const all: GradeSaid[] = [];
      let after: string | undefined;
      do {
        // Reasons are told to whoever asks for all of it, by servers that know the word.
        const query = { candidate: trace, limit: 200, after, full: true };
        const page = await answered(api(project).GET("/api/v1/grades", { params: { query } }));
        all.push(...page.items);
        after = page.next ?? undefined;
      } while (after);
      return all;
    },
  });

type GradedProps = { trace: string; isFinished: boolean; onStep: (step: number) => void };

/** Why a trace has a score or none, and what each grader said. */
export function Graded({ trace, isFinished, onStep }: GradedProps) {
  const project = useProject();
  const params = { path: { id: trace } };
  const decisions = useQuery({
    queryKey: ["why", project.id, trace],
    queryFn: () => answered(api(project.id).GET("/api/v1/traces/{id}/decisions", { params })),
    refetchInterval: ({ state }) => (state.data?.some((it) => it.judge_status === "pending") ? 3000 : false),
  });
  const grades = useQuery(gradesQuery(project.id, trace));
  const verdicts = useQuery({
    queryKey: ["verdicts", project.id, trace],
    queryFn: () =>
      answered(api(project.id).GET("/api/v1/verdicts", { params: { query: { candidate: trace } } })),
  });
  return (
    <div
      className={styles.graded}
      data-graded={decisions.data?.length || grades.data?.length ? true : undefined}
    >
      <section className={styles.part} aria-label="Why it has a score, or none">
        <h2>Why it has a score, or none</h2>
        <Loaded query={decisions} what="what monitors made of it">
          {(all) => (all.length === 0 ? <Unwatched isFinished={isFinished} /> : <Decided all={all} />)}
        </Loaded>
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
                  onStep={onStep}
                />
              ))}
            </section>
          )
        }
      </Loaded>
    </div>
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

function Decided({ all }: { all: Decision[] }) {
  const project = useProject();
  return (
    <ul className={styles.decisions}>
      {all.map((it) => (
        <li key={it.monitor}>
          <div className={styles.line}>
            <Link
              to="/p/$project/monitors/$monitor"
              params={{ project: project.name, monitor: it.monitor_name ?? it.monitor }}
            >
              {it.monitor_name ?? it.monitor}
            </Link>
            <Badge tone={toldOf(it.state).tone}>{toldOf(it.state).label}</Badge>
            {it.is_disputed && <Badge tone="fail">judges disagree: {fixed(it.spread ?? 0, 2)} apart</Badge>}
            <span>{noteOf(it)}</span>
          </div>
          <p className={styles.soft}>
            {toldOf(it.state).means} Stratum {it.stratum}, sampled with probability {percent(it.probability)}
            {it.upstream < 1 && `, kept with probability ${percent(it.upstream)} before it came here`}.
          </p>
          <ol className={styles.history} aria-label={`What became of it by ${it.monitor_name ?? it.monitor}`}>
            {it.history?.map((event, at) => (
              <li key={at}>
                <time dateTime={event.time} title={event.time}>
                  {moment(event.time)}
                </time>
                <b>{toldOf(event.state).label}</b> {event.note}
              </li>
            ))}
          </ol>
        </li>
      ))}
    </ul>
  );
}

/** What was said last says most; the reason is why it was looked at. */
const noteOf = (it: Decision): string => it.history?.at(-1)?.note || it.reason;

type ScoresProps = { grid: Grid; verdict?: Verdict; onStep: (step: number) => void };
type Row = Grid["rows"][number];

function Scores({ grid, verdict, onStep }: ScoresProps) {
  const hasTwo = grid.graders.length > 1;
  const columns: Column<Row>[] = [
    { name: "criterion", head: "Criterion", cell: (it) => it.criterion },
    ...grid.graders.map(
      (grader, at): Column<Row> => ({
        name: `${grader.kind} ${grader.name}`,
        head: (
          <>
            {grader.kind} <b>{grader.name}</b>
          </>
        ),
        cell: (it) => <Said grade={it.grades[at]} onStep={onStep} />,
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
        <code>{grid.version}</code>
      </div>
      <Table
        caption={`Grades by ${grid.version}`}
        columns={columns}
        rows={grid.rows}
        keyOf={(it) => it.criterion}
      />
    </div>
  );
}

function Said({ grade, onStep }: { grade: GradeSaid | undefined; onStep: (step: number) => void }) {
  if (!grade) return <span className={styles.soft}>–</span>;
  return (
    <div className={styles.said}>
      <span className={styles.line}>
        <Outcome grade={grade} />
      </span>
      {grade.reason && <p className={styles.reason}>{grade.reason}</p>}
      {grade.points?.map((it, at) => (
        <p key={at} className={styles.soft}>
          {it.holds ? "✓" : "✕"} {it.text}
        </p>
      ))}
      {grade.evidence?.map((it, at) => {
        const step = stepOf(it.found?.in);
        if (!it.found) {
          return (
            <p key={at} className={styles.lost}>
              “{it.quote}” <Badge tone="error">does not stand there</Badge>
            </p>
          );
        }
        return (
          <Button
            key={at}
            look="link"
            className={styles.quote}
            disabled={step === undefined}
            onClick={() => step !== undefined && onStep(step)}
          >
            {it.quote}
          </Button>
        );
      })}
    </div>
  );
}

function Outcome({ grade }: { grade: GradeSaid }) {
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
