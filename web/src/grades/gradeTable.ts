// Grades of one trace, side by side.
import type { Schemas } from "../api/client";
import type { Quote } from "../traces/view/highlights";
import { partsOf, type Trace } from "../traces/view/traceParts";

export type Evidence = Schemas["GradeEvidence"];
export type GradeSaid = Schemas["GradeLine"];
export type Verdict = Schemas["VerdictLine"];

export type Grid = {
  version: string;
  graders: { kind: string; name: string }[];
  rows: { criterion: string; grades: (GradeSaid | undefined)[] }[];
};

const keyOf = (it: { grader_kind: string; grader: string }) => `${it.grader_kind} ${it.grader}`;
const KINDS = ["check", "judge", "human"];

/** Criteria as rows and graders as columns, for each rubric version by itself; the newest answer counts. */
export function gridsOf(grades: GradeSaid[]): Grid[] {
  const versions = [...new Set(grades.map((it) => it.rubric_version))];
  return versions.map((version) => {
    const own = grades
      .filter((it) => it.rubric_version === version)
      .sort((a, b) => a.time.localeCompare(b.time));
    const graders = new Map(own.map((it) => [keyOf(it), { kind: it.grader_kind, name: it.grader }]));
    const columns = [...graders].sort(
      ([, a], [, b]) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.name.localeCompare(b.name),
    );
    const newest = new Map(own.map((it) => [`${it.criterion}\n${keyOf(it)}`, it]));
    const criteria = [...new Set(own.map((it) => it.criterion))].sort((a, b) => a.localeCompare(b));
    return {
      version,
      graders: columns.map(([, it]) => it),
      rows: criteria.map((criterion) => ({
        criterion,
        grades: columns.map(([key]) => newest.get(`${criterion}\n${key}`)),
      })),
    };
  });
}

/** The grades of a row with their graders; graders of other criteria are left out. */
export const gradesIn = ({ graders }: Grid, { grades }: Grid["rows"][number]) =>
  graders.flatMap((grader, at) => {
    const grade = grades[at];
    return grade ? [{ grader, grade }] : [];
  });

/** The largest difference between scores of a row; `null` with fewer than two. */
export function spreadOf(grades: (GradeSaid | undefined)[]): number | null {
  const scores = grades.flatMap((it) => (it?.score == null ? [] : [it.score]));
  return scores.length < 2 ? null : Math.max(...scores) - Math.min(...scores);
}

/** A quote and its step. */
export type Placed = Quote & { step: number };

/** The step of a quote. Evidence without a step is searched from the end. */
export function placed(trace: Trace | undefined, { quote, found }: Evidence): Placed | undefined {
  if (!found) return undefined;
  const step = stepOf(found.in);
  if (step !== undefined) {
    // Calls are drawn as commands and arguments, so that offsets of the server do not apply.
    if (/\.(call|file)\b/.test(found.in)) return { step, part: found.in, quote };
    return { step, part: found.in, quote, start: found.start, end: found.end };
  }
  const steps = trace?.steps ?? [];
  for (let n = steps.length; n >= 1; n -= 1) {
    const part = partsOf(steps[n - 1] ?? {}, n).find((it) => it.text.includes(quote));
    if (part) return { step: n, part: part.name, quote };
  }
  return undefined;
}

/** A quote with the grade that rests on it. */
export type Cited = Placed & { grade: GradeSaid };

/** Quotes of graders with their steps. */
export const citedIn = (trace: Trace | undefined, grades: GradeSaid[]): Cited[] =>
  grades.flatMap((grade) =>
    evidenceOf(grade).flatMap((it) => {
      const at = placed(trace, it);
      return at ? [{ ...at, grade }] : [];
    }),
  );

const evidenceOf = (grade: GradeSaid): Evidence[] => [
  ...(grade.evidence ?? []),
  ...(grade.points ?? []).flatMap((it) => it.evidence ?? []),
];

/** The step that a part of a trace belongs to, from 1. */
export const stepOf = (part: string | undefined): number | undefined => {
  const found = /^trace\.(\d+)(\.|$)/.exec(part ?? "")?.[1];
  return found === undefined ? undefined : Number(found);
};
