// Every address there is. What is worth sharing about a page is in its address.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { Joining } from "./shell/Joining";
import { JoinByCrowd } from "./shell/JoinTask";
import { Home, NotFound, ProjectShell, Root } from "./shell/Shell";
import { SignIn } from "./shell/SignIn";

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });

const text = (it: unknown): string | undefined =>
  typeof it === "string" && it !== "" ? it : typeof it === "number" ? String(it) : undefined;
const number = (it: unknown): number | undefined => {
  const found = typeof it === "number" || typeof it === "string" ? Number(it) : Number.NaN;
  return it !== "" && Number.isFinite(found) ? found : undefined;
};
const flag = (it: unknown): boolean | undefined =>
  it === true || it === "true" ? true : it === false || it === "false" ? false : undefined;
const share = (it: unknown): number | undefined => {
  const found = number(it);
  return found !== undefined && found >= 0.01 && found <= 1 ? found : undefined;
};
const oneOf =
  <Name extends string>(...names: Name[]) =>
  (it: unknown): Name | undefined =>
    names.find((name) => name === it);

const home = createRoute({ getParentRoute: () => root, path: "/", component: Home });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (it: Record<string, unknown>): { next?: string } => ({ next: text(it.next) }),
  component: SignIn,
});

const join = createRoute({ getParentRoute: () => root, path: "/join", component: Joining });

const joinTask = createRoute({
  getParentRoute: () => root,
  path: "/annotate/$task",
  component: JoinByCrowd,
});

const project = createRoute({ getParentRoute: () => root, path: "/p/$project", component: ProjectShell });

/** Which monitor is looked at more closely, and which of its agents. */
export type OverviewSearch = { monitor?: string; agent?: string };

const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  validateSearch: (it: Record<string, unknown>): OverviewSearch => ({
    monitor: text(it.monitor),
    agent: text(it.agent),
  }),
  component: lazyRouteComponent(() => import("./overview/OverviewPage"), "ProjectHome"),
});

const runs = createRoute({
  getParentRoute: () => project,
  path: "runs",
  component: lazyRouteComponent(() => import("./runs/RunsPage"), "RunsPage"),
});

const shown = oneOf("pass", "fail", "error", "deferred");
export type RunView = "cases" | "criteria" | "matrix" | "flaky";
export type RunSearch = {
  view?: RunView;
  status?: "pass" | "fail" | "error" | "deferred";
  find?: string;
  case?: number;
  /** What the matrix has as its axes. */
  rows?: string;
  columns?: string;
};

const run = createRoute({
  getParentRoute: () => project,
  path: "runs/$run",
  validateSearch: (it: Record<string, unknown>): RunSearch => ({
    view: oneOf<RunView>("cases", "criteria", "matrix", "flaky")(it.view),
    status: shown(it.status),
    find: text(it.find),
    case: number(it.case),
    rows: text(it.rows),
    columns: text(it.columns),
  }),
  component: lazyRouteComponent(() => import("./runs/RunPage"), "RunPage"),
});

export type TracesSearch = {
  agent?: string;
  session?: string;
  state?: string;
  status?: string;
  failed?: boolean;
  verdict?: "pass" | "fail" | "error" | "deferred";
  scored?: boolean;
  from?: string;
  until?: string;
  min_cost?: number;
  min_duration_ms?: number;
  id_prefix?: string;
  search?: string;
  sort?: TraceSort;
};

const traceSort = oneOf("time", "-time", "cost", "-cost", "duration", "-duration", "score", "-score");
export type TraceSort = NonNullable<ReturnType<typeof traceSort>>;

const traces = createRoute({
  getParentRoute: () => project,
  path: "traces",
  validateSearch: (it: Record<string, unknown>): TracesSearch => ({
    agent: text(it.agent),
    session: text(it.session),
    state: text(it.state),
    status: text(it.status),
    failed: flag(it.failed),
    verdict: shown(it.verdict),
    scored: flag(it.scored),
    from: text(it.from),
    until: text(it.until),
    min_cost: number(it.min_cost),
    min_duration_ms: number(it.min_duration_ms),
    id_prefix: text(it.id_prefix),
    search: text(it.search),
    sort: traceSort(it.sort),
  }),
  component: lazyRouteComponent(() => import("./traces/TracesPage"), "TracesPage"),
});

export type TraceSearch = {
  step?: number;
  find?: string;
  /** What judges were asked and said. */
  exchanges?: boolean;
};

