import { expect, test } from "vitest";
import { branchingTask, codingTask, verifyTask } from "../../workbench/fixtures";
import {
  asShown,
  differences,
  kindsOf,
  missing,
  reachedClaims,
  runningScore,
  shownSchemes,
  totalOfParts,
  weighted,
} from "./answers";
import type { Checked, Claim, Draft, KindOf, Rated, Scheme } from "./types";

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

const claim = (id: string, more: Partial<Claim>): Claim => ({
  id,
  criterion: id.split("#")[0] as string,
  label: id,
  ...more,
});

test("a total follows from its parts and is never asked for", () => {
  const holds = { said: { kind: "scored", value: true } } as const;
  const claims = [
    claim("spec", { said: { kind: "scored", value: 1 }, from_parts: true }),
    claim("spec#1", holds),
    claim("spec#2", holds),
  ];
  const [total] = claims as [Claim];
  const scheme: KindOf<"verify"> = { kind: "verify", name: "v", required: true, claims };
  expect(missing(scheme, {})).toEqual(["spec#1", "spec#2"]);
  const checked: Record<string, Checked> = { "spec#1": { verdict: "confirmed" } };
  expect(totalOfParts(total, claims, checked)).toBeUndefined();
  checked["spec#2"] = { verdict: "corrected", rating: { kind: "scored", value: false } };
  expect(totalOfParts(total, claims, checked)).toEqual({ kind: "scored", value: 0.5 });
  expect(missing(scheme, { v: { kind: "verify", claims: checked } })).toEqual([]);
});

test("a corrected branch leads to the questions behind it", () => {
  const claims = [
    claim("root", { said: { kind: "scored", value: "yes" }, leads: { yes: "right", no: "told" } }),
    claim("right", { said: { kind: "scored", value: "yes" } }),
    claim("told", {}),
  ];
  const ids = (checked: Record<string, Checked>) => reachedClaims(claims, checked).map((it) => it.id);
  expect(ids({})).toEqual(["root", "right"]);
  const no: Checked = { verdict: "corrected", rating: { kind: "scored", value: "no" } };
  expect(ids({ root: no })).toEqual(["root", "told"]);
  const scheme: KindOf<"verify"> = { kind: "verify", name: "v", required: true, claims };
  const draft: Draft = { v: { kind: "verify", claims: { root: no, told: { verdict: "confirmed" } } } };
  expect(missing(scheme, draft)).toEqual(["told"]);
});

test("two drafts differ where they say something else", () => {
  const of = (value: number, notes?: string): Draft => ({
    [rubric.name]: { kind: "rubric", criteria: rated({ correctness: value, efficiency: 2 }), notes },
  });
  expect(differences([rubric], of(5), of(1, "so"))).toEqual([
    { label: "Correctness", mine: "5 (Excellent)", theirs: "1 (Poor)" },
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

test("a question is asked after the answers that it depends on, and not after hidden ones", () => {
  const names = (draft: Draft) => shownSchemes(branchingTask.schemes, draft).map((it) => it.name);
  const chosen = (...labels: string[]) => ({ kind: "choice" as const, labels });
  expect(names({})).toEqual(["grounded", "clear", "effort"]);
  // Upper and lower case are equal.
  expect(names({ grounded: chosen("no") })).toEqual(["grounded", "faults", "clear", "effort"]);
  const faults = chosen("outdated", "invented");
  expect(names({ grounded: chosen("partly"), faults })).toContain("which");
  expect(names({ grounded: chosen("yes"), faults })).toEqual(["grounded", "clear", "effort"]);
});

test("a question after is_not waits for the answer of the other", () => {
  const choice = { kind: "choice" as const, required: true, dropdown: false };
  const after = (question: string, label: string) => ({
    conditions: [{ question, test: "is_not" as const, values: [label] }],
  });
  const schemes: Scheme[] = [
    { ...choice, name: "right", many: false, labels: ["yes", "no"] },
    { ...choice, name: "faults", many: true, labels: ["a", "b"], shown_when: after("right", "yes") },
    { kind: "text", name: "why", required: false, multiline: true, shown_when: after("faults", "a") },
  ];
  const names = (draft: Draft) => shownSchemes(schemes, draft).map((it) => it.name);
  const right = (label: string): Draft => ({ right: { kind: "choice", labels: [label] } });
  expect(names({})).toEqual(["right"]);
  expect(names(right("yes"))).toEqual(["right"]);
  // No fault is ticked, which is an answer.
  expect(names(right("no"))).toEqual(["right", "faults", "why"]);
});
