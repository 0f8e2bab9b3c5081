import { expect, test } from "vitest";
import { codingTask, verifyTask } from "../../workbench/fixtures";
import { asShown, differences, kindsOf, missing, runningScore, weighted } from "./rules";
import type { Checked, Draft, KindOf, Rated } from "./types";

const [trajectory, rubric] = codingTask.schemes as [KindOf<"trajectory">, KindOf<"rubric">];

const rated = (values: Record<string, number>): Record<string, Rated> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { rating: { kind: "scored", value } }]),
  );

test("the weighted score is that of the tutorial", () => {
  const all = { correctness: 4, code_quality: 3, efficiency: 5, documentation: 2, error_handling: 3 };
  expect(weighted(rubric, rated(all))?.toFixed(2)).toBe("3.56");
});

test("what does not apply leaves the denominator", () => {
  const criteria = {
    ...rated({ correctness: 4 }),
    code_quality: { rating: { kind: "not_applicable" } } as Rated,
  };
  expect(weighted(rubric, criteria)).toBe(4);
  expect(weighted(rubric, {})).toBeUndefined();
});

test("a comment alone is no rating", () => {
  const draft: Draft = {
    [rubric.name]: {
      kind: "rubric",
      criteria: { correctness: { comment: "hm" }, ...rated({ efficiency: 3 }) },
    },
  };
  expect(missing(rubric, draft)).toContain("correctness");
  expect(missing(rubric, draft)).not.toContain("efficiency");
});

test("the running score is withheld until every step is marked", () => {
  const steps: Record<string, { mark: string; error?: string; severity?: string }> = {};
  for (const n of trajectory.steps) steps[n] = { mark: "correct" };
  expect(runningScore(trajectory, steps)).toBe(100);
  const [first, second] = trajectory.steps;
  steps[first as number] = { mark: "incorrect", error: "logical_error", severity: "major" };
  expect(runningScore(trajectory, steps)).toBe(95);
  steps[second as number] = { mark: "incorrect", error: "wrong_tool" };
  expect(runningScore(trajectory, steps)).toBeUndefined();
  expect(missing(trajectory, { [trajectory.name]: { kind: "trajectory", steps } })).toEqual([String(second)]);
});

test("a draft of another kind counts for nothing", () => {
  expect(missing(rubric, { [rubric.name]: { kind: "text", text: "old" } })).toHaveLength(5);
});

const [verify] = verifyTask.schemes as [KindOf<"verify">];

test("what is corrected says what is right instead", () => {
  const draft = (claims: Record<string, Checked>): Draft => ({ judge: { kind: "verify", claims } });
  const checked: Record<string, Checked> = {
    c1: { verdict: "confirmed" },
    c2: { verdict: "corrected" },
    c3: { comment: "hm" },
  };
  expect(missing(verify, draft(checked))).toEqual(["c2", "c3"]);
  checked.c2 = { verdict: "corrected", rating: { kind: "abstained" } };
  expect(missing(verify, draft(checked))).toEqual(["c3"]);
});

test("two drafts differ where they say something else", () => {
  const of = (value: number, notes?: string): Draft => ({
    [rubric.name]: { kind: "rubric", criteria: rated({ correctness: value, efficiency: 2 }), notes },
  });
  expect(differences([rubric], of(5), of(1, "so"))).toEqual([
    { label: "Correctness", mine: "5 Excellent", theirs: "1 Poor" },
    { label: "Additional Notes", mine: "–", theirs: "so" },
  ]);
});

test("a task decides what of its questions is shown", () => {
  const settings = { back_navigation: true, shows_score: false, shows_descriptions: false };
  const [shown] = asShown({ schemes: [rubric], settings }) as [KindOf<"rubric">];
  expect(shown.shows_score).toBe(false);
  expect(shown.criteria.some((it) => it.description)).toBe(false);
  expect(rubric.criteria.some((it) => it.description)).toBe(true);
});

test("kinds of error of one name are told apart by their category", () => {
  const errors = [
    { category: "planning", types: ["wrong_order", "other"] },
    { category: "tools", types: ["other"] },
    { category: "safety", types: [] },
  ];
  expect(errors.map((it) => kindsOf(it, errors).map((kind) => kind.value))).toEqual([
    ["wrong_order", "planning::other"],
    ["tools::other"],
    ["safety"],
  ]);
});
