import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { may, useProject } from "../api/session";
import { fixed } from "../chart/figures";
import { AlertState } from "../money/AlertState";
import { BudgetMeter } from "../money/BudgetMeter";
import { alertSentence, formatCap, formatMoney, PROJECTED_SPEND } from "../money/format";
import { openAlertsQuery, pastAlertsQuery, spendQuery } from "../money/queries";
import { countsOf, VerdictBar } from "../runs/CaseStrip";
import { RunScore } from "../runs/RunScore";
import { Badge } from "../ui/Badge";
import { N_ANSWERS, SPENT } from "../ui/explanations";
import { Select } from "../ui/Field";
import { count } from "../ui/format";
import { KeyFigures } from "../ui/KeyFigures";
import { Loaded } from "../ui/Loaded";
import { PageHead } from "../ui/PageHead";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import { AgentTable, daysInWords } from "./AgentTable";
import { rowsOf } from "./agentRows";
import { FirstSteps } from "./FirstSteps";
import { MonitorFocus } from "./MonitorFocus";
import styles from "./Overview.module.css";
import { overviewQuery } from "./queries";
import { DEFAULT_RECENT_DAYS, RECENT_DAYS } from "./search";
import { WeeklyChanges } from "./WeeklyChanges";

/** The first page of a project: the overview, or the annotation tasks for people who may only annotate. */
export function OverviewPage() {
  const project = useProject();
  if (may(project, "read")) return <ProjectOverview />;
  return <Navigate to="/p/$project/annotate" params={{ project: project.name }} replace />;
}

