// What became of traces, in words.
import type { Status } from "../ui/Badge";

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

type Told = { label: string; means: string; tone: Status | "plain" | "accent" };

export const STATES: Record<StateName, Told> = {
  scored: { label: "scored", means: "A judge graded it.", tone: "pass" },
  cached: {
    label: "cached",
    means: "The same task and output were judged before, by the same version and judge.",
    tone: "pass",
  },
  sampled: { label: "sampled", means: "It will be judged; nobody has begun.", tone: "accent" },
  stale: {
    label: "stale",
    means:
      "The trace changed after it was judged. Its old score is left out of all figures, and it is judged again.",
    tone: "accent",
  },
  pending: { label: "pending", means: "A worker has it, or the monitor is paused.", tone: "accent" },
  judge_error: {
    label: "judge error",
    means: "The judge timed out, refused, was not reached or answered nonsense. That is no score.",
    tone: "error",
  },
  sampled_out: { label: "sampled out", means: "Not one of those that are looked at.", tone: "plain" },
  filtered: {
    label: "filtered",
    means: "The filter does not let it through; it is no part of what is estimated.",
    tone: "plain",
  },
  nothing_to_judge: {
    label: "nothing to judge",
    means:
      "The trace holds no task, message, tool call or file, such as a health check. It is no part of what is estimated.",
    tone: "plain",
  },
  over_budget: {
    label: "over budget",
    means:
      "The month's money is spent. Failed traces are judged once there is money; `jurist monitor rescore --over-budget` judges the others.",
    tone: "deferred",
  },
  overloaded: {
    label: "overloaded",
    means: "More waited than may wait, or it was erased before its turn.",
    tone: "deferred",
  },
};

/** What a stratum is. */
export const STRATUM =
  "Traces that are sampled alike. Those that failed or were expensive are looked at more often; all the rest is called other.";

/** Why a trace is in its stratum. */
export const strataWords: Record<string, string> = {
  failed: "it failed",
  expensive: "it was expensive",
  other: "it neither failed nor was expensive",
};

const ORDER = Object.keys(STATES);

export const describeState = (state: string): Told =>
  STATES[state as StateName] ?? { label: state.replaceAll("_", " "), means: "", tone: "plain" };

/** In the order of the words above; those that nobody knows come last. */
export const sorted = <T extends { state: string }>(all: T[]): T[] =>
  [...all].sort((a, b) => rank(a.state) - rank(b.state));

const rank = (state: string): number => {
  const at = ORDER.indexOf(state);
  return at < 0 ? ORDER.length : at;
};

/** Why a monitor has no score: after an edit, only earlier versions have some. */
export const noScoreYet = (states: Record<string, number> | undefined): string =>
  (states?.scored ?? 0) + (states?.cached ?? 0) > 0
    ? "the version in use has no score yet"
    : "nothing is scored yet";
