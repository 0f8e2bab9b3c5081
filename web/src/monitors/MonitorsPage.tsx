import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { may, useProject } from "../api/session";
import { percent, percentRange } from "../chart/figures";
import { Interval } from "../chart/Interval";
import { ScaledScore } from "../chart/ScaledScore";
import { Sparkline } from "../chart/Sparkline";
import { formatMoney } from "../money/format";
import { openAlertsQuery, spendQuery } from "../money/queries";
import { useScoreScale } from "../rubrics/scales";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { DAILY_SCORES, ESTIMATED_SCORE, JUDGE_ERROR_RATE, PASS_RATE, SPENT } from "../ui/explanations";
import { plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { SortHead } from "../ui/SortHead";
import { type Column, Table } from "../ui/Table";
import type { Explanation } from "../ui/Term";
import styles from "./Monitors.module.css";
import { intervalOf, judgesOf, type Monitor, monitorsQuery } from "./queries";
import { noScoreYet } from "./traceStates";

export function MonitorsPage() {
  const project = useProject();
  const monitors = useQuery(monitorsQuery(project.id));
  return (
    <>
      <PageHead
        title="Monitors"
        book="monitor.html"
        about="A monitor grades a sample of live traces with a rubric. Estimates for all traffic of the last 30 days, with 95 % confidence intervals."
      >
        {may(project, "write") && (
          <Link
            to="/p/$project/new-monitor"
            params={{ project: project.name }}
            className={buttonClass}
            data-look="main"
          >
            New monitor
          </Link>
        )}
      </PageHead>
      <Loaded query={monitors} what="monitors">
        {(all) => (all.length === 0 ? <NoMonitors /> : <MonitorTable all={all} />)}
      </Loaded>
    </>
  );
}

/** What monitors can be sorted by; those without a value come last. */
const SORT_KEYS = {
  name: (monitor: Monitor) => monitor.name,
  score: (monitor: Monitor) => monitor.figures?.score?.mean,
  passes: (monitor: Monitor) => monitor.figures?.pass_rate?.mean,
  errors: (monitor: Monitor) => monitor.figures?.error_rate,
  spend: (monitor: Monitor) => monitor.figures?.spent_this_month,
};
type SortKey = keyof typeof SORT_KEYS;
type Sorting = { by: SortKey; isDescending: boolean };

function sortMonitors(all: Monitor[], { by, isDescending }: Sorting): Monitor[] {
  const sign = isDescending ? -1 : 1;
  return all.toSorted((a, b) => {
    const [left, right] = [SORT_KEYS[by](a), SORT_KEYS[by](b)];
    if (left == null || right == null) return Number(left == null) - Number(right == null);
    return sign * (left < right ? -1 : left > right ? 1 : 0);
  });
}

function MonitorTable({ all }: { all: Monitor[] }) {
  const project = useProject();
  const [sorting, setSorting] = useState<Sorting>({ by: "name", isDescending: false });
  const sortedBy = (
    label: string,
    by: SortKey,
    help?: Explanation,
  ): Pick<Column<Monitor>, "head" | "sorted"> => {
    const isThis = sorting.by === by;
    const sorted = !isThis ? "none" : sorting.isDescending ? "descending" : "ascending";
    return {
      sorted,
      head: (
        <SortHead
          label={label}
          sorted={sorted}
          onSort={() => setSorting({ by, isDescending: isThis && !sorting.isDescending })}
          help={help}
        />
      ),
    };
  };
  const columns: Column<Monitor>[] = [
    {
      name: "name",
      ...sortedBy("Monitor", "name"),
      cell: (it) => (
        <>
          <Link
            to="/p/$project/monitors/$monitor"
            params={{ project: project.name, monitor: it.name }}
            className={styles.name}
          >
            {it.name}
          </Link>
          <MonitorStatus monitor={it} /> <AlertCount monitor={it} />
        </>
      ),
    },
    {
      name: "watches",
      head: "Scope",
      about: "Sample rate: the share of finished traces of these agents that the judge grades.",
      entry: "sample-rate",
      cell: (it) => <MonitorScope monitor={it} />,
      wide: true,
    },
    {
      name: "score",
      ...sortedBy("Score", "score", ESTIMATED_SCORE),
      cell: (it) => <MonitorScore monitor={it} />,
    },
    {
      name: "trend",
      head: "By day",
      ...DAILY_SCORES,
      wide: true,
      cell: (it) => <MonitorSparklines monitor={it} />,
    },
    {
      name: "passes",
      ...sortedBy("Pass rate", "passes", PASS_RATE),
      cell: (it) => <MonitorPassRate monitor={it} />,
      wide: true,
    },
    {
      name: "errors",
      ...sortedBy("Judge errors", "errors", JUDGE_ERROR_RATE),
      align: "end",
      cell: (it) => percent(it.figures?.error_rate),
      wide: true,
    },
    {
      name: "spend",
      ...sortedBy("Spent this month", "spend", SPENT),
      align: "end",
      cell: (it) => <MonitorSpend monitor={it} />,
    },
  ];
  return (
    <Table caption="Monitors" columns={columns} rows={sortMonitors(all, sorting)} keyOf={(it) => it.id} />
  );
}

/** Links to the alerts of a monitor while there are active ones. */
function AlertCount({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const { data } = useQuery(openAlertsQuery(project.id));
  const n = data?.items.filter((alert) => alert.monitor === monitor.name).length ?? 0;
  if (n === 0) return null;
  return (
    <Link to="/p/$project/alerts" params={{ project: project.name }}>
      <Badge tone="fail">! {plural(n, "alert")}</Badge>
    </Link>
  );
}

/** One line for each agent, as far as they fit. */
function MonitorSparklines({ monitor }: { monitor: Monitor }) {
  return monitor.figures?.agents
    .slice(0, 3)
    .map(({ agent, days }) => <Sparkline key={agent} points={days} about={`Score of ${agent} by day`} />);
}

/** Whether a monitor runs, or why it is paused. */
export function MonitorStatus({ monitor }: { monitor: Monitor }) {
  if (monitor.paused == null) return <Badge tone="pass">running</Badge>;
  return (
    <>
      <Badge tone="fail">paused</Badge>
      <div className={styles.why}>{monitor.paused}</div>
    </>
  );
}

function MonitorScope({ monitor }: { monitor: Monitor }) {
  return (
    <>
      {percent(monitor.sample_rate)} of {monitor.agents.join(", ")}
      <div className={styles.soft}>judged by {judgesOf(monitor)}</div>
    </>
  );
}

function MonitorScore({ monitor }: { monitor: Monitor }) {
  const found = monitor.figures?.score;
  const scale = useScoreScale(monitor.version.rubric_version);
  if (!found) return <span className={styles.soft}>{noScoreYet(monitor.figures?.states)}</span>;
  return (
    <span className={styles.figure}>
      <span>
        <ScaledScore mean={found.mean} interval={intervalOf(found)} scale={scale} />
      </span>
      <Interval mean={found.mean} interval={intervalOf(found)} mark={monitor.pass_mark} scale={scale} />
    </span>
  );
}

function MonitorPassRate({ monitor }: { monitor: Monitor }) {
  const rate = monitor.figures?.pass_rate;
  return rate ? (
    <>
      {percent(rate.mean)} <span className={styles.soft}>{percentRange(intervalOf(rate))}</span>
    </>
  ) : (
    "–"
  );
}

function MonitorSpend({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const { data } = useQuery(spendQuery(project.id));
  return monitor.figures ? formatMoney(monitor.figures.spent_this_month, data?.cap) : "–";
}

function NoMonitors() {
  return (
    <Notice title="No monitors yet">
      <p>A monitor grades a sample of the traces of your agents and estimates the score of all traffic.</p>
      <p>Create one here, or apply a file from the command line:</p>
      <CodeBlock text={`jurist monitor apply support.yaml --server ${location.origin}`} />
    </Notice>
  );
}
