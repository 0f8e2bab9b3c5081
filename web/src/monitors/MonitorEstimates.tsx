import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useProject } from "../api/session";
import {
  fixed,
  nativeRange,
  nativeScore,
  percent,
  percentRange,
  type Range,
  range3,
  rangeText,
  type ScaleEnds,
  score3,
} from "../chart/figures";
import { Interval } from "../chart/Interval";
import { ScaledScore } from "../chart/ScaledScore";
import { Sparkline } from "../chart/Sparkline";
import { Badge } from "../ui/Badge";
import { DAILY_SCORES, N_SCORED } from "../ui/explanations";
import { count, plural } from "../ui/format";
import { type Figure, KeyFigures } from "../ui/KeyFigures";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { anchorsOf } from "./fileEdits";
import styles from "./Monitors.module.css";
import {
  type CriterionEstimate,
  type Estimates,
  estimatesQuery,
  type JudgeEstimates,
  type Monitor,
  nameOf,
  overallOf,
  type Stratum,
  type Traffic,
  trendQuery,
} from "./queries";
import { countInState, describeState, STRATUM, sorted } from "./traceStates";
import { useVersionNames } from "./versions";

/** Estimates for all traffic: overall, by criterion and by stratum. */
export function MonitorEstimates({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const { agent, days } = useSearch({ from: "/p/$project/monitors/$monitor" });
  const found = useQuery(estimatesQuery(project.id, monitor.name, { agent, days }));
  return (
    <Loaded query={found} what="estimates">
      {(it) => (
        <>
          {it.judges
            .filter((one) => one.is_current)
            .map((one) => (
              <JudgeSection key={`${one.rubric_version} ${one.judge}`} monitor={monitor} found={one} />
            ))}
          <EarlierVersions monitor={monitor} all={it.judges.filter((one) => !one.is_current)} />
          {it.judges.length === 0 && <NoEstimates monitor={monitor} found={it} />}
          <TraceStateCounts monitor={monitor} found={it} />
          <MonitorAnchors monitor={monitor} />
        </>
      )}
    </Loaded>
  );
}

/** Estimates of earlier rubric versions; folded, because they are not comparable with the current ones. */
function EarlierVersions({ monitor, all }: { monitor: Monitor; all: JudgeEstimates[] }) {
  if (all.length === 0) return null;
  return (
    <details className={styles.earlier}>
      <summary>Estimates of {plural(all.length, "earlier version")}</summary>
      <div className={styles.parts}>
        {all.map((one) => (
          <JudgeSection key={`${one.rubric_version} ${one.judge}`} monitor={monitor} found={one} />
        ))}
      </div>
    </details>
  );
}

function NoEstimates({ monitor, found }: { monitor: Monitor; found: Estimates }) {
  const n = total(found);
  return (
    <Notice title="No scores yet">
      {n === 0 ? (
        <p>
          No trace of {monitor.agents.join(", ")} finished in this time range. Traces that finish from now on
          appear here.
        </p>
      ) : (
        <p>
          {plural(n, "trace")} finished; {n === 1 ? "its state is" : "their states are"} listed below.
        </p>
      )}
    </Notice>
  );
}

function JudgeSection({ monitor, found }: { monitor: Monitor; found: JudgeEstimates }) {
  const whole = overallOf(found);
  const versionOf = useVersionNames(monitor.name);
  return (
    <section
      className={styles.part}
      aria-label={`Judge ${found.judge}, rubric ${versionOf(found.rubric_version)}`}
    >
      <div className={styles.head}>
        <h2>Judge: {found.judge}</h2>
        <span className={styles.soft} title={found.rubric_version}>
          rubric {versionOf(found.rubric_version)}
        </span>
        {!found.is_current && <Badge>earlier version</Badge>}
      </div>
      {whole?.score && found.is_current && <HeadlineFigures whole={whole} score={whole.score} />}
      <CriterionTable monitor={monitor} found={found} />
      {whole?.score && <StratumTable score={whole.score} scale={whole.native} monitor={monitor} />}
      {whole?.score?.warnings.map((it) => (
        <p key={it} className={styles.warning}>
          {it}
        </p>
      ))}
    </section>
  );
}

function HeadlineFigures({ whole, score }: { whole: CriterionEstimate; score: Traffic }) {
  const { pass_rate: passes, corrected } = whole;
  const all: Figure[] = [
    {
      name: "estimated score of all traffic",
      about:
        "Score of all finished traces in the time range, estimated from the sampled ones. Each stratum counts with its share of the traffic.",
      entry: "confidence-interval",
      ...figureOf(score, whole.native),
    },
    corrected && {
      name: `corrected with ${plural(corrected.n_labels, "human label")}`,
      about:
        "Label-corrected estimate (prediction-powered inference): the estimate of the judge, corrected by its errors on traces that people have labelled.",
      entry: "ppi",
      ...figureOf(corrected, whole.native),
    },
    passes && {
      name: "pass rate",
      about: "Estimated share of all traffic with the verdict pass.",
      entry: "pass-mark",
      value: percent(passes.mean),
      more: percentRange(passes.interval),
    },
    {
      name: (
        <>
          scored,{" "}
          <Term
            about="Failed and expensive traces are sampled more often, so scores have different weights. The effective sample size is the number of uniformly sampled traces that would give an interval of the same width."
            entry="effective-sample-size"
          >
            effective sample size {fixed(score.n_eff, 0)}
          </Term>
        </>
      ),
      value: count(score.n),
    },
    {
      name: "judge errors",
      about:
        "Share of sampled traces that the judge could not grade. They are never counted as scores; the worst-case range shows where the estimate would be if all of them scored 0, or 1.",
      entry: "judge",
      value: percent(score.error_rate),
      more:
        score.error_rate > 0 &&
        `worst-case range including judge errors: ${rangeText(score.if_errors_scored, whole.native)}`,
    },
  ].filter((it) => it != null);
  return <KeyFigures all={all} />;
}

type ScoreEstimate = { mean: number; interval: Range };

/** The score and its interval on the scale of the rubric, where it has one; then the same from 0 to 1. */
function figureOf({ mean, interval }: ScoreEstimate, scale: ScaleEnds | null | undefined) {
  return scale
    ? {
        value: nativeScore(mean, scale),
        more: `${nativeRange(interval, scale)} (${score3(mean)} ${range3(interval)})`,
      }
    : { value: score3(mean), more: range3(interval) };
}

function CriterionTable({ monitor, found }: { monitor: Monitor; found: JudgeEstimates }) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/monitors/$monitor" });
  const hasLabels = found.criteria.some((it) => it.corrected);
  const columns: Column<CriterionEstimate>[] = [
    {
      name: "name",
      head: "Criterion",
      cell: (it) => (
        <Link
          to="/p/$project/monitors/$monitor"
          params={{ project: project.name, monitor: monitor.name }}
          search={{ ...search, view: "trend", criterion: it.criterion ?? undefined }}
          title="Show the trend"
        >
          {nameOf(it)}
        </Link>
      ),
    },
    {
      name: "score",
      head: "Score",
      about:
        "Estimated score of all traffic, with its 95 % confidence interval; on the scale of the rubric, where it has one, and from 0 to 1.",
      entry: "score",
      cell: (it) =>
        it.score ? (
          <ScaledScore mean={it.score.mean} interval={it.score.interval} scale={it.native} />
        ) : (
          <span className={styles.soft}>no estimate: {it.not_estimable}</span>
        ),
    },
    {
      name: "picture",
      head: "0 to 1",
      about:
        "Filled dot: estimated score of all traffic with its 95 % confidence interval. Hollow dot: unweighted mean of the scored traces. Dotted line: pass mark.",
      entry: "confidence-interval",
      wide: true,
      cell: (it) =>
        it.score && (
          <Interval
            mean={it.score.mean}
            interval={it.score.interval}
            other={it.score.naive}
            mark={it.criterion == null ? monitor.pass_mark : undefined}
            scale={it.native}
          />
        ),
    },
    ...(found.is_current
      ? [
          {
            name: "trend",
            head: "By day",
            ...DAILY_SCORES,
            wide: true,
            cell: (it: CriterionEstimate) => (
              <CriterionSparkline monitor={monitor} found={found} criterion={it.criterion ?? undefined} />
            ),
          },
        ]
      : []),
    ...(hasLabels
      ? [
          {
            name: "corrected",
            head: "Label-corrected",
            about:
              "The estimate of the judge, corrected by its errors on traces that people have labelled; on the scale of the rubric, where it has one, and from 0 to 1.",
            entry: "ppi",
            cell: (it: CriterionEstimate) =>
              it.corrected ? (
                <>
                  <ScaledScore
                    mean={it.corrected.mean}
                    interval={it.corrected.interval}
                    scale={it.native}
                    isMinor
                  />{" "}
                  <span className={styles.soft}>{plural(it.corrected.n_labels, "label")}</span>
                </>
              ) : (
                "–"
              ),
          },
        ]
      : []),
    {
      name: "passes",
      head: "Pass rate",
      about: "Estimated share of all traffic with the verdict pass.",
      entry: "verdict",
      wide: true,
      cell: (it) =>
        it.pass_rate ? (
          <>
            {percent(it.pass_rate.mean)}{" "}
            <span className={styles.soft}>{percentRange(it.pass_rate.interval)}</span>
          </>
        ) : (
          "–"
        ),
    },
    {
      name: "plain",
      head: "Unweighted mean",
      about:
        "Mean of the scored traces without sampling weights. Traces that are sampled more often count too much in it.",
      align: "end",
      cell: (it) => <ScaledScore mean={it.score?.naive} scale={it.native} isMinor />,
    },
    {
      name: "n",
      head: "Scored",
      ...N_SCORED,
      align: "end",
      cell: (it) => (it.score ? count(it.score.n) : "–"),
      wide: true,
    },
  ];
  return <Table caption="Criteria" columns={columns} rows={found.criteria} keyOf={nameOf} />;
}

