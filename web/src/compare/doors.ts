// Runs against each other, as `jurist compare` says it.
import { queryOptions } from "@tanstack/react-query";
import { unlisted } from "../api/client";
import type { Range } from "../chart/figures";
import type { Drawn } from "../chart/Picture";
import type { Status } from "../ui/Badge";

export type Difference = {
  before: number;
  after: number;
  difference: number;
  interval?: Range | null;
  p: number;
  n: number;
  is_shown: boolean;
  sentence: string;
};

export type Change = {
  case: string;
  before: Status;
  after: Status;
  score_before?: number | null;
  score_after?: number | null;
  reasons: string[];
};

export type Comparison = {
  before: string;
  caveats: string[];
  n_cases: number;
  only_before: string[];
  only_after: string[];
  undecided: string[];
  score?: Difference | null;
  pass_rate?: Difference | null;
  criteria: Record<string, Difference>;
  changed: Change[];
  forest?: Drawn | null;
};

export type Compared = { after: string; comparisons: Comparison[]; radar?: Drawn | null };

export const comparisonQuery = (project: string, before: string[], after: string) =>
  queryOptions({
    queryKey: ["comparison", project, before, after],
    queryFn: () => unlisted<Compared>(project, `/runs/${encodeURIComponent(after)}/comparison`, { before }),
    staleTime: 60_000,
  });
