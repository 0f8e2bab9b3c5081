// The rows of a timeline: steps and tool calls as a tree, with what is known of their time, tokens and cost.
import { gist, type Step, type ToolCall, type Trace } from "./traceParts";

export type TimelineKind = "model" | "tool" | "user" | "system" | "other";

export type TimelineRow = {
  key: string;
  /** The step that the row belongs to, from 1. */
  step: number;
  level: number;
  hasChildren: boolean;
  kind: TimelineKind;
  name: string;
  about: string;
  /** Milliseconds since the first recorded time. */
  startMs: number | undefined;
  durationMs: number | undefined;
  /** The duration is the time between two messages, because the format has no durations. */
  isBetween: boolean;
  tokens: Step["usage"];
  cost: number | undefined;
  isFailed: boolean;
};

export type Timeline = {
  rows: TimelineRow[];
  /** The length of the time axis; undefined where no row has a place on it. */
  totalMs: number | undefined;
  hasDurations: boolean;
  hasTokens: boolean;
  hasCosts: boolean;
};

const KINDS: Record<string, TimelineKind> = {
  assistant: "model",
  tool: "tool",
  user: "user",
  system: "system",
};

const NAMES: Record<TimelineKind, string> = {
  model: "agent",
  tool: "tool",
  user: "user",
  system: "system",
  other: "other",
};

const timeOf = (step: Step | undefined): number | undefined => {
  const time = step?.time ? Date.parse(step.time) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
};

/** A step with nothing but results; each of them is shown at the call that it answers. */
const isAnswerOnly = (step: Step): boolean =>
  (step.results?.length ?? 0) > 0 && !step.text && !step.reasoning && !step.tool_calls?.length;

type Answer = { at: number; step: Step; isFailed: boolean };

/** Results by the id of their call. */
function answersOf(steps: Step[]): Map<string, Answer> {
  const found = new Map<string, Answer>();
  steps.forEach((step, at) => {
    for (const result of step.results ?? []) {
      if (result.call && !found.has(result.call))
        found.set(result.call, { at, step, isFailed: result.error === true });
    }
  });
  return found;
}

function aboutStep(step: Step): string {
  const text = step.text || step.reasoning || step.results?.[0]?.text || "";
  return text.trim().split("\n")[0]?.slice(0, 160) ?? "";
}

type Measured = Pick<TimelineRow, "startMs" | "durationMs" | "isBetween">;

const NOT_MEASURED: Measured = { startMs: undefined, durationMs: undefined, isBetween: false };

/** Time and duration of a step: as recorded, or else from the message before it until it. */
function measureStep(step: Step, before: number | undefined, origin: number): Measured {
  const time = timeOf(step);
  if (step.duration_ms != null) {
    return {
      startMs: time === undefined ? undefined : time - origin,
      durationMs: step.duration_ms,
      isBetween: false,
    };
  }
  if (time === undefined) return NOT_MEASURED;
  // A person or the program may have waited before it spoke, so that says nothing of a latency.
  const isReply = KINDS[step.role ?? "assistant"] === "model" || step.role === "tool";
  if (!isReply || before === undefined || time < before) return { ...NOT_MEASURED, startMs: time - origin };
  return { startMs: before - origin, durationMs: time - before, isBetween: true };
}

/** Time and duration of a tool call: its own, or else from its message until its result. */
function measureCall(call: ToolCall, step: Step, answer: Answer | undefined, origin: number): Measured {
  const [asked, answered] = [timeOf(step), timeOf(answer?.step)];
  const took = call.duration_ms ?? answer?.step.duration_ms;
  if (took != null) {
    // The result of a measured run has the time at which the run began.
    const start = answer?.step.duration_ms != null ? answered : asked;
    return { startMs: start === undefined ? undefined : start - origin, durationMs: took, isBetween: false };
  }
  if (asked === undefined || answered === undefined || answered < asked) return NOT_MEASURED;
  return { startMs: asked - origin, durationMs: answered - asked, isBetween: true };
}

/** Steps and tool calls as rows of a tree. Steps of sub-agents are below the step that started them. */
export function timelineOf(trace: Trace): Timeline {
  const steps = trace.steps ?? [];
  const times = steps.map(timeOf);
  const known = times.filter((time) => time !== undefined);
  const origin = known.length > 0 ? minOf(known) : 0;
  const answers = answersOf(steps);
  const called = new Set(steps.flatMap((step) => (step.tool_calls ?? []).flatMap((it) => it.id ?? [])));
  const rows: TimelineRow[] = [];
  let before: number | undefined;
  steps.forEach((step, at) => {
    const isShownAtCall =
      isAnswerOnly(step) && step.results?.every((result) => result.call != null && called.has(result.call));
    if (!isShownAtCall) rows.push(...rowsOfStep(step, at, before, origin, answers));
    before = times[at] ?? before;
  });
  rows.forEach((row, at) => {
    row.hasChildren = (rows[at + 1]?.level ?? 0) > row.level;
  });
  const ends = rows.flatMap((row) =>
    row.startMs === undefined ? [] : [row.startMs + (row.durationMs ?? 0)],
  );
  const end = ends.length > 0 ? Math.max(maxOf(ends), 0) : 0;
  return {
    rows,
    totalMs: end > 0 ? end : undefined,
    hasDurations: rows.some((row) => row.durationMs !== undefined),
    hasTokens: rows.some((row) => (row.tokens?.input ?? 0) + (row.tokens?.output ?? 0) > 0),
    hasCosts: rows.some((row) => row.cost !== undefined),
  };
}

// Not `Math.max(...all)`: a trace can have more steps than a call can have arguments.
const minOf = (all: number[]): number =>
  all.reduce((least, it) => Math.min(least, it), Number.POSITIVE_INFINITY);
const maxOf = (all: number[]): number =>
  all.reduce((most, it) => Math.max(most, it), Number.NEGATIVE_INFINITY);

function rowsOfStep(
  step: Step,
  at: number,
  before: number | undefined,
  origin: number,
  answers: Map<string, Answer>,
): TimelineRow[] {
  const kind = KINDS[step.role ?? "assistant"] ?? "other";
  const level = step.depth ?? 0;
  const own: TimelineRow = {
    key: `${at + 1}`,
    step: at + 1,
    level,
    hasChildren: false,
    kind,
    name: step.agent ?? NAMES[kind],
    about: aboutStep(step),
    ...measureStep(step, before, origin),
    tokens: step.usage,
    cost: step.cost ?? undefined,
    isFailed: step.results?.some((result) => result.error) === true,
  };
  const calls = (step.tool_calls ?? []).map((call, n): TimelineRow => {
    const answer = call.id ? answers.get(call.id) : undefined;
    return {
      key: `${at + 1}.${n + 1}`,
      step: answer && answer.at !== at ? answer.at + 1 : at + 1,
      level: level + 1,
      hasChildren: false,
      kind: "tool",
      name: call.name || "tool",
      // Some logs have the command in place of the tool name.
      about: gist(call) === call.name ? "" : gist(call),
      ...measureCall(call, step, answer, origin),
      tokens: undefined,
      cost: undefined,
      isFailed: answer?.isFailed === true,
    };
  });
  return [own, ...calls];
}

/** The rows that are visible while some are collapsed. */
export function visibleRows(rows: TimelineRow[], collapsed: ReadonlySet<string>): TimelineRow[] {
  let hidden: number | undefined;
  return rows.filter((row) => {
    if (hidden !== undefined && row.level > hidden) return false;
    hidden = collapsed.has(row.key) ? row.level : undefined;
    return true;
  });
}
