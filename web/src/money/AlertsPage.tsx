import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { Button } from "../ui/Button";
import { FormError } from "../ui/Form";
import { Loaded } from "../ui/Loaded";
import { Menu, MenuItem } from "../ui/Menu";
import { MoreButton } from "../ui/MoreButton";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { PlannedTime, Time } from "../ui/Time";
import { AlertLink } from "./AlertLink";
import { AlertState, isSnoozed } from "./AlertState";
import { describeAlertChecks } from "./alertChecks";
import styles from "./Budget.module.css";
import { alertSentence } from "./format";
import { type Alert, alertsQuery } from "./queries";

/** Alerts of the project: spend, falling scores, failing judges. */
export function AlertsPage() {
  const project = useProject();
  const { all } = useSearch({ from: "/p/$project/alerts" });
  const navigate = useNavigate({ from: "/p/$project/alerts" });
  const alerts = useInfiniteQuery(alertsQuery(project.id, all ?? false));
  return (
    <>
      <PageHead
        title="Alerts"
        book="monitor.html#alerts"
        about="Alerts are deduplicated per cause and raised again after they are resolved."
      >
        <label>
          <input
            type="checkbox"
            checked={all === true}
            onChange={(it) => navigate({ search: { all: it.target.checked || undefined }, replace: true })}
          />{" "}
          Show resolved alerts
        </label>
      </PageHead>
      <Loaded query={alerts} what="alerts">
        {({ pages }) => {
          const rows = pages.flatMap((it) => it.items);
          if (rows.length === 0)
            return <NoAlerts all={all === true} checks={describeAlertChecks(pages[0] ?? {})} />;
          return (
            <>
              <AlertTable rows={rows} />
              <MoreButton query={alerts} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function NoAlerts({ all, checks }: { all: boolean; checks: string }) {
  const project = useProject();
  return (
    <Notice title="No alerts">
      <p>
        {all ? "No alert was ever raised." : "No alert is active."} Alerts report falling scores, failing
        judges, paused monitors and budgets that run out
        {may(project, "manage") ? (
          <>
            . Set up{" "}
            <Link to="/p/$project/settings/notifications" params={{ project: project.name }}>
              notifications
            </Link>
            .
          </>
        ) : (
          "."
        )}
      </p>
      <p>{checks}</p>
    </Notice>
  );
}

/** What raises an alert of each kind. */
const KINDS: Record<string, string> = {
  score_drop: "The score fell below the confidence sequence of the days before.",
  threshold: "A figure is below or above the limit in the monitor file.",
  error_rate: "Too many judge calls of the monitor fail.",
  judge_disagreement: "Two judges of the monitor disagree more than before.",
  no_data: "No traces arrived for longer than usual.",
  monitor_paused: "The monitor stopped grading.",
  budget_stop: "The monitor's own budget is used up, so traces are not judged.",
  spend: "The projected spend of the month exceeds the cap.",
  spend_stop: "The monthly cap is used up, so judging has stopped.",
};

function AlertKind({ kind }: { kind: string }) {
  const about = KINDS[kind];
  const label = <span className={styles.short}>{kind.replaceAll("_", " ")}</span>;
  return about ? <Term about={about}>{label}</Term> : label;
}

/** What happened to an alert, in order. */
function AlertHistory({ alert }: { alert: Alert }) {
  const events = [
    { what: "raised", at: alert.raised },
    { what: "notified", at: alert.sent },
    { what: "acknowledged", at: alert.acknowledged },
    { what: "snoozed until", at: alert.snoozed_until, Shown: PlannedTime },
    { what: "resolved", at: alert.resolved },
  ];
  return (
    <ol className={styles.history}>
      {events.map(
        ({ what, at, Shown = Time }) =>
          at && (
            <li key={what}>
              {what} <Shown at={at} />
            </li>
          ),
      )}
    </ol>
  );
}

const SNOOZES = [
  { label: "1 hour", hours: 1 },
  { label: "1 day", hours: 24 },
  { label: "1 week", hours: 168 },
];

/** No notification for a while, also if the cause returns; then a reminder if the alert is active and not acknowledged. */
function SnoozeMenu({ alert, onChoose }: { alert: Alert; onChoose: (hours: number) => void }) {
  return (
    <Menu label={`Snooze: ${alert.message}`} button="Snooze" look="plain" align="end">
      {(close) => (
        <>
          {SNOOZES.map(({ label, hours }) => (
            <MenuItem key={hours} close={close} onChoose={() => onChoose(hours)}>
              {label}
            </MenuItem>
          ))}
          {isSnoozed(alert) && (
            <MenuItem close={close} onChoose={() => onChoose(0)}>
              End the snooze
            </MenuItem>
          )}
        </>
      )}
    </Menu>
  );
}

function AlertTable({ rows }: { rows: Alert[] }) {
  const project = useProject();
  const queries = useQueryClient();
  const onSuccess = () => queries.invalidateQueries({ queryKey: ["alerts", project.id] });
  const acknowledging = useMutation({
    mutationFn: (id: string) =>
      unwrap(api(project.id).POST("/api/v1/alerts/{id}/acknowledge", { params: { path: { id } } })),
    onSuccess,
  });
  const snoozing = useMutation({
    mutationFn: ({ id, hours }: { id: string; hours: number }) =>
      unwrap(
        api(project.id).POST("/api/v1/alerts/{id}/snooze", { params: { path: { id } }, body: { hours } }),
      ),
    onSuccess,
  });
  const columns: Column<Alert>[] = [
    {
      name: "message",
      head: "Alert",
      cell: (alert) => (
        <>
          <div className={styles.message}>{alertSentence(alert)}</div>
          <div className={styles.beneath}>
            <AlertLink alert={alert} /> · <Time at={alert.raised} />
          </div>
        </>
      ),
    },
    {
      name: "about",
      head: "About",
      wide: true,
      cell: (alert) => (
        <>
          <AlertLink alert={alert} />
          {alert.monitor && (
            <>
              {" · "}
              <Link
                to="/p/$project/monitors/$monitor"
                params={{ project: project.name, monitor: alert.monitor }}
                search={{ view: "traces", agent: alert.agent ?? undefined }}
              >
                traces
              </Link>
            </>
          )}
        </>
      ),
    },
    {
      name: "kind",
      head: "Kind",
      about:
        "The rule that raised the alert, such as a score that fell significantly or a budget that is spent.",
      book: "money.html#alerts",
      cell: (it) => <AlertKind kind={it.kind} />,
      wide: true,
    },
    {
      name: "state",
      head: "State",
      about:
        "Active until the cause is gone. An acknowledged alert stays active; a snoozed one sends no notifications for some time.",
      book: "money.html#alerts",
      cell: (it) => <AlertState alert={it} />,
    },
    {
      name: "history",
      head: "History",
      about: "When the alert was raised, acknowledged and resolved.",
      book: "money.html#alerts",
      cell: (it) => <AlertHistory alert={it} />,
      wide: true,
    },
    {
      name: "seen",
      head: <span className="visually-hidden">Actions</span>,
      align: "end",
      cell: (it) =>
        it.resolved == null &&
        may(project, "write") && (
          <div className={styles.actions}>
            {it.acknowledged == null && (
              <Button
                onClick={() => acknowledging.mutate(it.id)}
                disabled={acknowledging.isPending}
                aria-label={`Acknowledge: ${it.message}`}
              >
                Acknowledge
              </Button>
            )}
            <SnoozeMenu alert={it} onChoose={(hours) => snoozing.mutate({ id: it.id, hours })} />
          </div>
        ),
    },
  ];
  return (
    <>
      <FormError error={acknowledging.error ?? snoozing.error} />
      <Table caption="Alerts" columns={columns} rows={rows} keyOf={(it) => it.id} stacked />
    </>
  );
}