type CriterionSparklineProps = { monitor: Monitor; found: JudgeEstimates; criterion?: string };

/** The trend of one criterion, beside those of the others. */
function CriterionSparkline({ monitor, found, criterion }: CriterionSparklineProps) {
  const project = useProject();
  const { agent, days } = useSearch({ from: "/p/$project/monitors/$monitor" });
  const { data } = useQuery(trendQuery(project.id, monitor.name, { agent, days }, "*"));
  const line = data?.find(
    (it) =>
      it.rubric_version === found.rubric_version &&
      it.judge === found.judge &&
      (it.criterion ?? undefined) === criterion,
  );
  return <Sparkline points={line?.points ?? []} about={`Score of ${nameOf({ criterion })} by day`} />;
}

type StratumRow = Stratum | { name: "all traffic, weighted" | "all traffic, unweighted mean"; of: Traffic };

type StratumTableProps = { score: Traffic; scale: ScaleEnds | null | undefined; monitor: Monitor };

/** Scores by stratum, with the weighted and the unweighted mean of all. */
function StratumTable({ score, scale, monitor }: StratumTableProps) {
  const population = score.strata.reduce((sum, it) => sum + it.population, 0);
  const rows: StratumRow[] = [
    ...score.strata,
    { name: "all traffic, weighted", of: score },
    { name: "all traffic, unweighted mean", of: score },
  ];
  const isPlain = (it: StratumRow) => it.name === "all traffic, unweighted mean";
  const columns: Column<StratumRow>[] = [
    {
      name: "name",
      head: "Stratum",
      about: STRATUM,
      entry: "stratum",
      cell: (it) => it.name,
    },
    {
      name: "share",
      head: "Share of traffic",
      about:
        "Finished traces of the stratum, of all finished traces. The estimate weights the stratum by it.",
      entry: "stratum",
      align: "end",
      wide: true,
      cell: (it) => ("of" in it || population === 0 ? "" : percent(it.population / population)),
    },
    {
      name: "score",
      head: "Score",
      about: "Mean score of the scored traces of the stratum, with its 95 % confidence interval.",
      entry: "confidence-interval",
      cell: (it) => {
        if (isPlain(it)) return <ScaledScore mean={score.naive} scale={scale} isMinor />;
        const { mean, interval } = "of" in it ? it.of : it;
        if (mean == null) {
          return (
            <span className={styles.soft}>no estimate: {"not_estimable" in it ? it.not_estimable : ""}</span>
          );
        }
        return <ScaledScore mean={mean} interval={interval} scale={scale} />;
      },
    },
    {
      name: "picture",
      head: "0 to 1",
      about: "Dot: mean. Line: 95 % confidence interval. Dotted line: pass mark.",
      entry: "confidence-interval",
      wide: true,
      cell: (it) => {
        const { mean, interval } = "of" in it ? it.of : it;
        const mark = monitor.pass_mark;
        if (isPlain(it)) return <Interval mean={score.naive} mark={mark} scale={scale} />;
        return mean != null && <Interval mean={mean} interval={interval} mark={mark} scale={scale} />;
      },
    },
    {
      name: "n",
      head: "Scored",
      about: "Traces with a score, of all finished traces of the stratum.",
      entry: "sample-rate",
      align: "end",
      cell: (it) => ("of" in it ? count(it.of.n) : `${count(it.n)} of ${count(it.n_seen)}`),
    },
    {
      name: "errors",
      head: "Judge errors",
      about: "Sampled traces that the judge could not grade. They are never counted as scores.",
      book: "explanation/sampling.html#judge-errors",
      align: "end",
      cell: (it) => ("n_errors" in it && it.n_errors ? count(it.n_errors) : "–"),
      wide: true,
    },
    {
      name: "unjudged",
      head: "Not judged",
      about:
        "Sampled traces without a score and without an error: they wait, or the budget or the queue was full.",
      book: "monitor.html#when-a-trace-is-complete",
      align: "end",
      cell: (it) => ("n_unjudged" in it && it.n_unjudged ? count(it.n_unjudged) : "–"),
      wide: true,
    },
  ];
  return (
    <>
      <h3>Strata</h3>
      <Table caption="Overall score by stratum" columns={columns} rows={rows} keyOf={(it) => it.name} />
      <p className={styles.soft}>
        Failed and expensive traces are sampled more often than others. The estimate weights each stratum by
        its share of the traffic; the unweighted mean does not.
      </p>
    </>
  );
}

