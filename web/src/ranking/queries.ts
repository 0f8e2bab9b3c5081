// Pairwise comparisons and their ranking.
import { queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrapAs } from "../api/client";

export type Ranks = Schemas["Ranks"];
export type Ranked = Schemas["RankedSide"];
export type RankedBy = { source?: string; monitor?: string; judge?: string; task?: string };

export const rankingQuery = (project: string, by: RankedBy) =>
  queryOptions({
    queryKey: ["ranking", project, by],
    queryFn: () => unwrapAs<Ranks>(api(project).GET("/api/v1/ranking", { params: { query: by } })),
    refetchInterval: 30_000,
  });
