// What moved from one week to the next.
import type { Range } from "../chart/figures";
import { DAY_MS } from "../chart/scale";
import type { Estimates, Traffic } from "../monitors/queries";

export type CriterionChange = {
  monitor: string;
  /** Whose traces it is of. */
  agents: string[];
  /** None for the whole rubric. */
  criterion: string | null;
  before: Traffic;
  after: Traffic;
  difference: number;
  /** Where the difference lies, in 95 of 100 cases. */
  interval: Range;
};

/** Seven days of UTC with today as the last, and the seven before them. */
export function weeks(now = Date.now()): { before: Window; after: Window } {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const day = (ago: number) => new Date(today - ago * DAY_MS).toISOString().replace(".000", "");
  return { before: { from: day(13), until: day(6) }, after: { from: day(6) } };
}

type Watching = { name: string; agents: string[] };

export type Window = { from: string; until?: string };

const Z_95 = 1.959964;

/** Differences of what one judge said by one version in both weeks; the two are independent of each other. */
export function changesOf(
  { name: monitor, agents }: Watching,
  before: Estimates,
  after: Estimates,
): CriterionChange[] {
  const now = after.judges.find((it) => it.is_current);
  const then = before.judges.find(
    (it) => it.rubric_version === now?.rubric_version && it.judge === now?.judge,
  );
  if (!now || !then) return [];
  return now.criteria.flatMap((it): CriterionChange[] => {
    const old = then.criteria.find((one) => one.criterion === it.criterion);
    if (!it.score || !old?.score) return [];
    const difference = it.score.mean - old.score.mean;
    const half = Z_95 * Math.hypot(it.score.se, old.score.se);
    const interval: Range = [difference - half, difference + half];
    return [
      {
        monitor,
        agents,
        criterion: it.criterion ?? null,
        before: old.score,
        after: it.score,
        difference,
        interval,
      },
    ];
  });
}

/** More than chance. */
export const isSignificant = ({ interval: [low, high] }: CriterionChange): boolean => high < 0 || low > 0;

/** What fell by more than chance first, and the furthest of them. */
export const sortByFall = (moves: CriterionChange[]): CriterionChange[] =>
  [...moves].sort((a, b) => Number(isFall(b)) - Number(isFall(a)) || a.difference - b.difference);

export const isFall = (it: CriterionChange): boolean => it.interval[1] < 0;
