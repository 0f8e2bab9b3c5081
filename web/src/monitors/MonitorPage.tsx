import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { percent } from "../chart/figures";
import { AlertLink } from "../money/AlertLink";
import { AlertState } from "../money/AlertState";
import { alertSentence, formatMoney } from "../money/format";
import { openAlertsQuery, spendQuery, spentBy } from "../money/queries";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field, Select } from "../ui/Field";
import { Form, FormError, useFields } from "../ui/Form";
import { Loaded } from "../ui/Loaded";
import { PageHead } from "../ui/PageHead";
import { Tabs } from "../ui/Tabs";
import { useToast } from "../ui/Toast";
import { MonitorEstimates } from "./MonitorEstimates";
import { MonitorFile } from "./MonitorFile";
import styles from "./Monitors.module.css";
import { MonitorTraces } from "./MonitorTraces";
import { estimatesQuery, judgesOf, type Monitor, monitorQuery, trendQuery } from "./queries";
import { Rescores } from "./Rescores";
import { Sampling } from "./Sampling";
import type { MonitorView } from "./search";
import { TrendView } from "./TrendView";
import { useVersionNames } from "./versions";

const VIEWS: { name: MonitorView; label: string }[] = [
  { name: "figures", label: "Estimates" },
  { name: "trend", label: "Trend" },
  { name: "traces", label: "Traces" },
  { name: "dial", label: "Sampling" },
  { name: "again", label: "Re-score" },
  { name: "file", label: "File" },
];

/** One monitor: its estimates, trend, traces, sample rate, re-scores and file. */
export function MonitorPage() {
  const project = useProject();
  const { monitor: name } = useParams({ from: "/p/$project/monitors/$monitor" });
  const monitor = useQuery(monitorQuery(project.id, name));
  // Loaded at once, although the views that show them wait for the monitor.
  const { view, agent, days } = useSearch({ from: "/p/$project/monitors/$monitor" });
  const enabled = view === undefined;
  useQuery({ ...estimatesQuery(project.id, name, { agent, days }), enabled });
  useQuery({ ...trendQuery(project.id, name, { agent, days }, "*"), enabled });
  return (
    <Loaded query={monitor} what="the monitor">
      {(it) => <MonitorDetail key={it.id} monitor={it} />}
    </Loaded>
  );
}

