// Monitors and their estimates, as the server describes them.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap, unwrapAs } from "../api/client";
import type { Range } from "../chart/figures";
import { DAY_MS } from "../chart/scale";

export type Monitor = Schemas["MonitorView"];
export type Decision = Schemas["DecisionView"];
export type Rescore = Schemas["RescoreView"];
export type RescorePlan = Schemas["RescorePlan"];
export type Trend = Schemas["MonitorTrend"];
/** A mean over all traffic. */
export type Traffic = Schemas["TrafficView"];
export type Stratum = Schemas["StratumView"];
export type CriterionEstimate = Schemas["CriterionEstimate"];
export type JudgeEstimates = Schemas["JudgeEstimates"];
export type Estimates = Schemas["Estimates"];
/** Cost and interval width per month at one sample rate. */
export type Projected = Schemas["DialView"];
export type Projection = Schemas["DialProjection"];

/** The traffic that estimates are for; by default thirty days of all agents. */
export type TrafficWindow = { agent?: string; days?: number };

const REFRESH = 10_000;

/** The start of the day that many days ago (UTC). */
export function since(days: number | undefined, now = Date.now()): string | undefined {
  if (days === undefined) return undefined;
  return new Date(Math.floor(now / DAY_MS) * DAY_MS - days * DAY_MS).toISOString().replace(".000", "");
}

const queryOf = ({ agent, days }: TrafficWindow) => ({ agent, from: since(days) });

/** The interval of a short figure. */
export const intervalOf = ({ low, high }: Schemas["Figure"]): Range => [low, high];

/** All monitors with their figures. */
export const monitorsOf = (project: string) =>
  unwrapAs<Monitor[]>(api(project).GET("/api/v1/monitors", { params: { query: { figures: true } } }));

export const monitorsQuery = (project: string) =>
  queryOptions({
    queryKey: ["monitors", project],
    queryFn: () => monitorsOf(project),
    refetchInterval: REFRESH,
  });

/** All monitors without figures, which are expensive to compute. */
export const monitorNamesQuery = (project: string) =>
  queryOptions({
    queryKey: ["monitors", project, "watchers"],
    queryFn: () => unwrapAs<Monitor[]>(api(project).GET("/api/v1/monitors")),
  });

export const monitorQuery = (project: string, name: string) =>
  queryOptions({
    queryKey: ["monitor", project, name],
    queryFn: () => unwrap(api(project).GET("/api/v1/monitors/{name}", { params: { path: { name } } })),
    refetchInterval: REFRESH,
  });

export const estimatesQuery = (project: string, name: string, look: TrafficWindow = {}) =>
  queryOptions({
    queryKey: ["estimates", project, name, look],
    queryFn: () => {
      const params = { path: { name }, query: queryOf(look) };
      return unwrapAs<Estimates>(api(project).GET("/api/v1/monitors/{name}/estimates", { params }));
    },
    refetchInterval: REFRESH,
  });

/** The trend of one criterion, of all by `*`, or of the overall score. */
export const trendQuery = (project: string, name: string, look: TrafficWindow = {}, criterion?: string) =>
  queryOptions({
    queryKey: ["trend", project, name, look, criterion],
    queryFn: () => {
      const params = { path: { name }, query: { ...queryOf(look), criterion } };
      return unwrapAs<Trend[]>(api(project).GET("/api/v1/monitors/{name}/trend", { params }));
    },
    refetchInterval: REFRESH * 3,
  });

/** Estimates of whole days (UTC), without the correction by human labels. */
export const windowQuery = (
  project: string,
  name: string,
  window: { from: string; until?: string; agent?: string },
) =>
  queryOptions({
    queryKey: ["estimates", project, name, window],
    queryFn: () => {
      const params = { path: { name }, query: { ...window, corrected: false } };
      return unwrapAs<Estimates>(api(project).GET("/api/v1/monitors/{name}/estimates", { params }));
    },
    staleTime: 60_000,
    refetchInterval: 60_000,
  });

/** A radar chart of agents by criterion. */
export const radarQuery = (project: string, name: string, agents: string[]) =>
  queryOptions({
    queryKey: ["radar", project, name, agents],
    queryFn: () => {
      const params = { path: { name }, query: { agent: agents } };
      return unwrap(api(project).GET("/api/v1/monitors/{name}/radar", { params }));
    },
    refetchInterval: REFRESH * 3,
  });

export const projectionQuery = (project: string, name: string, sample_rate: number) =>
  queryOptions({
    queryKey: ["projection", project, name, sample_rate],
    queryFn: () => {
      const params = { path: { name }, query: { sample_rate } };
      return unwrap(api(project).GET("/api/v1/monitors/{name}/projection", { params }));
    },
    staleTime: 60_000,
  });

export const rescoresQuery = (project: string, name: string) =>
  queryOptions({
    queryKey: ["rescores", project, name],
    queryFn: () =>
      unwrapAs<Rescore[]>(
        api(project).GET("/api/v1/monitors/{name}/rescores", { params: { path: { name } } }),
      ),
    refetchInterval: REFRESH,
  });

/** The estimate of the overall score. */
export const overallOf = (found: JudgeEstimates | undefined): CriterionEstimate | undefined =>
  found?.criteria.find((it) => it.criterion == null);

/** The name of a criterion; without one, the overall score. */
export const nameOf = ({ criterion }: { criterion?: string | null }): string => criterion ?? "overall";

export const judgesOf = (it: Monitor): string =>
  it.judges.length === 0 ? "the default judge" : it.judges.join(", ");

export const monitorVersionsQuery = (project: string, name: string) =>
  queryOptions({
    queryKey: ["monitor-versions", project, name],
    queryFn: () =>
      unwrap(api(project).GET("/api/v1/monitors/{name}/versions", { params: { path: { name } } })),
  });

export type DecisionFilter = {
  state?: string;
  stratum?: string;
  agent?: string;
  disputed?: boolean;
  days?: number;
};

/** What the monitor decided about each trace, page by page. */
export const decisionsQuery = (project: string, name: string, filter: DecisionFilter) =>
  infiniteQueryOptions({
    queryKey: ["decisions", project, name, filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const { days, ...query } = filter;
      const params = { path: { name }, query: { ...query, from: since(days), after: pageParam } };
      return unwrap(api(project).GET("/api/v1/monitors/{name}/decisions", { params }));
    },
    getNextPageParam: (last) => last.next ?? undefined,
  });
