import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { may, useProject } from "../api/session";
import { percent, percentRange, range3, score3 } from "../chart/figures";
import { Interval } from "../chart/Interval";
import { formatMoney } from "../money/format";
import { spendQuery } from "../money/queries";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { type Column, Table } from "../ui/Table";
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

function MonitorTable({ all }: { all: Monitor[] }) {
  const project = useProject();
  const columns: Column<Monitor>[] = [
    {
      name: "name",
      head: "Monitor",
      cell: (it) => (
        <>
          <Link
            to="/p/$project/monitors/$monitor"
            params={{ project: project.name, monitor: it.name }}
            className={styles.name}
          >
            {it.name}
          </Link>
          <MonitorStatus monitor={it} />
        </>
      ),
    },
    { name: "watches", head: "Scope", cell: (it) => <MonitorScope monitor={it} />, wide: true },
    { name: "score", head: "Score", cell: (it) => <MonitorScore monitor={it} /> },
    { name: "passes", head: "Pass rate", cell: (it) => <MonitorPassRate monitor={it} />, wide: true },
    {
      name: "errors",
      head: "Judge errors",
      align: "end",
      cell: (it) => percent(it.figures?.error_rate),
      wide: true,
    },
    { name: "spend", head: "Spent this month", align: "end", cell: (it) => <MonitorSpend monitor={it} /> },
  ];
  return <Table caption="Monitors" columns={columns} rows={all} keyOf={(it) => it.id} />;
}

/** Says so where a monitor judges nothing, and why. */
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
  if (!found) return <span className={styles.soft}>{noScoreYet(monitor.figures?.states)}</span>;
  return (
    <span className={styles.figure}>
      <span>
        <b>{score3(found.mean)}</b> {range3(intervalOf(found))}
      </span>
      <Interval mean={found.mean} interval={intervalOf(found)} mark={monitor.pass_mark} />
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
      <pre>{`jurist monitor apply support.yaml --server ${location.origin}`}</pre>
    </Notice>
  );
}