const trace = createRoute({
  getParentRoute: () => project,
  path: "traces/$trace",
  validateSearch: (it: Record<string, unknown>): TraceSearch => ({
    step: number(it.step),
    find: text(it.find),
    exchanges: flag(it.exchanges),
  }),
  component: lazyRouteComponent(() => import("./traces/TracePage"), "TracePage"),
});

const annotate = createRoute({
  getParentRoute: () => project,
  path: "annotate",
  component: lazyRouteComponent(() => import("./annotate/TasksPage"), "TasksPage"),
});

const nextWork = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task",
  component: lazyRouteComponent(() => import("./annotate/WorkPage"), "NextPage"),
});

const work = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/$assignment",
  component: lazyRouteComponent(() => import("./annotate/WorkPage"), "WorkPage"),
});

const task = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/overview",
  component: lazyRouteComponent(() => import("./annotate/TaskPage"), "TaskPage"),
});

export type ResultsSearch = { by?: string };

const results = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/results",
  validateSearch: (it: Record<string, unknown>): ResultsSearch => ({ by: text(it.by) }),
  component: lazyRouteComponent(() => import("./annotate/ResultsPage"), "ResultsPage"),
});

const people = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/people",
  component: lazyRouteComponent(() => import("./annotate/PeoplePage"), "PeoplePage"),
});

export type DisputesSearch = { item?: string; row?: string; only?: string; decided?: boolean };

const disputes = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/disputes",
  validateSearch: (it: Record<string, unknown>): DisputesSearch => ({
    item: text(it.item),
    row: text(it.row),
    only: text(it.only),
    decided: flag(it.decided),
  }),
  component: lazyRouteComponent(() => import("./annotate/DisputesPage"), "DisputesPage"),
});

export type AgreementSearch = {
  pairs?: string;
  judge?: string;
  on?: string;
  all?: boolean;
  /** An item that is looked at. */
  item?: string;
};

const agreement = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/agreement",
  validateSearch: (it: Record<string, unknown>): AgreementSearch => ({
    pairs: text(it.pairs),
    judge: text(it.judge),
    on: text(it.on),
    all: flag(it.all),
    item: text(it.item),
  }),
  component: lazyRouteComponent(() => import("./annotate/AgreementPage"), "AgreementPage"),
});

const monitors = createRoute({
  getParentRoute: () => project,
  path: "monitors",
  component: lazyRouteComponent(() => import("./monitors/MonitorsPage"), "MonitorsPage"),
});

const newMonitor = createRoute({
  getParentRoute: () => project,
  path: "new-monitor",
  component: lazyRouteComponent(() => import("./monitors/NewMonitorPage"), "NewMonitorPage"),
});

export type MonitorView = "figures" | "trend" | "traces" | "dial" | "again" | "file";
export type MonitorSearch = {
  view?: MonitorView;
  days?: number;
  agent?: string;
  criterion?: string;
  state?: string;
  stratum?: string;
  disputed?: boolean;
  /** Where the dial would be. */
  rate?: number;
  /** A trace to put among the anchors of its file. */
  good?: string;
  bad?: string;
};

const monitor = createRoute({
  getParentRoute: () => project,
  path: "monitors/$monitor",
  validateSearch: (it: Record<string, unknown>): MonitorSearch => ({
    view: oneOf<MonitorView>("figures", "trend", "traces", "dial", "again", "file")(it.view),
    days: number(it.days),
    agent: text(it.agent),
    criterion: text(it.criterion),
    state: text(it.state),
    stratum: text(it.stratum),
    disputed: flag(it.disputed),
    rate: share(it.rate),
    good: text(it.good),
    bad: text(it.bad),
  }),
  component: lazyRouteComponent(() => import("./monitors/MonitorPage"), "MonitorPage"),
});

/** `before` may be several, with commas between them. */
export type CompareSearch = { before?: string; after?: string };

const compare = createRoute({
  getParentRoute: () => project,
  path: "compare",
  validateSearch: (it: Record<string, unknown>): CompareSearch => ({
    before: text(it.before),
    after: text(it.after),
  }),
  component: lazyRouteComponent(() => import("./compare/ComparePage"), "ComparePage"),
});

/** Who compared: judges of monitors, or the people of a task. */
export type RankingSearch = { monitor?: string; judge?: string; task?: string };

