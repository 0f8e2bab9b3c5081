import { queryOptions } from "@tanstack/react-query";
import { unlisted } from "../api/client";
import type { Range } from "../chart/figures";

export type Cell = { n: number; passed: number; score?: number | null; interval?: Range | null };

/** What the suite varies, one against the other. */
export type Matrix = { rows: string[]; columns: string[]; cells: (Cell | null)[][] };

/** A case whose repeats disagree. */
export type FlakyCase = {
  case: string;
  n: number;
  passed: number;
  pass_k?: number | null;
  scores: (number | null)[];
};

export const matrixQuery = (project: string, run: string) =>
  queryOptions({
    queryKey: ["matrix", project, run],
    queryFn: () => unlisted<Matrix>(project, `/runs/${encodeURIComponent(run)}/matrix`),
  });

export const flakyQuery = (project: string, run: string) =>
  queryOptions({
    queryKey: ["flaky", project, run],
    queryFn: () => unlisted<FlakyCase[]>(project, `/runs/${encodeURIComponent(run)}/flaky`),
  });