function MonitorDetail({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/monitors/$monitor" });
  const navigate = useNavigate({ from: "/p/$project/monitors/$monitor" });
  const spend = useQuery(spendQuery(project.id));
  const versionOf = useVersionNames(monitor.name);
  const view = search.view ?? "figures";
  return (
    <>
      <PageHead
        up={
          <Link to="/p/$project/monitors" params={{ project: project.name }}>
            Monitors
          </Link>
        }
        title={monitor.name}
        book="monitor.html"
        about={
          <>
            Sample rate {percent(monitor.sample_rate)} · {monitor.agents.length === 1 ? "agent" : "agents"}{" "}
            {monitor.agents.join(", ")} ·{" "}
            {monitor.judges.length > 0 && (monitor.judges.length === 1 ? "judge " : "judges ")}
            {judgesOf(monitor)}
            {spend.data && (
              <> · {formatMoney(spentBy(spend.data, monitor), spend.data.cap)} spent this month</>
            )}{" "}
            · rubric{" "}
            <span title={monitor.version.rubric_version}>{versionOf(monitor.version.rubric_version)}</span>
          </>
        }
      >
        {may(project, "write") && monitor.paused == null && <PauseButton monitor={monitor} />}
      </PageHead>
      {monitor.paused != null && <PausedBanner monitor={monitor} />}
      <MonitorAlerts monitor={monitor} />
      <Tabs
        label="Views of the monitor"
        tabs={VIEWS}
        selected={view}
        onSelect={(name) =>
          navigate({
            search: (before) => ({
              days: before.days,
              agent: before.agent,
              criterion: before.criterion,
              view: name === "figures" ? undefined : name,
            }),
            replace: true,
          })
        }
      >
        <div className={styles.parts}>
          {(view === "figures" || view === "trend") && <TrafficFilter monitor={monitor} />}
          {view === "figures" && <MonitorEstimates monitor={monitor} />}
          {view === "trend" && <TrendView monitor={monitor} />}
          {view === "traces" && <MonitorTraces monitor={monitor} />}
          {view === "dial" && <Sampling monitor={monitor} />}
          {view === "again" && <Rescores monitor={monitor} />}
          {view === "file" && <MonitorFile monitor={monitor} />}
        </div>
      </Tabs>
    </>
  );
}

/** Active alerts about this monitor, its agents and its criteria. */
function MonitorAlerts({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const { data } = useQuery(openAlertsQuery(project.id));
  const alerts = (data?.items ?? []).filter((alert) => alert.monitor === monitor.name);
  if (alerts.length === 0) return null;
  return (
    <section className={styles.alerts} aria-label="Active alerts">
      <ul>
        {alerts.map((alert) => (
          <li key={alert.id}>
            <AlertState alert={alert} /> {alertSentence(alert)}{" "}
            {(alert.agent || alert.criterion) && <AlertLink alert={alert} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

const WINDOWS = [
  { value: "7", label: "last 7 days" },
  { value: "", label: "last 30 days" },
  { value: "90", label: "last 90 days" },
  { value: "365", label: "last year" },
];

/** Time range, agent and criterion that the estimates are for. */
function TrafficFilter({ monitor }: { monitor: Monitor }) {
  const search = useSearch({ from: "/p/$project/monitors/$monitor" });
  const navigate = useNavigate({ from: "/p/$project/monitors/$monitor" });
  const set = (change: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  // Thirty days is the default, also where a link names it.
  const own = search.days === 30 ? "" : String(search.days ?? "");
  const isOther = !WINDOWS.some((it) => it.value === own);
  return (
    <search className={styles.look} aria-label="Filter traffic">
      <Select
        label="Time range"
        value={own}
        options={isOther ? [...WINDOWS, { value: own, label: `last ${own} days` }] : WINDOWS}
        onChange={(it) => set({ days: Number(it.target.value) || undefined })}
      />
      {(monitor.agents.length > 1 || search.agent) && (
        <Select
          label="Agent"
          value={search.agent ?? ""}
          options={[
            { value: "", label: "all agents" },
            ...[...new Set([...monitor.agents, ...(search.agent ? [search.agent] : [])])].map((it) => ({
              value: it,
              label: it,
            })),
          ]}
          onChange={(it) => set({ agent: it.target.value || undefined })}
        />
      )}
      {search.view === "trend" && (
        <Select
          label="Criterion"
          value={search.criterion ?? ""}
          options={[
            { value: "", label: "overall" },
            ...[...new Set([...monitor.criteria, ...(search.criterion ? [search.criterion] : [])])].map(
              (it) => ({ value: it, label: it }),
            ),
          ]}
          onChange={(it) => set({ criterion: it.target.value || undefined })}
        />
      )}
    </search>
  );
}

function usePausing(monitor: Monitor, onDone?: () => void) {
  const project = useProject();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { paused: boolean; reason?: string }) =>
      unwrap(
        api(project.id).PATCH("/api/v1/monitors/{name}", { params: { path: { name: monitor.name } }, body }),
      ),
    onSuccess: (changed) => {
      queries.setQueryData(monitorQuery(project.id, monitor.name).queryKey, changed);
      queries.invalidateQueries({ queryKey: ["monitors", project.id] });
      onDone?.();
    },
  });
}

function PauseButton({ monitor }: { monitor: Monitor }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Pause…</Button>
      {open && <PauseDialog monitor={monitor} onClose={() => setOpen(false)} />}
    </>
  );
}

function PauseDialog({ monitor, onClose }: { monitor: Monitor; onClose: () => void }) {
  const toast = useToast();
  const [{ reason }, bind] = useFields({ reason: "" });
  const pausing = usePausing(monitor, () => {
    toast(`${monitor.name} is paused.`);
    onClose();
  });
  const asked = {
    ...pausing,
    mutate: () => pausing.mutate({ paused: true, reason: reason.trim() || undefined }),
  };
  return (
    <Dialog title={`Pause ${monitor.name}?`} onClose={onClose}>
      <Form asked={asked} does="Pause">
        <p>A paused monitor judges nothing. Traces that it samples wait until it is resumed.</p>
        <Field label="Reason" hint="Shown on the page of the monitor." maxLength={500} {...bind("reason")} />
      </Form>
    </Dialog>
  );
}

function PausedBanner({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const toast = useToast();
  const resuming = usePausing(monitor, () => toast(`${monitor.name} is running again.`));
  return (
    <div className={styles.banner} role="status">
      <span>
        <b>Paused:</b> {monitor.paused}
      </span>
      {may(project, "write") && (
        <Button onClick={() => resuming.mutate({ paused: false })} disabled={resuming.isPending}>
          Resume
        </Button>
      )}
      <FormError error={resuming.error} />
    </div>
  );
}
