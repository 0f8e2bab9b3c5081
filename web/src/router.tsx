// All routes. Filters and selections are search parameters, so that addresses can be shared.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { readAgreementSearch, readDisputesSearch, readResultsSearch } from "./annotate/search";
import { readCompareSearch } from "./compare/search";
import { readDatasetSearch, readDatasetsSearch } from "./datasets/search";
import { readAlertsSearch, readBudgetSearch } from "./money/search";
import { readMonitorSearch } from "./monitors/search";
import { readOverviewSearch } from "./overview/search";
import { readRankingSearch } from "./ranking/search";
import { readRubricSearch } from "./rubrics/search";
import { readHistorySearch, readRunSearch, readRunsSearch } from "./runs/search";
import { readAuditSearch } from "./settings/search";
import { JoinPage } from "./shell/JoinPage";
import { JoinByCrowd } from "./shell/JoinTask";
import { FailedPage, HomePage, NotFoundNotice, NotFoundPage, ProjectShell, RootLayout } from "./shell/Shell";
import { SignInPage } from "./shell/SignInPage";
import { readSignInSearch } from "./shell/search";
import { readTraceSearch, readTracesSearch } from "./traces/search";

const root = createRootRoute({ component: RootLayout, notFoundComponent: NotFoundPage });

const home = createRoute({ getParentRoute: () => root, path: "/", component: HomePage });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: readSignInSearch,
  component: SignInPage,
});

const join = createRoute({ getParentRoute: () => root, path: "/join", component: JoinPage });

const joinTask = createRoute({
  getParentRoute: () => root,
  path: "/annotate/$task",
  component: JoinByCrowd,
});

const project = createRoute({
  getParentRoute: () => root,
  path: "/p/$project",
  component: ProjectShell,
  notFoundComponent: NotFoundNotice,
});

const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import("./overview/OverviewPage"), "OverviewPage"),
});

const runs = createRoute({
  getParentRoute: () => project,
  path: "runs",
  validateSearch: readRunsSearch,
  component: lazyRouteComponent(() => import("./runs/RunsPage"), "RunsPage"),
});

const history = createRoute({
  getParentRoute: () => project,
  path: "history",
  validateSearch: readHistorySearch,
  component: lazyRouteComponent(() => import("./runs/HistoryPage"), "HistoryPage"),
});

const run = createRoute({
  getParentRoute: () => project,
  path: "runs/$run",
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import("./runs/RunPage"), "RunPage"),
});

const traces = createRoute({
  getParentRoute: () => project,
  path: "traces",
  validateSearch: readTracesSearch,
  component: lazyRouteComponent(() => import("./traces/TracesPage"), "TracesPage"),
});

const trace = createRoute({
  getParentRoute: () => project,
  path: "traces/$trace",
  validateSearch: readTraceSearch,
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
  component: lazyRouteComponent(() => import("./annotate/AssignmentPage"), "NextAssignmentPage"),
});

const work = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/$assignment",
  component: lazyRouteComponent(() => import("./annotate/AssignmentPage"), "AssignmentPage"),
});

const task = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/overview",
  component: lazyRouteComponent(() => import("./annotate/TaskPage"), "TaskPage"),
});

const results = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/results",
  validateSearch: readResultsSearch,
  component: lazyRouteComponent(() => import("./annotate/ResultsPage"), "ResultsPage"),
});

const people = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/people",
  component: lazyRouteComponent(() => import("./annotate/PeoplePage"), "PeoplePage"),
});

const disputes = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/disputes",
  validateSearch: readDisputesSearch,
  component: lazyRouteComponent(() => import("./annotate/DisputesPage"), "DisputesPage"),
});

const agreement = createRoute({
  getParentRoute: () => project,
  path: "annotate/$task/agreement",
  validateSearch: readAgreementSearch,
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

const monitor = createRoute({
  getParentRoute: () => project,
  path: "monitors/$monitor",
  validateSearch: readMonitorSearch,
  component: lazyRouteComponent(() => import("./monitors/MonitorPage"), "MonitorPage"),
});

const compare = createRoute({
  getParentRoute: () => project,
  path: "compare",
  validateSearch: readCompareSearch,
  component: lazyRouteComponent(() => import("./compare/ComparePage"), "ComparePage"),
});

const ranking = createRoute({
  getParentRoute: () => project,
  path: "ranking",
  validateSearch: readRankingSearch,
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

const rubric = createRoute({
  getParentRoute: () => project,
  path: "rubrics/$rubric",
  validateSearch: readRubricSearch,
  component: lazyRouteComponent(() => import("./rubrics/RubricPage"), "RubricPage"),
});

const datasets = createRoute({
  getParentRoute: () => project,
  path: "datasets",
  validateSearch: readDatasetsSearch,
  component: lazyRouteComponent(() => import("./datasets/DatasetsPage"), "DatasetsPage"),
});

const dataset = createRoute({
  getParentRoute: () => project,
  path: "datasets/$dataset",
  validateSearch: readDatasetSearch,
  component: lazyRouteComponent(() => import("./datasets/DatasetPage"), "DatasetPage"),
});

const budget = createRoute({
  getParentRoute: () => project,
  path: "budget",
  validateSearch: readBudgetSearch,
  component: lazyRouteComponent(() => import("./money/BudgetPage"), "BudgetPage"),
});

const alerts = createRoute({
  getParentRoute: () => project,
  path: "alerts",
  validateSearch: readAlertsSearch,
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

const audit = createRoute({
  getParentRoute: () => project,
  path: "settings/audit",
  validateSearch: readAuditSearch,
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
    history,
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
    datasets,
    dataset,
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

export const router = createRouter({
  routeTree: tree,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: FailedPage,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
