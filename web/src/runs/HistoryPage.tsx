import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useProject } from "../api/session";
import { percent, percentRange, type Range, rangeText, type ScaleEnds, sharedEndsOf } from "../chart/figures";
import { type RunPoint, RunTrendChart } from "../chart/RunTrendChart";
import { ScaledDifference } from "../chart/ScaledDifference";
import { ScaledScore } from "../chart/ScaledScore";
import { Badge } from "../ui/Badge";
import { Select } from "../ui/Field";
import { count, moment, plural, shortDay } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { type Column, Table } from "../ui/Table";
import { newestWithEarlier } from "./earlierRuns";
import styles from "./HistoryPage.module.css";
import { type HistoryPoint, historyQuery, latestRunsQuery, type RunHistory } from "./queries";
import { RunOrigin } from "./RunOrigin";

/** The numbers of runs that a reader can choose; the server takes up to 200. */
const LIMITS = [20, 50, 100, 200];

/** Score and pass rate of one suite from run to run, and where they changed. */
export function HistoryPage() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/history" });
  const limit = LIMITS.find((one) => one === search.limit) ?? 50;
  // By default a suite with two runs, because one run has no history.
  const runs = useQuery({ ...latestRunsQuery(project.id, 200), enabled: search.suite === undefined });
  const suite = search.suite ?? newestWithEarlier(runs.data ?? [])?.suite ?? undefined;
  const history = useQuery({
    ...historyQuery(project.id, { ...search, suite, limit }),
    enabled: search.suite !== undefined || !runs.isPending,
  });
  return (
    <>
      <PageHead
        up={
          <Link to="/p/$project/runs" params={{ project: project.name }}>
            Runs
          </Link>
        }
        title="History"
        book="runs.html"
        about="Score and pass rate of a suite from run to run, with 95 % confidence intervals."
      />
      <Loaded query={history} what="the history">
        {(found) =>
          found.suite == null ? (
            <Notice title="No runs yet">
              <p>
                Run a suite, or send runs of a laptop or of CI with <code>jurist runs push</code>.
              </p>
            </Notice>
          ) : (
            <div className={styles.parts}>
              <HistoryChoice history={found} limit={limit} />
              {found.points.length === 0 ? (
                <Notice title="No finished run matches" />
              ) : (
                <HistoryOfSuite points={found.points} />
              )}
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function HistoryChoice({ history, limit }: { history: RunHistory; limit: number }) {
  const { branch } = useSearch({ from: "/p/$project/history" });
  const navigate = useNavigate({ from: "/p/$project/history" });
  const suite = history.suite ?? "";
  const withChosen = (names: string[], chosen: string | undefined) =>
    [...new Set([...names, ...(chosen ? [chosen] : [])])].map((name) => ({ value: name, label: name }));
  const go = (to: { suite?: string; branch?: string; limit?: number }) =>
    navigate({ search: { suite, branch, limit, ...to }, replace: true, resetScroll: false });
  return (
    <search className={styles.choose} aria-label="Choose runs">
      <Select
        label="Suite"
        value={suite}
        options={withChosen(history.suites, suite)}
        onChange={(event) => go({ suite: event.target.value, branch: undefined })}
      />
      {(history.branches.length > 0 || branch) && (
        <Select
          label="Branch"
          value={branch ?? ""}
          options={[{ value: "", label: "all branches" }, ...withChosen(history.branches, branch)]}
          onChange={(event) => go({ branch: event.target.value || undefined })}
        />
      )}
      <Select
        label="Runs"
        value={String(limit)}
        options={LIMITS.map((one) => ({ value: String(one), label: `the last ${one}` }))}
        onChange={(event) => go({ limit: Number(event.target.value) })}
      />
    </search>
  );
}

type Direction = "not_shown" | "worse" | "better" | "mixed";
const directionOf = (point: HistoryPoint): Direction =>
  (point.change?.direction as Direction | undefined) ?? "not_shown";

/** What the run is called: its commit, or else its day. */
const nameOfPoint = (point: HistoryPoint): string =>
  point.provenance.commit?.slice(0, 7) ?? shortDay(point.started);

type Difference = NonNullable<HistoryPoint["change"]>["score"];

/** A mark in the chart of a figure, if its own difference is significant. */
const changeOf = (difference: Difference): RunPoint["change"] =>
  difference?.is_shown
    ? { direction: difference.difference < 0 ? "worse" : "better", text: difference.sentence }
    : undefined;

/** The scale that the scores of all these runs share. */
export function sharedScaleOfRuns(points: Pick<HistoryPoint, "score" | "scale">[]): ScaleEnds | undefined {
  return sharedEndsOf(points.filter((point) => point.score != null).map((point) => point.scale));
}

function HistoryOfSuite({ points }: { points: HistoryPoint[] }) {
  const project = useProject();
  const changes = points.filter((point) => directionOf(point) !== "not_shown");
  const nCompared = points.filter((point) => point.change && point.change.n_cases > 0).length;
  const linkOf = (point: RunPoint, label: string, mark: ReactNode) => (
    <Link
      to="/p/$project/runs/$run"
      params={{ project: project.name, run: point.id }}
      aria-label={`Run ${label}`}
    >
      {mark}
    </Link>
  );
  const scores = points.map((point) => ({
    id: point.id,
    name: nameOfPoint(point),
    mean: point.score,
    interval: point.score_interval as Range | null | undefined,
    change: changeOf(point.change?.score),
  }));
  const scale = sharedScaleOfRuns(points);
  const rates = points.map((point) => ({
    id: point.id,
    name: nameOfPoint(point),
    mean: point.pass_rate,
    interval: point.pass_rate_interval as Range | null | undefined,
    change: changeOf(point.change?.pass_rate),
  }));
  return (
    <>
      <p>
        {nCompared === 0
          ? "There are no two runs with common cases to compare."
          : `${plural(changes.length, "significant change")} in ${plural(nCompared, "comparison")} of a run with the one before it, case by case. `}
        {/* Fewer comparisons would be expected to have less than one. */}
        {nCompared >= 20 &&
          `At 95 %, about ${count(Math.round(nCompared / 20))} of them would be marked without any real change.`}
      </p>
      <div className={styles.charts}>
        <RunTrendChart
          title="Score"
          points={scores}
          scale={scale}
          linkOf={linkOf}
          table={<FigureTable caption="Score of each run" points={scores} scale={scale} />}
        />
        <RunTrendChart
          title="Pass rate"
          points={rates}
          linkOf={linkOf}
          table={<FigureTable caption="Pass rate of each run" points={rates} />}
        />
      </div>
      <HistoryTable points={points} />
    </>
  );
}

type FigureTableProps = { caption: string; points: RunPoint[]; scale?: ScaleEnds };

function FigureTable({ caption, points, scale }: FigureTableProps) {
  const columns: Column<RunPoint>[] = [
    { name: "run", head: "Run", cell: (point) => point.name },
    {
      name: "mean",
      head: "Value",
      about: scale
        ? "Value of the chart for this run, on the scale of the rubrics and from 0 to 1."
        : "Value of the chart for this run, from 0 to 1.",
      align: "end",
      cell: (point) => <ScaledScore mean={point.mean} scale={scale} isMinor />,
    },
    {
      name: "interval",
      head: "95 % interval",
      about: "95 % confidence interval of the value. One case has no interval.",
      entry: "confidence-interval",
      align: "end",
      cell: (point) => rangeText(point.interval, scale) || "–",
    },
    { name: "change", head: "Change", cell: (point) => point.change?.text ?? "–" },
  ];
  return <Table caption={caption} columns={columns} rows={points.toReversed()} keyOf={(point) => point.id} />;
}

const WORDS: Record<Direction, string> = {
  not_shown: "no significant change",
  worse: "▼ worse",
  better: "▲ better",
  mixed: "mixed",
};

function HistoryTable({ points }: { points: HistoryPoint[] }) {
  const project = useProject();
  const columns: Column<HistoryPoint>[] = [
    {
      name: "run",
      head: "Run",
      cell: (point) => (
        <Link to="/p/$project/runs/$run" params={{ project: project.name, run: point.id }}>
          {moment(point.started)}
        </Link>
      ),
    },
    { name: "origin", head: "Commit", cell: (point) => <RunOrigin provenance={point.provenance} /> },
    {
      name: "score",
      head: "Score",
      about:
        "Mean score of all cases that have a score, with its 95 % confidence interval; on the scale of the rubrics, where they share one, and from 0 to 1.",
      entry: "score",
      align: "end",
      cell: (point) => (
        <ScaledScore
          mean={point.score}
          interval={point.score_interval as Range | null | undefined}
          scale={point.scale}
          isMinor
        />
      ),
    },
    {
      name: "rate",
      head: "Pass rate",
      about:
        "Share of graded cases with the verdict pass, with its 95 % confidence interval. Errors and deferred cases are not counted.",
      entry: "verdict",
      align: "end",
      wide: true,
      cell: (point) =>
        `${percent(point.pass_rate)} ${percentRange(point.pass_rate_interval as Range | null | undefined)}`,
    },
    {
      name: "cases",
      head: "Cases",
      about: "Cases with a score. Trials of one case count once.",
      entry: "case",
      align: "end",
      cell: (point) => count(point.n_cases),
      wide: true,
    },
    {
      name: "change",
      head: "Since the run before",
      about:
        "Difference of the score from the run before, over the cases of both runs, with its 95 % confidence interval; on the scale of the rubrics, where both runs share one, and from 0 to 1. Worse and better mark significant differences of the score or the pass rate; mixed: one rose and the other fell.",
      entry: "p-value",
      cell: (point) => <HistoryChange point={point} />,
    },
  ];
  return (
    <section className={styles.part}>
      <h2>Runs</h2>
      <Table
        caption="Runs with their changes"
        columns={columns}
        rows={points.toReversed()}
        keyOf={(point) => point.id}
        stacked
      />
    </section>
  );
}

/** The direction, the difference of the score, and a link to both runs side by side. */
export function HistoryChange({ point }: { point: HistoryPoint }) {
  const project = useProject();
  const { change } = point;
  if (!change) return <>first run</>;
  if (change.n_cases === 0) return <>no common cases</>;
  const direction = directionOf(point);
  const tone = direction === "worse" ? "fail" : direction === "better" ? "pass" : "plain";
  return (
    <span className={styles.change}>
      {direction === "not_shown" ? WORDS[direction] : <Badge tone={tone}>{WORDS[direction]}</Badge>}
      {change.score && (
        <span className={styles.figures}>
          <ScaledDifference
            difference={change.score.difference}
            interval={change.score.interval as Range | null | undefined}
            scale={change.scale}
            showMain={(text) => text}
          />
        </span>
      )}
      <Link
        to="/p/$project/compare"
        params={{ project: project.name }}
        search={{ before: change.baseline, after: point.id }}
        aria-label={`Compare the run of ${moment(point.started)} with the run before it`}
      >
        compare
      </Link>
    </span>
  );
}
