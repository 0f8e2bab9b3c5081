// The scales that the author of a rubric chose, beside scores from 0 to 1.
import { useQueries, useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { nativeScore, type ScaleEnds, sharedEndsOf } from "../chart/figures";
import { type Canonical, criteriaOf } from "./canonical";
import { versionQuery } from "./queries";

const isMap = (it: unknown): it is Canonical => typeof it === "object" && it !== null && !Array.isArray(it);

/** The highest point of the scale `ranges`, which begins at 0. */
const RANGES_TOP = 10;

/** The ends of the scale of a criterion, if its answers are whole numbers. */
export function criterionScaleOf(criterion: Canonical | undefined): ScaleEnds | undefined {
  const scale = criterion?.scale;
  if (!isMap(scale)) return undefined;
  return isMap(scale.ranges) ? { min: 0, max: RANGES_TOP } : likertEndsOf(scale);
}

/** The ends of the scale on which a rubric shows its score. */
export const displayScaleOf = (rubric: Canonical | undefined): ScaleEnds | undefined =>
  isMap(rubric?.scale) ? likertEndsOf(rubric.scale) : undefined;

function likertEndsOf({ likert }: Canonical): ScaleEnds | undefined {
  if (!isMap(likert) || typeof likert.min !== "number" || typeof likert.max !== "number") return undefined;
  return { min: likert.min, max: likert.max };
}

/**
 * The scale on which a rubric shows its score, or that all its criteria share; none where the score is the worst answer
 * or has a penalty. The server decides the same for estimates and decisions.
 */
export function scoreScaleOf(rubric: Canonical | undefined): ScaleEnds | undefined {
  if (rubric?.scale !== undefined) return displayScaleOf(rubric);
  if (rubric?.aggregation === "min" || rubric?.length_penalty !== undefined) return undefined;
  const criteria: Canonical[] = Array.isArray(rubric?.criteria) ? rubric.criteria : [];
  return sharedEndsOf(
    criteria.map((criterion) => (isNegative(criterion) ? undefined : criterionScaleOf(criterion))),
  );
}

/** Criteria for which a low answer is good. Their means are of what answers are worth, not of the answers. */
const isNegative = ({ guard, not, weight }: Canonical): boolean =>
  guard === true || not === true || (typeof weight === "number" && weight < 0);

/** The scale of each criterion of several rubrics; none where rubrics have different scales for a name. */
export function declaredScalesOf(rubrics: Record<string, unknown>): Map<string, ScaleEnds> {
  const scales = new Map<string, ScaleEnds | undefined>();
  for (const rubric of Object.values(rubrics)) {
    for (const [name, criterion] of criteriaOf(rubric as Canonical)) {
      const ends = isNegative(criterion) ? undefined : criterionScaleOf(criterion);
      const known = scales.has(name) ? scales.get(name) : ends;
      scales.set(name, known?.min === ends?.min && known?.max === ends?.max ? known : undefined);
    }
  }
  return new Map([...scales].flatMap(([name, ends]) => (ends ? [[name, ends] as const] : [])));
}

type RubricVerdict = { score?: number | null; native?: number | null };
/** The answer of a grader on the scale of its criterion, and the same on 0 to 1. */
type ScaledAnswer = { criterion: string; value: unknown; unit: number };

/** The score of a verdict as the author of the rubric wants to see it, such as `4.00 on 1–5` or `C`. */
export function ownScoreOf(
  rubric: Canonical,
  { score, native }: RubricVerdict,
  answers: ScaledAnswer[],
): string | undefined {
  if (score == null) return undefined;
  const display = displayScaleOf(rubric);
  if (display) return nativeScore(score, display);
  if (rubric.scale === "letter") return letterOf(score);
  const criteria = criteriaOf(rubric);
  // The server has a mean on the own scale only where all criteria share one.
  const ends = criterionScaleOf([...criteria.values()][0]);
  if (native == null || !ends) return undefined;
  // A calibrated judge's numbers are mapped onto what people mean by them, so their mean is not the score.
  const isCalibrated = answers.some(({ criterion, value, unit }) => {
    const own = criterionScaleOf(criteria.get(criterion));
    return (
      own && typeof value === "number" && Math.abs((value - own.min) / (own.max - own.min) - unit) > 1e-6
    );
  });
  return isCalibrated ? undefined : nativeScore((native - ends.min) / (ends.max - ends.min), ends);
}

/** School grades: the lowest score of each letter. */
const LETTERS: [lowest: number, letter: string][] = [
  [0.9, "A"],
  [0.8, "B"],
  [0.7, "C"],
  [0.6, "D"],
];

// A score of 0.9 that is a sum may be slightly below 0.9.
const letterOf = (score: number): string => LETTERS.find(([lowest]) => lowest <= score + 1e-9)?.[1] ?? "F";

/** The scale of the score of several rubrics, or of one criterion; none where they have no or different scales. */
export function sharedScaleOf(
  rubrics: (Canonical | undefined)[],
  criterion?: string | null,
): ScaleEnds | undefined {
  return sharedEndsOf(rubrics.map((rubric) => scaleIn(rubric, criterion)));
}

function scaleIn(rubric: Canonical | undefined, name: string | null | undefined): ScaleEnds | undefined {
  if (name == null) return scoreScaleOf(rubric);
  const criterion = criteriaOf(rubric).get(name);
  return criterion && !isNegative(criterion) ? criterionScaleOf(criterion) : undefined;
}

/** The scale of the score of a rubric version, once the version is loaded. */
export function useScoreScale(version: string | null | undefined): ScaleEnds | undefined {
  const project = useProject();
  const { data } = useQuery({ ...versionQuery(project.id, version ?? ""), enabled: version != null });
  return scoreScaleOf(data?.canonical as Canonical | undefined);
}

/** The scale that several rubric versions share, for their score or for one criterion, once all are loaded. */
export function useSharedScale(versions: string[], criterion?: string): ScaleEnds | undefined {
  const project = useProject();
  const found = useQueries({ queries: versions.map((version) => versionQuery(project.id, version)) });
  return sharedScaleOf(
    found.map(({ data }) => data?.canonical as Canonical | undefined),
    criterion,
  );
}
