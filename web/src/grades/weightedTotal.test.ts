import { expect, test } from "vitest";
import { againstMark, sumOf, wayOf } from "./weightedTotal";

const RUBRIC = {
  criteria: [
    { name: "answers", weight: 2 },
    { name: "correct", required: true },
    { name: "rude", guard: true },
  ],
  threshold: 0.6,
};
const by = (all: Record<string, number[]>) => (criterion: string) =>
  (all[criterion] ?? []).map((unit, at) => ({ grader: `judge ${at}`, unit }));

test("a total is shown with the numbers that it comes from, and only where they come to it", () => {
  const said = by({ answers: [1], correct: [0], rude: [0] });
  expect(sumOf(RUBRIC, said, { status: "fail", score: 0.75 })).toBe(
    "(2 × 1.00 + 1 × 0.00 + 1 × 1.00) ÷ 4 = 0.75",
  );
  expect(sumOf(RUBRIC, said, { status: "fail", score: 0.5 })).toBeUndefined();
  expect(sumOf(RUBRIC, said, { status: "error" })).toBeUndefined();
  // What nobody scored has no share.
  expect(sumOf(RUBRIC, by({ answers: [1, 0.5], rude: [0] }), { status: "pass", score: 2.5 / 3 })).toBe(
    "(2 × 0.75 + 1 × 1.00) ÷ 3 = 0.83",
  );
  expect(sumOf({ ...RUBRIC, aggregation: "min" }, said, { status: "fail", score: 0.75 })).toBeUndefined();
});

test("the pass mark stands beside the total, and the way where it is no plain sum", () => {
  expect(againstMark(RUBRIC, { status: "fail", score: 0.59 })).toBe("Below the pass mark of 0.60.");
  expect(againstMark(RUBRIC, { status: "pass", score: 0.6 })).toBe("At or above the pass mark of 0.60.");
  expect(againstMark({}, { status: "fail", score: 0.9 })).toBe(
    "At or above the pass mark of 0.70, but a gate failed.",
  );
  expect(againstMark({}, { status: "error", score: null })).toBe("No score. The pass mark is 0.70.");
  const scaled = { criteria: [{ name: "tone", scale: { likert: { min: 1, max: 5 } } }] };
  expect(againstMark(scaled, { status: "fail", score: 0.5 })).toBe(
    "Below the pass mark of 3.80 on 1–5 (0.70).",
  );
  expect(wayOf({ ...RUBRIC, aggregation: "min" })).toBe("The score is the lowest criterion score.");
  expect(wayOf({ tree: {} })).toContain("decision tree");
});
