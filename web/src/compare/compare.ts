// Two runs, case by case, as `jurist compare` pairs them.
import type { Contract } from "../api/client";
import type { Status } from "../ui/Badge";

/** As much of a result as comparing takes. */
export type Result = Pick<Contract["CaseResult"], "case" | "trial" | "rubric" | "verdict" | "grades">;

export type Difference = { before: number; after: number; difference: number; n: number };

export type Pair = {
  case: string;
  /** What all trials of it share. */
  base: string;
  before: Side;
  after: Side;
  /** Later less earlier; `null` where one of them has no score, or the rubric is another. */
  difference: number | null;
  isSameRubric: boolean;
  criteria: { name: string; before: number; after: number }[];
};

type Side = { status: Status; score: number | null };

export type Compared = {
  nCases: number;
  onlyBefore: string[];
  onlyAfter: string[];
  score: Difference | null;
  passRate: Difference | null;
  criteria: { name: string; difference: Difference }[];
  /** What changed first: what got worse before what got better, then by how much. */
  pairs: Pair[];
};

const base = (it: Result): string => (it.trial == null ? it.case : it.case.replace(/ \[trial [^\]]*\]$/, ""));
const isDecided = ({ status }: Side): boolean => status === "pass" || status === "fail";
const sideOf = (it: Result): Side => ({ status: it.verdict.status, score: it.verdict.score ?? null });

export function compared(before: Result[], after: Result[]): Compared {
  const right = new Map(after.map((it) => [it.case, it]));
  const left = new Set(before.map((it) => it.case));
  const both = before.flatMap((it): [Result, Result][] => {
    const other = right.get(it.case);
    return other ? [[it, other]] : [];
  });
  const pairs = both.map(([a, b]): Pair => {
    const [old, now] = [sideOf(a), sideOf(b)];
    const isSameRubric = a.rubric === b.rubric;
    const has = isSameRubric && old.score !== null && now.score !== null;
    return {
      case: a.case,
      base: base(a),
      before: old,
      after: now,
      isSameRubric,
      difference: has ? (now.score ?? 0) - (old.score ?? 0) : null,
      criteria: isSameRubric ? shared(a, b) : [],
    };
  });
  const decided = pairs.filter((it) => it.isSameRubric && isDecided(it.before) && isDecided(it.after));
  const passes = (it: Side) => (it.status === "pass" ? 1 : 0);
  const names = [...new Set(pairs.flatMap((it) => it.criteria.map((one) => one.name)))].sort();
  return {
    nCases: new Set(both.filter(([a]) => decided.some((it) => it.case === a.case)).map(([a]) => base(a)))
      .size,
    onlyBefore: before.filter((it) => !right.has(it.case)).map((it) => it.case),
    onlyAfter: after.filter((it) => !left.has(it.case)).map((it) => it.case),
    score: differenceOf(
      decided.flatMap((it) => (it.difference === null ? [] : [[it.before.score ?? 0, it.after.score ?? 0]])),
    ),
    passRate: differenceOf(decided.map((it) => [passes(it.before), passes(it.after)])),
    criteria: names.flatMap((name) => {
      const found = pairs.flatMap((it) => it.criteria.filter((one) => one.name === name));
      const difference = differenceOf(found.map((it) => [it.before, it.after]));
      return difference ? [{ name, difference }] : [];
    }),
    pairs: pairs.sort((a, b) => rank(a) - rank(b) || size(b) - size(a) || a.case.localeCompare(b.case)),
  };
}

function differenceOf(values: number[][]): Difference | null {
  if (values.length === 0) return null;
  const sum = (at: number) => values.reduce((total, it) => total + (it[at] ?? 0), 0);
  const [before, after, n] = [sum(0), sum(1), values.length];
  return { before: before / n, after: after / n, difference: (after - before) / n, n };
}

const size = (it: Pair): number => Math.abs(it.difference ?? 0);

export const isChanged = (it: Pair): boolean =>
  it.before.status !== it.after.status || Math.abs(it.difference ?? 0) > 1e-9;

function rank({ before, after, difference }: Pair): number {
  if (before.status !== after.status) {
    if (before.status === "pass" && after.status === "fail") return 0;
    return { error: 1, fail: 2, deferred: 3, pass: 4 }[after.status];
  }
  if (difference === null || Math.abs(difference) <= 1e-9) return 7;
  return difference < 0 ? 5 : 6;
}

/** Criteria that both were asked, each the mean over those who answered it. */
function shared(a: Result, b: Result): Pair["criteria"] {
  const [old, now] = [meansOf(a), meansOf(b)];
  return [...old].flatMap(([name, before]) => {
    const after = now.get(name);
    return after === undefined ? [] : [{ name, before, after }];
  });
}

function meansOf({ grades }: Result): Map<string, number> {
  const all = new Map<string, number[]>();
  for (const { criterion, outcome } of grades) {
    const unit = outcome.kind === "scored" ? outcome.unit : null;
    if (unit != null) all.set(criterion, [...(all.get(criterion) ?? []), unit]);
  }
  return new Map(
    [...all].map(([name, units]) => [name, units.reduce((sum, it) => sum + it, 0) / units.length]),
  );
}