function ProjectOverview() {
  const project = useProject();
  const found = useQuery(overviewQuery(project));
  // Loaded at once, although the sections that show them wait for the rest.
  useQuery(openAlertsQuery(project.id));
  useQuery(pastAlertsQuery(project.id));
  useQuery(spendQuery(project.id));
  return (
    <>
      <PageHead
        title="Overview"
        book="explanation/sampling.html"
        about={
          found.data && isEmpty(found.data)
            ? "This page shows alerts, agents, spend and runs once there are some."
            : "Estimates for all traffic of the last 30 days, with 95 % confidence intervals."
        }
      >
        {found.data && !isEmpty(found.data) && <RecentPeriod />}
      </PageHead>
      <Loaded query={found} what="the project">
        {(all) => {
          if (isEmpty(all)) return <FirstSteps />;
          const { agents, monitors, runs, tasks } = all;
          return (
            <div className={styles.parts}>
              <ActiveAlerts />
              <AgentTable rows={rowsOf(agents, monitors)} />
              <div className={styles.columns}>
                <div className={styles.parts}>
                  <MonthSpend />
                  <LatestRuns runs={runs} />
                  <TaskSummary tasks={tasks} />
                </div>
                {monitors.length > 0 && <WeeklyChanges monitors={monitors} />}
              </div>
              <MonitorFocus monitors={monitors} />
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

type OverviewContent = { agents: unknown[]; monitors: unknown[]; runs: unknown[]; tasks: TaskLine[] };

/** A project with tasks only is not empty. */
const isEmpty = ({ agents, monitors, runs, tasks }: OverviewContent): boolean =>
  agents.length + monitors.length + runs.length === 0 && !tasks.some((it) => it.may.manage);

/** Active alerts; nothing is drawn where there are none. */
function ActiveAlerts() {
  const project = useProject();
  const { data } = useQuery(openAlertsQuery(project.id));
  const items = data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <section className={styles.alerts} aria-label="Active alerts">
      <ul>
        {items.slice(0, 4).map((it) => (
          <li key={it.id}>
            <AlertState alert={it} /> <span>{alertSentence(it)}</span>
          </li>
        ))}
      </ul>
      <Link to="/p/$project/alerts" params={{ project: project.name }}>
        {items.length > 4 ? `All ${items.length} alerts` : "Alerts"}
      </Link>
    </section>
  );
}

/** The period of the second score column and of the trend below. */
function RecentPeriod() {
  const { days = DEFAULT_RECENT_DAYS } = useSearch({ from: "/p/$project/" });
  const navigate = useNavigate({ from: "/p/$project/" });
  return (
    <Select
      label="Compare with"
      value={String(days)}
      options={RECENT_DAYS.map((it) => ({
        value: String(it),
        label: daysInWords(it).replace(/^./, (letter) => letter.toLowerCase()),
      }))}
      onChange={(it) => {
        const chosen = Number(it.target.value);
        navigate({
          search: (before) => ({ ...before, days: chosen === DEFAULT_RECENT_DAYS ? undefined : chosen }),
          replace: true,
          resetScroll: false,
        });
      }}
    />
  );
}

/** Spend of this month, its projection and the cap. */
function MonthSpend() {
  const project = useProject();
  const spend = useQuery(spendQuery(project.id));
  return (
    <section className={styles.part} aria-labelledby="month">
      <h2 id="month">
        <Link to="/p/$project/budget" params={{ project: project.name }}>
          This month
        </Link>
      </h2>
      <Loaded query={spend} what="the month">
        {(it) => {
          const share = it.cap ? (it.cap.dollars === 0 ? 1 : it.spent / it.cap.dollars) : null;
          const money = (dollars: number) => formatMoney(dollars, it.cap);
          return (
            <>
              <KeyFigures
                all={[
                  {
                    name:
                      it.cap && share !== null
                        ? `spent of ${formatCap(it.cap)} (${fixed(100 * share, 0)} %)`
                        : "spent, no cap set",
                    ...SPENT,
                    value: money(it.spent),
                  },
                  {
                    name: "projected month-end spend",
                    about: PROJECTED_SPEND,
                    book: "money.html#the-forecast",
                    value: it.forecast ? money(it.forecast.expected) : "–",
                  },
                ]}
              />
              {it.cap && share !== null && <BudgetMeter spend={it} share={share} dollars={it.cap.dollars} />}
              <p className={styles.soft}>
                {it.forecast
                  ? `80 % interval ${money(it.forecast.low)} to ${money(it.forecast.high)}; ${fixed(100 * it.elapsed, 0)} % of the month elapsed`
                  : `no projection yet: ${it.no_forecast ?? ""}`}
              </p>
              {it.forecast?.reaches_cap && (
                <p className={styles.warning}>
                  the cap will be reached on {it.forecast.reaches_cap.slice(0, 10)}; judging stops then
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

type TaskLine = Schemas["TaskLine"];

/** Tasks that are shown here; the page Annotate lists all. */
const MOST_TASKS = 4;

/** Annotation tasks with links to their results and agreement. */
function TaskSummary({ tasks }: { tasks: TaskLine[] }) {
  const project = useProject();
  const shown = tasks.filter((it) => it.may.manage).slice(0, MOST_TASKS);
  if (shown.length === 0) return null;
  const params = (it: TaskLine) => ({ project: project.name, task: it.id });
  const columns: Column<TaskLine>[] = [
    {
      name: "task",
      head: "Task",
      cell: (it) => (
        <Link to="/p/$project/annotate/$task/overview" params={params(it)}>
          {it.name}
        </Link>
      ),
    },
    {
      name: "answers",
      head: "Answers",
      ...N_ANSWERS,
      align: "end",
      // No number is wanted where everybody answers everything, and more than it may be given.
      cell: ({ progress: it }) =>
        it.n_wanted >= it.n_submitted && it.n_wanted > 0
          ? `${count(it.n_submitted)} of ${count(it.n_wanted)}`
          : count(it.n_submitted),
    },
    {
      name: "results",
      head: "Results",
      align: "end",
      cell: (it) => (
        <Link
          to="/p/$project/annotate/$task/results"
          params={params(it)}
          aria-label={`Results of ${it.name}`}
        >
          Results
        </Link>
      ),
    },
    {
      name: "agreement",
      head: "Agreement",
      align: "end",
      cell: (it) => (
        <Link
          to="/p/$project/annotate/$task/agreement"
          params={params(it)}
          aria-label={`Agreement on ${it.name}`}
        >
          Agreement
        </Link>
      ),
    },
  ];
  return (
    <section className={styles.part}>
      <h2>
        <Link to="/p/$project/annotate" params={{ project: project.name }}>
          Annotation tasks
        </Link>
      </h2>
      <Table caption="Annotation tasks" columns={columns} rows={shown} keyOf={(it) => it.id} />
    </section>
  );
}

type RunLine = Schemas["RunLine"];

function LatestRuns({ runs }: { runs: RunLine[] }) {
  const project = useProject();
  const total = (it: RunLine) => it.n_pass + it.n_fail + it.n_error + it.n_deferred;
  const columns: Column<RunLine>[] = [
    {
      name: "suite",
      head: "Suite",
      cell: (it) => (
        <>
          <Link to="/p/$project/runs/$run" params={{ project: project.name, run: it.id }}>
            {it.suite ?? "unnamed suite"}
          </Link>{" "}
          {!it.ended && <Badge tone="accent">running</Badge>}
        </>
      ),
    },
    {
      name: "shares",
      head: "Verdicts",
      about: "Cases by verdict: passed, failed, with an error, deferred.",
      entry: "verdict",
      wide: true,
      cell: (it) => <VerdictBar n={countsOf(it)} total={total(it)} />,
    },
    {
      name: "pass",
      head: "Pass",
      about: "Cases with the verdict pass, of all cases.",
      entry: "verdict",
      align: "end",
      cell: (it) => `${it.n_pass}/${total(it)}`,
    },
    {
      name: "score",
      head: "Score",
      about:
        "Mean score of the cases that were graded; on the scale of the rubrics, where they share one, and from 0 (worst) to 1 (best).",
      entry: "score",
      align: "end",
      cell: (it) => <RunScore run={it} />,
    },
    { name: "began", head: "Started", align: "end", cell: (it) => <Time at={it.started} /> },
  ];
  return (
    <section className={styles.part}>
      <h2>
        <Link to="/p/$project/runs" params={{ project: project.name }}>
          Latest runs
        </Link>
      </h2>
      {runs.length === 0 ? (
        <p className={styles.soft}>
          No runs yet. Start one: <code>jurist eval suite.yaml --server {location.origin}</code>
        </p>
      ) : (
        <Table caption="Latest runs" columns={columns} rows={runs} keyOf={(it) => it.id} />
      )}
    </section>
  );
}
