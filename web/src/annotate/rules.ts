// What is answered, what is missing, and what it comes to. Pure.
import type { Answer, AnswerOf, Draft, KindOf, Marked, Rated, Scheme } from "./types";

/** An answer in which nothing is answered yet. */
export function blank(scheme: Scheme): Answer {
  switch (scheme.kind) {
    case "rubric":
      return { kind: "rubric", criteria: {} };
    case "trajectory":
      return { kind: "trajectory", steps: {} };
    case "choice":
      return { kind: "choice", labels: [] };
    case "text":
      return { kind: "text", text: "" };
    default:
      return { kind: scheme.kind };
  }
}

/** The answer to a scheme, or a blank one: a draft of another kind is of an older task. */
export function answerOf<S extends Scheme>(scheme: S, draft: Draft): AnswerOf<S["kind"]> {
  const found = draft[scheme.name];
  return (found?.kind === scheme.kind ? found : blank(scheme)) as AnswerOf<S["kind"]>;
}

/** The row of the whole in lists of rows. */
export const OVERALL = "overall quality of the whole";

/** What still has to be answered before this can be submitted: names of rows, numbers of steps, or the scheme. */
export function missing(scheme: Scheme, draft: Draft): string[] {
  switch (scheme.kind) {
    case "rubric": {
      if (!scheme.required) return [];
      const answer = answerOf(scheme, draft);
      const rows = scheme.criteria.filter((it) => !answer.criteria[it.name]?.rating).map((it) => it.name);
      return scheme.overall && !answer.overall?.rating ? [...rows, OVERALL] : rows;
    }
    case "trajectory": {
      if (!scheme.required) return [];
      const { steps } = answerOf(scheme, draft);
      return scheme.steps.filter((n) => !isMarked(scheme, steps[n])).map(String);
    }
    case "pairwise":
      return scheme.required && !answerOf(scheme, draft).label ? [scheme.name] : [];
    case "choice":
      return scheme.required && answerOf(scheme, draft).labels.length === 0 ? [scheme.name] : [];
    case "likert":
      return scheme.required && answerOf(scheme, draft).value === undefined ? [scheme.name] : [];
    case "text":
      return scheme.required && answerOf(scheme, draft).text.trim() === "" ? [scheme.name] : [];
  }
}

/** A step that is wrong says how, and how badly, where the task has words for it. */
export function isMarked(scheme: KindOf<"trajectory">, marked: Marked | undefined): boolean {
  if (!marked?.mark) return false;
  if (marked.mark === scheme.marks[0]) return true;
  return (
    (scheme.errors.length === 0 || !!marked.error) && (scheme.severities.length === 0 || !!marked.severity)
  );
}

/** The weighted score in the scale's own units: Σ rating · weight / Σ weight over what was rated with a number. */
export function weighted(scheme: KindOf<"rubric">, criteria: Record<string, Rated>): number | undefined {
  let [sum, weights] = [0, 0];
  for (const it of scheme.criteria) {
    const rating = criteria[it.name]?.rating;
    if (rating?.kind !== "scored" || typeof rating.value !== "number") continue;
    sum += rating.value * it.weight;
    weights += it.weight;
  }
  return weights > 0 ? sum / weights : undefined;
}

/** What is left of the score; withheld until every step is marked, lest it steer the rest. */
export function runningScore(
  scheme: KindOf<"trajectory">,
  steps: Record<string, Marked>,
): number | undefined {
  if (scheme.steps.some((n) => !isMarked(scheme, steps[n]))) return undefined;
  let score = scheme.initial;
  for (const n of scheme.steps) {
    const severity = steps[n]?.mark === scheme.marks[0] ? undefined : steps[n]?.severity;
    score -= Math.abs(scheme.severities.find((it) => it.name === severity)?.weight ?? 0);
  }
  return score;
}
