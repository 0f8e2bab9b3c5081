// States of traces with their explanations.
import type { Status } from "../ui/Badge";
import { plural } from "../ui/format";

export type StateName =
  | "scored"
  | "cached"
  | "sampled"
  | "stale"
  | "pending"
  | "judge_error"
  | "sampled_out"
  | "filtered"
  | "nothing_to_judge"
  | "over_budget"
  | "overloaded";

type Told = {
  label: string;
  /** The label of several traces, where it differs. */
  many?: string;
  means: string;
  tone: Status | "plain" | "accent";
};

export const STATES: Record<StateName, Told> = {
  scored: { label: "scored", means: "A judge graded it.", tone: "pass" },
  cached: {
    label: "cached",
    means: "The same task and output already had a score from the same rubric version and judge.",
    tone: "pass",
  },
  sampled: { label: "sampled", means: "Waits for a worker that calls the judge.", tone: "accent" },
  stale: {
    label: "stale",
    means:
      "The trace changed after it was judged. Its old score is excluded from all estimates, and it is judged again.",
    tone: "accent",
  },
  pending: {
    label: "pending",
    means: "A worker is calling the judge, or the monitor is paused.",
    tone: "accent",
  },
  judge_error: {
    label: "judge error",
    many: "judge errors",
    means:
      "The judge timed out, refused, could not be reached or sent an invalid reply. This is not counted as a score.",
    tone: "error",
  },
  sampled_out: { label: "sampled out", means: "Not selected by random sampling.", tone: "plain" },
  filtered: {
    label: "filtered",
    means: "Excluded by the filter of the monitor. Not part of the estimates.",
    tone: "plain",
  },
  nothing_to_judge: {
    label: "nothing to judge",
    means:
      "The trace has no task, message, tool call or file, for example a health check. Not part of the estimates.",
    tone: "plain",
  },
  over_budget: {
    label: "over budget",
    means:
      "The budget of the month is spent. Failed traces are judged when budget is available again; `jurist monitor rescore --over-budget` judges the others.",
    tone: "deferred",
  },
  overloaded: {
    label: "overloaded",
    means: "The queue was full, or the trace was erased before it was judged.",
    tone: "deferred",
  },
};

/** Explanation of strata. */
export const STRATUM =
  "A group of traces with one sampling probability. Failed and expensive traces are sampled more often; all others are in the stratum other.";

/** Why a trace is in its stratum, in words. */
export const strataWords: Record<string, string> = {
  failed: "failed trace",
  expensive: "expensive trace",
  other: "neither failed nor expensive",
};

const ORDER = Object.keys(STATES);

export const describeState = (state: string): Told =>
  STATES[state as StateName] ?? { label: state.replaceAll("_", " "), means: "", tone: "plain" };

/** `2 judge errors`, `1 sampled out`. */
export function countInState(n: number, state: string): string {
  const { label, many = label } = describeState(state);
  return plural(n, label, many);
}

/** In the order of `STATES`; unknown states come last. */
export const sorted = <T extends { state: string }>(all: T[]): T[] =>
  [...all].sort((a, b) => rank(a.state) - rank(b.state));

const rank = (state: string): number => {
  const at = ORDER.indexOf(state);
  return at < 0 ? ORDER.length : at;
};

/** Why a monitor has no score; after an edit, only earlier versions have scores. */
export const noScoreYet = (states: Record<string, number> | undefined): string =>
  (states?.scored ?? 0) + (states?.cached ?? 0) > 0
    ? "the current version has no score yet"
    : "no scores yet";
