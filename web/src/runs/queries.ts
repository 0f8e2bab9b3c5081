import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap, unwrapAs } from "../api/client";
import { loadAllPages, PAGE_SIZE } from "../api/pages";
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

export type RunAnswer = Schemas["RunAnswer"];

/** Places of the plan in one request for answers. */
export const ANSWER_PAGE = 50;

/** Answers of the places of one page; `nKnown` results of it have arrived. */
export const answerPageQuery = (project: string, run: string, page: number, nKnown: number) =>
  queryOptions({
    queryKey: ["run-answers", project, run, page, nKnown],
    queryFn: async ({ signal }) => {
      const query = { limit: ANSWER_PAGE, ...(page > 0 ? { after: page * ANSWER_PAGE - 1 } : {}) };
      const params = { path: { id: run }, query };
      const { items } = await unwrap(api(project).GET("/api/v1/runs/{id}/answers", { params, signal }));
      // Where places are missing, there are some of the next page as well.
      return items.filter((item) => Math.floor(item.place / ANSWER_PAGE) === page);
    },
    staleTime: Number.POSITIVE_INFINITY,
    // Answers that were loaded stay while a new one of the same page is.
    placeholderData: keepPreviousData,
  });

/** Milliseconds after which all answers of a run in progress are loaded again. */
const ANSWERS_REFRESH = 10_000;

/** Hashes of the answers of a run by place: equal answers have equal hashes. A run that has ended does not change. */
export const answerHashesQuery = (project: string, run: string, isEnded: boolean) =>
  queryOptions({
    queryKey: ["run-answers", project, run, "hashes", isEnded],
    queryFn: async ({ signal }) => {
      const answers = await loadAllPages((after: number | undefined) => {
        const params = { path: { id: run }, query: { limit: PAGE_SIZE, after } };
        return unwrap(api(project).GET("/api/v1/runs/{id}/answers", { params, signal }));
      });
      const hashes = new Map<number, string>();
      for (const { place, answer_hash } of answers) if (answer_hash) hashes.set(place, answer_hash);
      return hashes;
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: isEnded ? false : ANSWERS_REFRESH,
    placeholderData: keepPreviousData,
  });

export type RunLabel = Schemas["RunLabelView"];

/** Labels of people for the cases of a run. */
export const runLabelsQuery = (project: string, run: string) =>
  queryOptions({
    queryKey: ["run-labels", project, run],
    queryFn: () =>
      loadAllPages((after: string | undefined) => {
        const params = { path: { id: run }, query: { limit: PAGE_SIZE, after } };
        return unwrap(api(project).GET("/api/v1/runs/{id}/labels", { params }));
      }),
  });

/** Sets the own label of a case; without a verdict it is removed. */
export const putRunLabel = (project: string, run: string, entry: Schemas["RunLabelEntry"]) =>
  unwrap(api(project).PUT("/api/v1/runs/{id}/labels", { params: { path: { id: run } }, body: entry }));

/** Starts a run of some cases of another one. */
export const rerunCases = (project: string, run: string, cases: string[]) =>
  unwrap(api(project).POST("/api/v1/runs/{id}/rerun", { params: { path: { id: run } }, body: { cases } }));

export type RunHistory = Schemas["RunHistory"];
export type HistoryPoint = Schemas["HistoryPoint"];

/** Score and pass rate of a suite's runs over time. */
export const historyQuery = (project: string, asked: { suite?: string; branch?: string; limit?: number }) =>
  queryOptions({
    queryKey: ["runs", project, "history", asked],
    queryFn: () =>
      unwrapAs<RunHistory>(api(project).GET("/api/v1/run-history", { params: { query: asked } })),
  });
