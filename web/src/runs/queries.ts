import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap, unwrapAs } from "../api/client";
import { startOfRange } from "../traces/timeRange";
import type { RunsSearch } from "./search";

/** A run as a matrix of two factors of its cases. */
export type Matrix = Schemas["RunMatrix"];
export type Cell = Schemas["MatrixCell"];
export type FlakyCase = Schemas["FlakyCase"];

export const matrixQuery = (project: string, id: string, axes: { rows?: string; columns?: string }) =>
  queryOptions({
    queryKey: ["matrix", project, id, axes],
    queryFn: () => {
      const params = { path: { id }, query: axes };
      return unwrapAs<Matrix>(api(project).GET("/api/v1/runs/{id}/matrix", { params }));
    },
  });

export type CriterionMean = Schemas["CriterionMean"];

export const criteriaQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["criteria", project, id],
    queryFn: () =>
      unwrapAs<Schemas["RunCriteria"]>(
        api(project).GET("/api/v1/runs/{id}/criteria", { params: { path: { id } } }),
      ),
  });

export const flakyQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["flaky", project, id],
    queryFn: () =>
      unwrapAs<Schemas["RunTrials"]>(
        api(project).GET("/api/v1/runs/{id}/flaky", { params: { path: { id } } }),
      ),
  });

export type RunInFull = Schemas["RunInFull"];

export const runQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["run", project, id],
    queryFn: () => unwrapAs<RunInFull>(api(project).GET("/api/v1/runs/{id}", { params: { path: { id } } })),
  });

/** Runs, the newest first. */
export const runsQuery = (project: string, { range, ...filter }: RunsSearch = {}) =>
  infiniteQueryOptions({
    queryKey: ["runs", project, "list", { range, ...filter }],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = { ...filter, from: range && startOfRange(range), after: pageParam };
      return unwrap(api(project).GET("/api/v1/runs", { params: { query } }));
    },
    getNextPageParam: (last) => last.next ?? undefined,
    // Figures of a run in progress change; and others start runs as well.
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.items.some((run) => !run.ended)) ? 2000 : 5000,
  });

export const latestRunsQuery = (project: string, limit: number) =>
  queryOptions({
    queryKey: ["runs", project, "latest", limit],
    queryFn: async () =>
      (await unwrap(api(project).GET("/api/v1/runs", { params: { query: { limit } } }))).items,
  });

/** The result of the case at this place of the plan. */
export const resultQuery = (project: string, run: string, place: number) =>
  queryOptions({
    queryKey: ["result", project, run, place],
    queryFn: async () => {
      const query = { limit: 1, ...(place > 0 ? { after: place - 1 } : {}) };
      const params = { path: { id: run }, query };
      const { items } = await unwrap(api(project).GET("/api/v1/runs/{id}/results", { params }));
      return items.find((item) => item.place === place) ?? null;
    },
  });

export type RunHistory = Schemas["RunHistory"];
export type HistoryPoint = Schemas["HistoryPoint"];

/** Score and pass rate of a suite's runs over time. */
export const historyQuery = (project: string, asked: { suite?: string; branch?: string; limit?: number }) =>
  queryOptions({
    queryKey: ["runs", project, "history", asked],
    queryFn: () =>
      unwrapAs<RunHistory>(api(project).GET("/api/v1/run-history", { params: { query: asked } })),
  });
