// Contests of two and what they say of all.
import { queryOptions } from "@tanstack/react-query";
import { unlisted } from "../api/client";
import type { Range } from "../chart/figures";

export type Ranked = { side: string; strength: number; interval?: Range | null; rank: number };

export type Ranking = {
  sides: string[];
  /** How often the row won against the column. */
  wins: number[][];
  bradley_terry: Ranked[];
  position?: { first_wins: number; n: number; interval?: Range | null; p?: number | null } | null;
  ties: number;
  errors: number;
  n: number;
};

export const SOURCES = {
  comparisons: "monitors' judges",
  people: "people",
  runs: "runs",
} as const;

export type Source = keyof typeof SOURCES;

export const rankingQuery = (project: string, source: string) =>
  queryOptions({
    queryKey: ["ranking", project, source],
    queryFn: () => unlisted<Ranking>(project, "/ranking", { source }),
    refetchInterval: 30_000,
  });
