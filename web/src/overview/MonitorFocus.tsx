import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { ServerChart } from "../chart/ServerChart";
import { openAlertsQuery } from "../money/queries";
import { type Monitor, radarQuery } from "../monitors/queries";
import { MonitorTrend } from "../monitors/TrendView";
import { Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { LoadingNotice } from "../ui/Notice";
import styles from "./Overview.module.css";

/** More agents than that cannot be told apart in one radar chart. */
const MOST = 6;

const SHORTEST_TREND = 7;

/** One monitor in detail: its agents by criterion, and its trend. */
export function MonitorFocus({ monitors }: { monitors: Monitor[] }) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/" });
  const navigate = useNavigate({ from: "/p/$project/" });
  const alerts = useQuery(openAlertsQuery(project.id));
  const hasAlert = (it: Monitor) => alerts.data?.items.some((alert) => alert.monitor === it.name);
  // By default the monitor that has an active alert.
  const monitor = monitors.find((it) => it.name === search.monitor) ?? monitors.find(hasAlert) ?? monitors[0];
  if (!monitor) return null;
  // Which monitor is shown depends on the alerts.
  if (alerts.isPending && monitor.name !== search.monitor) return <LoadingNotice what="alerts" />;
  const agent = monitor.agents.find((it) => it === search.agent);
  // A trend of less than a week has too few points.
  const days = search.days && Math.max(search.days, SHORTEST_TREND);
  const set = (change: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const named = (it: string) => ({ value: it, label: it });
  return (
    <section className={styles.part} aria-labelledby="focus">
      <div className={styles.head}>
        <h2 id="focus">
          <Link
            to="/p/$project/monitors/$monitor"
            params={{ project: project.name, monitor: monitor.name }}
            search={{ agent }}
          >
            {monitor.name}
          </Link>
        </h2>
        <search className={styles.choose} aria-label="Choose a monitor">
          {monitors.length > 1 && (
            <Select
              label="Monitor"
              value={monitor.name}
              options={monitors.map((it) => named(it.name))}
              onChange={(it) => set({ monitor: it.target.value, agent: undefined })}
            />
          )}
          {monitor.agents.length > 1 && (
            <Select
              label="Agent"
              value={agent ?? ""}
              options={[{ value: "", label: "all agents" }, ...monitor.agents.map(named)]}
              onChange={(it) => set({ agent: it.target.value || undefined })}
            />
          )}
        </search>
      </div>
      <div className={styles.pictures}>
        <CriterionRadar monitor={monitor} agents={agent ? [agent] : monitor.agents.slice(0, MOST)} />
        <MonitorTrend monitor={monitor} look={{ agent, days }} together />
      </div>
      {!agent && monitor.agents.length > MOST && (
        <p className={styles.soft}>
          The chart shows the first {MOST} of {monitor.agents.length} agents.
        </p>
      )}
    </section>
  );
}

function CriterionRadar({ monitor, agents }: { monitor: Monitor; agents: string[] }) {
  const project = useProject();
  const found = useQuery(radarQuery(project.id, monitor.name, agents));
  return (
    <div className={styles.radar}>
      <Loaded query={found} what="the radar">
        {(it) => (
          <ServerChart title={`Score by criterion: ${agents.join(", ")}`} dashed="pass mark" drawn={it} />
        )}
      </Loaded>
    </div>
  );
}
