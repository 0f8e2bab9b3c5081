// Reads rubrics in their canonical form.
import type { Criterion, KindOf, Point } from "../annotate/types";

export type Canonical = { [key: string]: unknown };

const isMap = (it: unknown): it is Canonical => typeof it === "object" && it !== null && !Array.isArray(it);

/** The default of the server. */
const PASS_MARK = 0.7;

export const passMarkOf = ({ threshold }: Canonical): number =>
  typeof threshold === "number" ? threshold : PASS_MARK;

/** Criteria and groups of them by their name, in the order of the rubric. */
export function criteriaOf(rubric: Canonical | undefined): Map<string, Canonical> {
  const all = new Map<string, Canonical>();
  const visit = (list: unknown) => {
    if (!Array.isArray(list)) return;
    for (const it of list) {
      if (typeof it?.name === "string") all.set(it.name, it);
      visit(it?.criteria);
    }
  };
  visit(rubric?.criteria);
  return all;
}

/** Criteria that annotators rate, and criteria that they do not, with the reason. */
export type Asked = { scheme: KindOf<"rubric">; others: { name: string; why: string }[] };

export function askedBy(name: string, rubric: Canonical): Asked {
  const criteria: Criterion[] = [];
  const others: Asked["others"] = [];
  const visit = (list: unknown) => {
    if (!Array.isArray(list)) return;
    for (const it of list as Canonical[]) {
      const title = String(it.label ?? it.name);
      if (Array.isArray(it.criteria)) visit(it.criteria);
      else if (it.check) others.push({ name: title, why: "graded by a check" });
      else if (it.recipe) others.push({ name: title, why: "graded by a recipe of several questions" });
      else if (it.tree || it.graph) others.push({ name: title, why: "graded by a decision tree" });
      else {
        const points = pointsOf(it);
        if (points.length === 0) others.push({ name: title, why: "any number from 0 to 1" });
        else {
          criteria.push({
            name: String(it.name),
            label: title,
            description: typeof it.description === "string" ? it.description : undefined,
            weight: typeof it.weight === "number" ? it.weight : 1,
            points,
            may_skip: it.cannot_assess !== undefined,
          });
        }
      }
    }
  };
  visit(rubric.criteria);
  if (rubric.tree || rubric.graph) others.push({ name, why: "graded by a decision tree" });
  return { scheme: { name, kind: "rubric", required: true, criteria, shows_score: true }, others };
}

/** The points of a criterion's scale, lowest first; none for a continuous scale. */
function pointsOf(it: Canonical): Point[] {
  const levels = (isMap(it.levels) ? it.levels : {}) as Record<string, string>;
  const scale = it.scale;
  if (scale === "binary") {
    return [false, true].map((value) => ({
      value,
      label: value ? "yes" : "no",
      text: levels[String(value)] ?? levels[value ? "1" : "0"],
    }));
  }
  if (!isMap(scale)) return [];
  if (isMap(scale.likert)) {
    const { min, max, labels } = scale.likert as {
      min: number;
      max: number;
      labels?: Record<string, string>;
    };
    return Array.from({ length: max - min + 1 }, (_, at) => ({
      value: min + at,
      label: labels?.[min + at],
      text: levels[min + at],
    }));
  }
  if (isMap(scale.ranges)) {
    const ranges = Object.entries(scale.ranges as Record<string, string>).sort(
      ([a], [b]) => Number(a) - Number(b),
    );
    return Array.from({ length: 11 }, (_, value) => ({
      value,
      text: levels[value] ?? ranges.findLast(([from]) => Number(from) <= value)?.[1],
    }));
  }
  if (isMap(scale.choices)) {
    return Object.entries(scale.choices as Record<string, number>)
      .sort(([, a], [, b]) => a - b)
      .map(([value]) => ({ value, label: value, text: levels[value] }));
  }
  return [];
}
