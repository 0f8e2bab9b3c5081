// Monitors and their figures as the server tells them.
import { queryOptions } from "@tanstack/react-query";
import { answered, api, type Schemas, unlisted } from "../api/client";
import type { Range } from "../chart/figures";
import type { Drawn } from "../chart/Picture";
import { DAY_MS } from "../chart/scale";
import type { TrendPoint } from "../chart/TrendChart";

export type Monitor = Schemas["MonitorView"] & { figures?: MonitorFigures | null };

/** A mean over all traffic in short. */
export type Figure = { mean: number; interval: Range; n: number };

/** How a monitor does in the traffic of thirty days, by its version in use. */
export type MonitorFigures = {
  judge?: string | null;
  score?: Figure | null;
  pass_rate?: Figure | null;
  error_rate?: number | null;
  states: Record<string, number>;
  spent_this_month: number;
  agents: { agent: string; n_seen: number; n: number; score?: Figure | null; pass_rate?: Figure | null }[];
};
export type Decision = Schemas["DecisionView"];
export type Rescore = Omit<Schemas["RescoreView"], "score"> & { score?: Traffic | null };
export type RescorePlan = Schemas["RescorePlan"];
export type Trend = Omit<Schemas["Trend"], "points"> & { points: TrendPoint[] };

// The API's description knows these as objects only.

/** A mean over all traffic. */
export type Traffic = {
  mean: number;
  se: number;
  interval: Range;
  naive: number;
  n: number;
  n_eff: number;
  population: number;
  covered: number;
  error_rate: number;
  if_errors_scored: Range;
  strata: Stratum[];
  warnings: string[];
};

export type Stratum = {
  name: string;
  n_seen: number;
  population: number;
  n: number;
  n_errors: number;
  n_unjudged: number;
  mean?: number | null;
  interval?: Range | null;
  not_estimable?: string | null;
};

export type Corrected = { mean: number; se: number; interval: Range; n_labels: number; lambda: number };

export type CriterionEstimate = {
  criterion?: string | null;
  score?: Traffic | null;
  pass_rate?: Traffic | null;
  corrected?: Corrected | null;
  not_estimable?: string | null;
};

export type JudgeEstimates = {
  rubric_version: string;
  judge: string;
  is_current: boolean;
  criteria: CriterionEstimate[];
};

export type Estimates = {
  monitor: string;
  from: string;
  until: string;
  states: Schemas["StateCount"][];
  judges: JudgeEstimates[];
};

/** Which traffic is looked at; thirty days of all agents unless told. */
export type Look = { agent?: string; days?: number };

const REFRESH = 10_000;

/** The first moment of the day so many days ago, of UTC. */
export function since(days: number | undefined, now = Date.now()): string | undefined {
  if (days === undefined) return undefined;
  return new Date(Math.floor(now / DAY_MS) * DAY_MS - days * DAY_MS).toISOString().replace(".000", "");
}

const queryOf = ({ agent, days }: Look) => ({ agent, from: since(days) });

/** All of them, each with how it does. */
export const monitorsOf = (project: string) => unlisted<Monitor[]>(project, "/monitors", { figures: true });

export const monitorsQuery = (project: string) =>
  queryOptions({
    queryKey: ["monitors", project],
    queryFn: () => monitorsOf(project),
    refetchInterval: REFRESH,
  });

export const monitorQuery = (project: string, name: string) =>
  queryOptions({
    queryKey: ["monitor", project, name],
    queryFn: () => answered(api(project).GET("/api/v1/monitors/{name}", { params: { path: { name } } })),
    refetchInterval: REFRESH,
  });

export const estimatesQuery = (project: string, name: string, look: Look = {}) =>
  queryOptions({
    queryKey: ["estimates", project, name, look],
    queryFn: async () => {
      const params = { path: { name }, query: queryOf(look) };
      return (await answered(
        api(project).GET("/api/v1/monitors/{name}/estimates", { params }),
      )) as unknown as Estimates;
    },
    refetchInterval: REFRESH,
  });

/** Of one criterion, of all of them by `*`, or of the whole. */
export const trendQuery = (project: string, name: string, look: Look = {}, criterion?: string) =>
  queryOptions({
    queryKey: ["trend", project, name, look, criterion],
    queryFn: async () => {
      const params = { path: { name }, query: { ...queryOf(look), criterion } };
      return (await answered(api(project).GET("/api/v1/monitors/{name}/trend", { params }))) as Trend[];
    },
    refetchInterval: REFRESH * 3,
  });

/** Figures of whole days of UTC. */
export const windowQuery = (project: string, name: string, window: { from: string; until?: string }) =>
  queryOptions({
    queryKey: ["estimates", project, name, window],
    queryFn: async () => {
      const params = { path: { name }, query: window };
      return (await answered(
        api(project).GET("/api/v1/monitors/{name}/estimates", { params }),
      )) as unknown as Estimates;
    },
    staleTime: 60_000,
    refetchInterval: 60_000,
  });

/** Agents by criterion, drawn on top of each other. */
export const radarQuery = (project: string, name: string, agents: string[]) =>
  queryOptions({
    queryKey: ["radar", project, name, agents],
    queryFn: () => unlisted<Drawn>(project, `/monitors/${encodeURIComponent(name)}/radar`, { agent: agents }),
    refetchInterval: REFRESH * 3,
  });

/** What a share of the traffic would cost in a month, and how wide intervals would be. */
export type Projected = {
  sample_rate: number;
  traces_a_month: number;
  judged_a_month: number;
  cost?: { value: number; low?: number | null; high?: number | null } | null;
  half_width: { score?: number | null; pass_rate?: number | null };
};
export type Projection = Projected & { now: Projected };

export const projectionQuery = (project: string, name: string, sample_rate: number) =>
  queryOptions({
    queryKey: ["projection", project, name, sample_rate],
    queryFn: () =>
      unlisted<Projection>(project, `/monitors/${encodeURIComponent(name)}/projection`, { sample_rate }),
    staleTime: 60_000,
  });

export const rescoresQuery = (project: string, name: string) =>
  queryOptions({
    queryKey: ["rescores", project, name],
    queryFn: async () => {
      const params = { path: { name } };
      return (await answered(
        api(project).GET("/api/v1/monitors/{name}/rescores", { params }),
      )) as unknown as Rescore[];
    },
    refetchInterval: REFRESH,
  });

/** Of the whole rubric. */
export const wholeOf = (found: JudgeEstimates | undefined): CriterionEstimate | undefined =>
  found?.criteria.find((it) => it.criterion == null);

export const nameOf = (it: CriterionEstimate): string => it.criterion ?? "whole";

export const judgesOf = (it: Monitor): string =>
  it.judges.length === 0 ? "the default judge" : it.judges.join(", ");
