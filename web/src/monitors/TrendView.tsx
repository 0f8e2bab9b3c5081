import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { TrendChart } from "../chart/TrendChart";
import { pastAlertsQuery } from "../money/queries";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import styles from "./Monitors.module.css";
import { type Monitor, type TrafficWindow, type Trend, trendQuery } from "./queries";

/** What stands between the names of judges that are heard together. */
const PANEL = " + ";

/** Day by day; a new version of the rubric begins a new line. */
export function TrendView({ monitor }: { monitor: Monitor }) {
  const { agent, days, criterion } = useSearch({ from: "/p/$project/monitors/$monitor" });
  return (
    <section className={styles.part}>
      <MonitorTrend monitor={monitor} look={{ agent, days }} criterion={criterion} />
      <p>
        A line that leaves the band of its own past indicates a real change. Lines of different rubric
        versions are not comparable; a re-score measures the offset between them.
      </p>
    </section>
  );
}

type MonitorTrendProps = {
  monitor: Monitor;
  look: TrafficWindow;
  criterion?: string;
  /** Only what several judges say together, where there are several. */
  together?: boolean;
};

export function MonitorTrend({ monitor, look, criterion, together }: MonitorTrendProps) {
  const project = useProject();
  const found = useQuery(trendQuery(project.id, monitor.name, look, criterion));
  const alerts = useQuery(pastAlertsQuery(project.id));
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
            series={all.map((it) => ({ name: named(it, all), points: it.points }))}
            passMark={criterion ? undefined : monitor.pass_mark}
            signs={signs}
          />
        );
      }}
    </Loaded>
  );
}

/** Whether another line of the same version is of several judges, this one among them. */
const isMember = (it: Trend, all: Trend[]): boolean =>
  all.some(
    (other) =>
      other.rubric_version === it.rubric_version &&
      other.judge.split(PANEL).length > 1 &&
      other.judge.split(PANEL).includes(it.judge),
  );

/** As little of an id as tells lines apart. */
function named(it: Trend, all: Trend[]): string {
  const isOne = new Set(all.map((other) => other.rubric_version)).size === 1;
  return isOne ? it.judge : `${it.judge} · …${it.rubric_version.slice(-6)}`;
}
