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

/** Agents that are drawn on top of each other; more could not be told apart. */
const MOST = 6;

/** One monitor more closely: its agents by criterion, and how it went. */
export function MonitorFocus({ monitors }: { monitors: Monitor[] }) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/" });
  const navigate = useNavigate({ from: "/p/$project/" });
  const alerts = useQuery(openAlertsQuery(project.id));
  const isTold = (it: Monitor) => alerts.data?.items.some((alert) => alert.monitor === it.name);
  // Unless told, the one that something is said about.
  const monitor = monitors.find((it) => it.name === search.monitor) ?? monitors.find(isTold) ?? monitors[0];
  if (!monitor) return null;
  // Nothing is drawn that would be taken away once alerts are known.
  if (alerts.isPending && monitor.name !== search.monitor) return <LoadingNotice what="alerts" />;
  const agent = monitor.agents.find((it) => it === search.agent);
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
        <MonitorTrend monitor={monitor} look={{ agent }} together />
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
        {(it) => <ServerChart title={`Score by criterion: ${agents.join(", ")}`} drawn={it} />}
      </Loaded>
    </div>
  );
}
