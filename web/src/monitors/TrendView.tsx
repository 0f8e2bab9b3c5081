import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { sharedEndsOf } from "../chart/figures";
import { DAY_MS } from "../chart/scale";
import { type LinkOf, TrendChart } from "../chart/TrendChart";
import { pastAlertsQuery } from "../money/queries";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import styles from "./Monitors.module.css";
import { type Monitor, type TrafficWindow, type Trend, trendQuery } from "./queries";
import { useVersionNames } from "./versions";

/** Separates the names of judges that form a panel. */
const PANEL = " + ";

/** Scores by day; a new rubric version starts a new line. */
export function TrendView({ monitor }: { monitor: Monitor }) {
  const { agent, days, criterion } = useSearch({ from: "/p/$project/monitors/$monitor" });
  return (
    <section className={styles.part}>
      <MonitorTrend monitor={monitor} look={{ agent, days }} criterion={criterion} />
      <p>
        A line that leaves the band of the days before indicates a real change. Lines of different rubric
        versions are not comparable; a re-score measures the offset between them.
      </p>
    </section>
  );
}

type MonitorTrendProps = {
  monitor: Monitor;
  look: TrafficWindow;
  criterion?: string;
  /** Only the lines of panels, where there are any. */
  together?: boolean;
};

export function MonitorTrend({ monitor, look, criterion, together }: MonitorTrendProps) {
  const project = useProject();
  const found = useQuery(trendQuery(project.id, monitor.name, look, criterion));
  const scale = sharedEndsOf((found.data ?? []).map((it) => it.scale));
  const alerts = useQuery(pastAlertsQuery(project.id));
  const versionOf = useVersionNames(monitor.name);
  const linkOf = useLinkToTraces(monitor, look.agent);
  const signs = (alerts.data?.items ?? [])
    .filter(
      (alert) =>
        alert.monitor === monitor.name &&
        (!look.agent || !alert.agent || alert.agent === look.agent) &&
        (!criterion || !alert.criterion || alert.criterion === criterion),
    )
    .map((it) => ({ time: it.raised, text: it.message }));
  return (
    <Loaded query={found} what="the trend">
      {(found) => {
        const all = together ? found.filter((it) => !isMember(it, found)) : found;
        return all.every((it) => it.points.length === 0) ? (
          <Notice title="No day has a score yet">
            <p>Each day with scored traces becomes a point.</p>
          </Notice>
        ) : (
          <TrendChart
            title="Score by day with 95 % confidence interval; the band is the confidence sequence of the mean of all days so far"
            series={all.map((it) => ({ name: nameOfLine(it, all, versionOf), points: it.points }))}
            scale={scale}
            linkOf={linkOf}
            passMark={criterion ? undefined : monitor.pass_mark}
            signs={signs}
          />
        );
      }}
    </Loaded>
  );
}

/** Links the mark of a day to the scored traces that started on it. */
function useLinkToTraces(monitor: Monitor, agent: string | undefined): LinkOf {
  const project = useProject();
  const only = agent ?? (monitor.agents.length === 1 ? monitor.agents[0] : undefined);
  return (day, label, mark) => (
    <Link
      to="/p/$project/traces"
      params={{ project: project.name }}
      search={{
        agent: only,
        scored: true,
        from: `${day}T00:00:00Z`,
        until: new Date(Date.parse(day) + DAY_MS).toISOString().replace(".000", ""),
      }}
      aria-label={`Traces of ${label}`}
    >
      {mark}
    </Link>
  );
}

/** Whether a panel with this judge has a line of its own. */
const isMember = (it: Trend, all: Trend[]): boolean =>
  all.some(
    (other) =>
      other.rubric_version === it.rubric_version &&
      other.judge.split(PANEL).length > 1 &&
      other.judge.split(PANEL).includes(it.judge),
  );

/** The judge, and the rubric version where there are several. */
function nameOfLine(line: Trend, all: Trend[], nameOf: (id: string) => string): string {
  const isOne = new Set(all.map((other) => other.rubric_version)).size === 1;
  return isOne ? line.judge : `${line.judge}, ${nameOf(line.rubric_version)}`;
}
