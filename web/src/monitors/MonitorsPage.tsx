import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { may, useProject } from "../api/session";
import { percent, percentRange, range3, score3 } from "../chart/figures";
import { Interval } from "../chart/Interval";
import { spendQuery } from "../money/doors";
import { spoken } from "../money/say";
import { PageHead } from "../shell/Shell";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { type Column, Table } from "../ui/Table";
import { intervalOf, judgesOf, type Monitor, monitorsQuery } from "./doors";
import styles from "./Monitors.module.css";
import { noScoreYet } from "./states";

export function MonitorsPage() {
  const project = useProject();
  const monitors = useQuery(monitorsQuery(project.id));
  return (
    <>
      <PageHead
        title="Monitors"
        about="Standing rubrics over live traces. Figures are of all traffic of the last thirty days, with 95 % intervals."
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
        {(all) => (all.length === 0 ? <NoneYet /> : <Monitors all={all} />)}
      </Loaded>
    </>
  );
}

function Monitors({ all }: { all: Monitor[] }) {
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
          <Paused monitor={it} />
        </>
      ),
    },
    { name: "watches", head: "Watches", cell: (it) => <Watches monitor={it} />, wide: true },
    { name: "score", head: "Score", cell: (it) => <ScoreOf monitor={it} /> },
    { name: "passes", head: "Passes", cell: (it) => <PassesOf monitor={it} />, wide: true },
    {
      name: "errors",
      head: "Judge errors",
      align: "end",
      cell: (it) => percent(it.figures?.error_rate),
      wide: true,
    },
    { name: "spend", head: "This month", align: "end", cell: (it) => <SpentOf monitor={it} /> },
  ];
  return <Table caption="Monitors" columns={columns} rows={all} keyOf={(it) => it.id} />;
}

/** Says so where a monitor judges nothing, and why. */
export function Paused({ monitor }: { monitor: Monitor }) {
  if (monitor.paused == null) return <Badge tone="pass">watching</Badge>;
  return (
    <>
      <Badge tone="fail">paused</Badge>
      <div className={styles.why}>{monitor.paused}</div>
    </>
  );
}

function Watches({ monitor }: { monitor: Monitor }) {
  return (
    <>
      {percent(monitor.sample_rate)} of {monitor.agents.join(", ")}
      <div className={styles.soft}>judged by {judgesOf(monitor)}</div>
    </>
  );
}

function ScoreOf({ monitor }: { monitor: Monitor }) {
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

function PassesOf({ monitor }: { monitor: Monitor }) {
  const rate = monitor.figures?.pass_rate;
  return rate ? (
    <>
      {percent(rate.mean)} <span className={styles.soft}>{percentRange(intervalOf(rate))}</span>
    </>
  ) : (
    "–"
  );
}

function SpentOf({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const { data } = useQuery(spendQuery(project.id));
  return monitor.figures ? spoken(monitor.figures.spent_this_month, data?.cap) : "–";
}

function NoneYet() {
  return (
    <State title="Nothing is watched">
      <p>A monitor judges a sample of what your agents do, and says what that means for all of it.</p>
      <p>Write one here, or apply a file from the command line:</p>
      <pre>{`jurist monitor apply support.yaml --server ${location.origin}`}</pre>
    </State>
  );
}
