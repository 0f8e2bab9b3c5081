import { queryOptions } from "@tanstack/react-query";
import { unlisted } from "../api/client";
import type { Range } from "../chart/figures";

export type Cell = {
  n: number;
  passed: number;
  decided: number;
  score?: number | null;
  interval?: Range | null;
  pass_rate?: number | null;
  pass_interval?: Range | null;
};

/** A run in rows and columns of what its cases differ in. */
export type Matrix = {
  keys: { key: string; n_values: number }[];
  rows_by?: string | null;
  columns_by?: string | null;
  rows: string[];
  columns: string[];
  cells: (Cell | null)[][];
};

export type FlakyCase = {
  case: string;
  n: number;
  passed: number;
  flip_rate: number;
  /** How likely all of k trials pass, for k from 1 to n. */
  pass_k: number[];
  scores: (number | null)[];
};

export type Trials = {
  n_cases: number;
  k: number;
  any?: number | null;
  all?: number | null;
  cases: FlakyCase[];
};

export type Axes = { rows?: string; columns?: string };

export const matrixQuery = (project: string, run: string, axes: Axes) =>
  queryOptions({
    queryKey: ["matrix", project, run, axes],
    queryFn: () => unlisted<Matrix>(project, `/runs/${encodeURIComponent(run)}/matrix`, axes),
  });

export const flakyQuery = (project: string, run: string) =>
  queryOptions({
    queryKey: ["flaky", project, run],
    queryFn: () => unlisted<Trials>(project, `/runs/${encodeURIComponent(run)}/flaky`),
  });
