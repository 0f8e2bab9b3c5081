// Comparisons of runs, as `jurist compare` computes them.
import { queryOptions } from "@tanstack/react-query";
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
