// Comparisons of runs, as `jurist compare` computes them.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrapAs } from "../api/client";
import type { Status } from "../ui/Badge";

/** The maximum number of runs in one comparison of the server. */
export const MOST_RUNS = 8;

export type Difference = Schemas["RunDifference"];
export type Change = Schemas["ChangedCase"] & { before: Status; after: Status };
export type Comparison = Omit<Schemas["RunComparison"], "changed"> & { changed: Change[] };
export type Compared = Omit<Schemas["RunsCompared"], "comparisons"> & { comparisons: Comparison[] };

export const comparisonQuery = (project: string, before: string[], after: string) =>
  queryOptions({
    queryKey: ["comparison", project, before, after],
    queryFn: () => {
      const params = { path: { id: after }, query: { before } };
      return unwrapAs<Compared>(api(project).GET("/api/v1/runs/{id}/comparison", { params }));
    },
    staleTime: 60_000,
  });

export type ChangeFilter = "verdict" | "worse" | "better" | "different-answer" | "undecided" | "all";
type ChangeSide = Omit<Schemas["CaseSideView"], "status"> & { status: Status };
export type CaseChange = Omit<Schemas["CaseChangeView"], "before" | "after"> & {
  before: ChangeSide;
  after: ChangeSide;
};
type ChangePage = Omit<Schemas["RunChangePage"], "items"> & { items: CaseChange[] };

/** Cases of one request: answers can be long. */
const CHANGES_PER_PAGE = 20;

/** Cases of two runs side by side, page by page. */
export const changesQuery = (
  project: string,
  asked: { before: string; after: string; filter: ChangeFilter; find?: string },
) =>
  infiniteQueryOptions({
    queryKey: ["changes", project, asked],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) => {
      const { before: baseline, after, filter, find } = asked;
      const query = { baseline, filter, find, after: pageParam, limit: CHANGES_PER_PAGE };
      const params = { path: { id: after }, query };
      return unwrapAs<ChangePage>(api(project).GET("/api/v1/runs/{id}/changes", { params }));
    },
    getNextPageParam: (last) => last.next ?? undefined,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
