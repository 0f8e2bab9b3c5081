import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { percent, percentRange } from "../chart/figures";
import { Interval } from "../chart/Interval";
import { ScaledScore } from "../chart/ScaledScore";
import { Sparkline } from "../chart/Sparkline";
import { intervalOf, type Monitor, overallOf, since, windowQuery } from "../monitors/queries";
import { noScoreYet } from "../monitors/traceStates";
import { useScoreScale } from "../rubrics/scales";
import { Badge } from "../ui/Badge";
import { DAILY_SCORES } from "../ui/explanations";
import { count } from "../ui/format";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import type { AgentRow } from "./agentRows";
import styles from "./Overview.module.css";
import { DEFAULT_RECENT_DAYS } from "./search";

/** `Last 7 days`, `Today`. */
export const daysInWords = (days: number): string => (days === 1 ? "Today (UTC)" : `Last ${days} days`);

/** Agents with the figures of their monitors. */
export function AgentTable({ rows }: { rows: AgentRow[] }) {
  const project = useProject();
  const { days = DEFAULT_RECENT_DAYS } = useSearch({ from: "/p/$project/" });
  const columns: Column<AgentRow>[] = [
    {
      name: "agent",
      head: "Agent",
      cell: (it) => (
        <>
          <Link to="/p/$project/traces" params={{ project: project.name }} search={{ agent: it.agent }}>
            {it.agent}
          </Link>
          <div className={styles.soft}>{it.seen ? <Time at={it.seen} /> : "no traces yet"}</div>
        </>
      ),
    },
    {
      name: "monitor",
      head: "Monitor",
      cell: (it) =>
        it.monitor ? (
          <>
            <Link
              to="/p/$project/monitors/$monitor"
              params={{ project: project.name, monitor: it.monitor.name }}
              search={it.monitor.agents.length > 1 ? { agent: it.agent } : {}}
            >
              {it.monitor.name}
            </Link>{" "}
            {it.monitor.paused != null && <Badge tone="fail">paused</Badge>}
          </>
        ) : (
          <span className={styles.soft}>none</span>
        ),
    },
    {
      name: "score",
      head: "Score, 30 days",
      about:
        "Estimated score of all traffic of the last 30 days, with its 95 % confidence interval; on the scale of the rubric, where it has one, and from 0 to 1. The dotted line is the pass mark.",
      entry: "confidence-interval",
      cell: (it) => it.monitor && <AgentScore agent={it.agent} monitor={it.monitor} />,
    },
    {
      name: "week",
      head: daysInWords(days),
      about:
        "The same estimate for the period that is chosen above. Compare it with the score of 30 days to see a recent change.",
      entry: "confidence-interval",
      wide: true,
      cell: (it) => it.monitor && <AgentRecentScore agent={it.agent} monitor={it.monitor} days={days} />,
    },
    {
      name: "passes",
      head: "Pass rate",
      about: "Estimated share of all traffic with the verdict pass.",
      entry: "verdict",
      wide: true,
      cell: (it) => it.monitor && <AgentPassRate agent={it.agent} monitor={it.monitor} />,
    },
    {
      name: "trend",
      head: "Trend",
      ...DAILY_SCORES,
      wide: true,
      cell: (it) => it.monitor && <AgentTrend agent={it.agent} monitor={it.monitor} />,
    },
    {
      name: "coverage",
      head: "Scored / finished",
      about:
        "Traces with a score from the current rubric version and judge, out of the finished traces that this version decided about.",
      entry: "sample-rate",
      align: "end",
      wide: true,
      cell: (it) => it.monitor && <AgentCoverage agent={it.agent} monitor={it.monitor} />,
    },
    {
      name: "errors",
      head: "Judge errors",
      about:
        "Share of judge calls of this monitor that failed, over all agents. A failed call is never counted as a score.",
      entry: "judge",
      align: "end",
      wide: true,
      cell: (it) => it.monitor && percent(it.monitor.figures?.error_rate),
    },
  ];
  return (
    <section className={styles.part}>
      <h2>Agents</h2>
      {rows.length === 0 ? (
        <p className={styles.soft}>
          No agent has sent a trace yet.{" "}
          <Link to="/p/$project/traces" params={{ project: project.name }}>
            How to send traces
          </Link>
        </p>
      ) : (
        <Table
          caption="Agents"
          columns={columns}
          rows={rows}
          keyOf={(it) => `${it.agent} ${it.monitor?.id ?? ""}`}
        />
      )}
    </section>
  );
}

type MonitoredAgent = { agent: string; monitor: Monitor };

const figuresOf = ({ agent, monitor }: MonitoredAgent) =>
  monitor.figures?.agents.find((it) => it.agent === agent);

function AgentScore(of: MonitoredAgent) {
  const score = figuresOf(of)?.score;
  const scale = useScoreScale(of.monitor.version.rubric_version);
  if (!score) return <span className={styles.soft}>{noScoreYet(of.monitor.figures?.states)}</span>;
  return (
    <span className={styles.figure}>
      <span>
        <ScaledScore mean={score.mean} interval={intervalOf(score)} scale={scale} />
      </span>
      <Interval mean={score.mean} interval={intervalOf(score)} mark={of.monitor.pass_mark} scale={scale} />
    </span>
  );
}

/** The estimate of a recent period, because an average of thirty days hides what fell a week ago. */
function AgentRecentScore({ agent, monitor, days }: MonitoredAgent & { days: number }) {
  const project = useProject();
  // Today is one of the days.
  const window = { from: since(days - 1) ?? "", agent: monitor.agents.length > 1 ? agent : undefined };
  const { data } = useQuery(windowQuery(project.id, monitor.name, window));
  const overall = overallOf(data?.judges.find((judge) => judge.is_current));
  if (!overall?.score) return <span className={styles.soft}>–</span>;
  const { mean, interval } = overall.score;
  return <ScaledScore mean={mean} interval={interval} scale={overall.native} isMinor />;
}

function AgentPassRate(of: MonitoredAgent) {
  const rate = figuresOf(of)?.pass_rate;
  if (!rate) return "–";
  return (
    <>
      {percent(rate.mean)} <span className={styles.soft}>{percentRange(intervalOf(rate))}</span>
    </>
  );
}

function AgentTrend(of: MonitoredAgent) {
  return <Sparkline points={figuresOf(of)?.days ?? []} about={`Score of ${of.agent} by day`} />;
}

function AgentCoverage(of: MonitoredAgent) {
  const it = figuresOf(of);
  return it ? `${count(it.n)} of ${count(it.n_seen)}` : "–";
}
