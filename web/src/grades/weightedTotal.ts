// Explains how a score is computed from weights and gates.
import { scoreText } from "../chart/figures";
import { type Canonical, criteriaOf, passMarkOf } from "../rubrics/canonical";
import { scoreScaleOf } from "../rubrics/scales";
import { score as said } from "../ui/format";

/** The score of a grader for a criterion, on 0 to 1. */
export type Said = { grader: string; unit: number };

type Verdict = { status: string; score?: number | null };

/** Tolerance for rounding: scores are shown with two digits. */
const SLACK = 0.005;

const number = (it: unknown, otherwise: number): number => (typeof it === "number" ? it : otherwise);

/** The contribution of a criterion; guards and negated criteria count inversely. */
const contribution = (it: Canonical, unit: number): number => (it.guard || it.not ? 1 - unit : unit);

const mean = (all: number[]): number => all.reduce((sum, it) => sum + it, 0) / all.length;

/**
 * The weighted average with its numbers, in the order of the rubric.
 * None where it is not that simple, or where it would not come to the score: half an explanation is a wrong one.
 */
export function sumOf(
  rubric: Canonical,
  saidOf: (criterion: string) => Said[],
  verdict: Verdict,
): string | undefined {
  const criteria = Array.isArray(rubric.criteria) ? (rubric.criteria as Canonical[]) : [];
  if (verdict.score == null || rubric.aggregation === "min" || criteria.length < 2) return undefined;
  const terms = criteria.flatMap((it) => {
    const units = saidOf(String(it.name)).map(({ unit }) => contribution(it, unit));
    return units.length === 0 ? [] : [{ weight: number(it.weight, 1), unit: mean(units) }];
  });
  const total = terms.reduce((sum, it) => sum + Math.max(0, it.weight), 0);
  const points = terms.reduce((sum, it) => sum + it.weight * it.unit, 0);
  if (total === 0 || Math.abs(points / total - verdict.score) > SLACK) return undefined;
  const sum = terms.map((it) => `${it.weight} × ${said(it.unit)}`).join(" + ");
  return `(${sum}) ÷ ${Number(total.toFixed(4))} = ${said(verdict.score)}`;
}

/** How criteria are aggregated, in words. */
export function wayOf(rubric: Canonical): string {
  const all = [...criteriaOf(rubric).values()];
  if (rubric.tree || rubric.graph)
    return "The score is the leaf that the answers lead to in the decision tree.";
  const way =
    rubric.aggregation === "min"
      ? "The score is the lowest criterion score."
      : all.some((it) => Array.isArray(it.criteria))
        ? "The score is the weighted average of groups and criteria."
        : "The score is the weighted average of the criteria; criteria without a score are left out.";
  return rubric.length_penalty ? `${way} A length penalty applies to long answers.` : way;
}

/** The gates of a criterion. */
export function gatesOf(it: Canonical): string[] {
  return [
    ...(it.required ? ["required"] : []),
    ...(it.guard ? ["guard"] : []),
    ...(typeof it.min_score === "number" ? [`at least ${said(it.min_score)}`] : []),
  ];
}

/** The score compared with the pass mark. */
export function againstMark(rubric: Canonical, { score, status }: Verdict): string {
  const mark = scoreText(passMarkOf(rubric), scoreScaleOf(rubric), 2);
  if (score == null) return `No score. The pass mark is ${mark}.`;
  if (score + 1e-9 < passMarkOf(rubric)) return `Below the pass mark of ${mark}.`;
  if (status === "fail") return `At or above the pass mark of ${mark}, but a gate failed.`;
  return `At or above the pass mark of ${mark}.`;
}