/** Example traces in the prompt of the judge. */
function MonitorAnchors({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const { good, bad } = anchorsOf(monitor.version.source);
  if (good.length + bad.length === 0) return null;
  const list = (title: string, ids: string[]) =>
    ids.length > 0 && (
      <div>
        <h3>{title}</h3>
        <ul>
          {ids.map((it) => (
            <li key={it}>
              <Link
                to="/p/$project/traces/$trace"
                params={{ project: project.name, trace: it }}
                className={styles.trace}
              >
                {it}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    );
  return (
    <section className={styles.part}>
      <h2>Anchors</h2>
      <p>Example traces in the prompt of the judge.</p>
      <div className={styles.anchors}>
        {list("Good", good)}
        {list("Bad", bad)}
      </div>
    </section>
  );
}

const total = (found: Estimates): number => found.states.reduce((sum, it) => sum + it.n, 0);

/** How many finished traces are in each state. */
function TraceStateCounts({ monitor, found }: { monitor: Monitor; found: Estimates }) {
  const project = useProject();
  const n = total(found);
  const states = sorted(found.states);
  if (n === 0) return null;
  return (
    <section className={styles.part}>
      <h2>
        {n === 1 ? "State" : "States"} of {plural(n, "finished trace")}
      </h2>
      <div className={styles.states} aria-hidden="true">
        {states.map((it) => (
          <span key={it.state} data-tone={describeState(it.state).tone} style={{ flexGrow: it.n }} />
        ))}
      </div>
      <ul className={styles.counts}>
        {states.map((it) => (
          <li key={it.state}>
            <Link
              to="/p/$project/monitors/$monitor"
              params={{ project: project.name, monitor: monitor.name }}
              search={(before) => ({ view: "traces", state: it.state, days: before.days ?? 30 })}
              title={describeState(it.state).means}
            >
              {countInState(it.n, it.state)}
            </Link>
          </li>
        ))}
      </ul>
      <p className={styles.soft}>
        From {found.from.slice(0, 10)} until {found.until.slice(0, 10)} (UTC).
      </p>
    </section>
  );
}
