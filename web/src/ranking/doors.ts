// Contests of two and what they say of all.
import { queryOptions } from "@tanstack/react-query";
import { unlisted } from "../api/client";
import type { Range } from "../chart/figures";
import type { Drawn } from "../chart/Picture";

export type Ranked = {
  side: string;
  rank: number;
  strength: number;
  interval?: Range | null;
  elo: number;
  n: number;
};

export type Ranks = {
  sides: string[];
  /** How often the row won against the column. */
  wins: number[][];
  rates: (number | null)[][];
  bradley_terry?: Ranked[] | null;
  undefined?: string | null;
  position?: { first_wins: number; n: number; rate: number; interval: Range; p: number } | null;
  n: number;
  ties: number;
  errors: number;
  judges: string[];
  strengths?: Drawn | null;
};

export type RankedBy = { source?: string; monitor?: string; judge?: string; task?: string };

export const rankingQuery = (project: string, by: RankedBy) =>
  queryOptions({
    queryKey: ["ranking", project, by],
    queryFn: () => unlisted<Ranks>(project, "/ranking", by),
    refetchInterval: 30_000,
  });
