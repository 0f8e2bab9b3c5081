// Changes of criteria from one week to the next.
import type { Range, ScaleEnds } from "../chart/figures";
import { DAY_MS } from "../chart/scale";
import type { Estimates, Traffic } from "../monitors/queries";

export type CriterionChange = {
  monitor: string;
  /** Agents of the monitor. */
  agents: string[];
  /** Null for the overall score. */
  criterion: string | null;
  before: Traffic;
  after: Traffic;
  /** The scale of the rubric; absent where it is 0 to 1. */
  scale?: ScaleEnds | null;
  difference: number;
  /** The 95 % confidence interval of the difference. */
  interval: Range;
};

/** The last seven days (UTC) including today, and the seven days before. */
export function weeks(now = Date.now()): { before: Window; after: Window } {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const day = (ago: number) => new Date(today - ago * DAY_MS).toISOString().replace(".000", "");
  return { before: { from: day(13), until: day(6) }, after: { from: day(6) } };
}

type Watching = { name: string; agents: string[] };

export type Window = { from: string; until?: string };

const Z_95 = 1.959964;

/** Differences between the estimates of one judge and rubric version in both weeks. The weeks share no traces, so variances add. */
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
        scale: it.native,
        difference,
        interval,
      },
    ];
  });
}

/** Whether the interval excludes zero. */
export const isSignificant = ({ interval: [low, high] }: CriterionChange): boolean => high < 0 || low > 0;

/** Significant drops first, the largest of them first. */
export const sortByFall = (moves: CriterionChange[]): CriterionChange[] =>
  [...moves].sort((a, b) => Number(isFall(b)) - Number(isFall(a)) || a.difference - b.difference);

/** The changes that a short table shows: significant ones before others, then the largest, in the order of `sortByFall`. */
export function mostImportant(moves: CriterionChange[], most: number): CriterionChange[] {
  const ranked = [...moves].sort(
    (a, b) =>
      Number(isSignificant(b)) - Number(isSignificant(a)) || Math.abs(b.difference) - Math.abs(a.difference),
  );
  return sortByFall(ranked.slice(0, most));
}

export const isFall = (it: CriterionChange): boolean => it.interval[1] < 0;