const ranking = createRoute({
  getParentRoute: () => project,
  path: "ranking",
  validateSearch: (it: Record<string, unknown>): RankingSearch => ({
    monitor: text(it.monitor),
    judge: text(it.judge),
    task: text(it.task),
  }),
  component: lazyRouteComponent(() => import("./ranking/RankingPage"), "RankingPage"),
});

const rubrics = createRoute({
  getParentRoute: () => project,
  path: "rubrics",
  component: lazyRouteComponent(() => import("./rubrics/RubricsPage"), "RubricsPage"),
});

const newRubric = createRoute({
  getParentRoute: () => project,
  path: "new-rubric",
  component: lazyRouteComponent(() => import("./rubrics/RubricsPage"), "NewRubricPage"),
});

export type RubricView = "preview" | "prompt" | "changes" | "try" | "file";
export type RubricSearch = {
  view?: RubricView;
  version?: string;
  from?: string;
  /** Which traces to try it on. */
  traces?: string[];
  agent?: string;
  newest?: number;
};

const rubric = createRoute({
  getParentRoute: () => project,
  path: "rubrics/$rubric",
  validateSearch: (it: Record<string, unknown>): RubricSearch => ({
    view: oneOf<RubricView>("preview", "prompt", "changes", "try", "file")(it.view),
    version: text(it.version),
    from: text(it.from),
    traces: Array.isArray(it.traces) ? it.traces.flatMap((one) => text(one) ?? []) : undefined,
    agent: text(it.agent),
    newest: number(it.newest),
  }),
  component: lazyRouteComponent(() => import("./rubrics/RubricPage"), "RubricPage"),
});

const budget = createRoute({
  getParentRoute: () => project,
  path: "budget",
  validateSearch: (it: Record<string, unknown>): { month?: string } => ({
    month: /^\d{4}-\d{2}$/.test(String(it.month)) ? String(it.month) : undefined,
  }),
  component: lazyRouteComponent(() => import("./money/BudgetPage"), "BudgetPage"),
});

const alerts = createRoute({
  getParentRoute: () => project,
  path: "alerts",
  validateSearch: (it: Record<string, unknown>): { all?: boolean } => ({ all: flag(it.all) }),
  component: lazyRouteComponent(() => import("./money/AlertsPage"), "AlertsPage"),
});

const notifications = createRoute({
  getParentRoute: () => project,
  path: "settings/notifications",
  component: lazyRouteComponent(() => import("./money/NotificationsPage"), "NotificationsPage"),
});

const settings = createRoute({
  getParentRoute: () => project,
  path: "settings",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/p/$project/settings/members", params });
  },
});

const members = createRoute({
  getParentRoute: () => project,
  path: "settings/members",
  component: lazyRouteComponent(() => import("./settings/MembersPage"), "MembersPage"),
});

const tokens = createRoute({
  getParentRoute: () => project,
  path: "settings/tokens",
  component: lazyRouteComponent(() => import("./settings/TokensPage"), "TokensPage"),
});

const judges = createRoute({
  getParentRoute: () => project,
  path: "settings/judges",
  component: lazyRouteComponent(() => import("./settings/JudgesPage"), "JudgesPage"),
});

const data = createRoute({
  getParentRoute: () => project,
  path: "settings/data",
  component: lazyRouteComponent(() => import("./settings/DataPage"), "DataPage"),
});

export type AuditSearch = { actor?: string; action?: string };

const audit = createRoute({
  getParentRoute: () => project,
  path: "settings/audit",
  validateSearch: (it: Record<string, unknown>): AuditSearch => ({
    actor: text(it.actor),
    action: text(it.action),
  }),
  component: lazyRouteComponent(() => import("./settings/AuditPage"), "AuditPage"),
});

const tree = root.addChildren([
  home,
  signIn,
  join,
  joinTask,
  project.addChildren([
    projectHome,
    runs,
    run,
    traces,
    trace,
    annotate,
    nextWork,
    work,
    task,
    results,
    people,
    disputes,
    agreement,
    monitors,
    newMonitor,
    monitor,
    compare,
    ranking,
    rubrics,
    newRubric,
    rubric,
    budget,
    alerts,
    notifications,
    settings,
    members,
    tokens,
    judges,
    data,
    audit,
  ]),
]);

export const router = createRouter({ routeTree: tree, defaultPreload: "intent", scrollRestoration: true });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
