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
};

export type Change = {
  case: string;
  before: Status;
  after: Status;
  score_before?: number | null;
  score_after?: number | null;
};

export type Comparison = {
  caveats: string[];
  n_cases: number;
  only_before: string[];
  only_after: string[];
  undecided: string[];
  score?: Difference | null;
  pass_rate?: Difference | null;
  criteria: Record<string, Difference>;
  changed: Change[];
};

export type Compared = { before: string; comparison: Comparison; radar: Drawn; forest: Drawn };

export const comparisonQuery = (project: string, before: string, after: string) =>
  queryOptions({
    queryKey: ["comparison", project, before, after],
    queryFn: async (): Promise<Compared> => {
      const { radar, forest, ...comparison } = await unlisted<Comparison & { radar: Drawn; forest: Drawn }>(
        project,
        `/runs/${encodeURIComponent(after)}/comparison`,
        { before },
      );
      return { before, comparison, radar, forest };
    },
    staleTime: 60_000,
  });
