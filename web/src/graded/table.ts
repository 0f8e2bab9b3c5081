// Grades of one trace, side by side.
import type { Contract, Schemas } from "../api/client";
import type { Quote } from "../traces/view/marks";

/** A grade in numbers, with its reasons where the server tells them. */
export type GradeSaid = Schemas["GradeLine"] &
  Partial<Pick<Contract["Grade"], "reason" | "evidence" | "points">>;

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

/** How far the scores of a row are apart; `null` where there are not two. */
export function spreadOf(grades: (GradeSaid | undefined)[]): number | null {
  const scores = grades.flatMap((it) => (it?.score == null ? [] : [it.score]));
  return scores.length < 2 ? null : Math.max(...scores) - Math.min(...scores);
}

/** What graders quoted, where it stands. */
export const quotesOf = (grades: GradeSaid[]): Quote[] =>
  grades.flatMap((grade) =>
    (grade.evidence ?? []).flatMap(({ found, quote }) =>
      found ? [{ part: found.in, quote, start: found.start, end: found.end }] : [],
    ),
  );

/** The step that a part of a trace belongs to, from 1. */
export const stepOf = (part: string | undefined): number | undefined => {
  const found = /^trace\.(\d+)(\.|$)/.exec(part ?? "")?.[1];
  return found === undefined ? undefined : Number(found);
};
