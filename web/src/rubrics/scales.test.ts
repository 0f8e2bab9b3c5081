import { expect, test } from "vitest";
import {
  criterionScaleOf,
  declaredScalesOf,
  displayScaleOf,
  ownScoreOf,
  scoreScaleOf,
  sharedScaleOf,
} from "./scales";

const LIKERT = { likert: { min: 1, max: 5 } };
const FIVE = { min: 1, max: 5 };

test("a criterion has a scale if its answers are whole numbers", () => {
  expect(criterionScaleOf({ name: "tone", scale: LIKERT })).toEqual(FIVE);
  expect(criterionScaleOf({ name: "tone", scale: { ranges: { 0: "bad", 8: "good" } } })).toEqual({
    min: 0,
    max: 10,
  });
  for (const scale of ["binary", undefined, { choices: { plain: 1, stilted: 0 } }])
    expect(criterionScaleOf({ name: "tone", scale })).toBeUndefined();
  expect(criterionScaleOf(undefined)).toBeUndefined();
});

test("a rubric has the scale on which it shows its score", () => {
  expect(displayScaleOf({ scale: LIKERT })).toEqual(FIVE);
  expect(displayScaleOf({ scale: "letter" })).toBeUndefined();
  expect(displayScaleOf({})).toBeUndefined();
});

test("a score has the scale that all criteria share, unless it is no mean of their answers", () => {
  const criteria = [
    { name: "tone", scale: LIKERT },
    { name: "facts", scale: LIKERT },
  ];
  expect(scoreScaleOf({ criteria })).toEqual(FIVE);
  expect(scoreScaleOf({ scale: { likert: { min: 0, max: 10 } }, criteria })).toEqual({ min: 0, max: 10 });
  for (const rubric of [
    undefined,
    { scale: "letter", criteria },
    { aggregation: "min", criteria },
    { length_penalty: { free: 100, cap: 200, penalty: 0.5 }, criteria },
    { criteria: [...criteria, { name: "said", scale: "binary" }] },
    { criteria: [...criteria, { name: "rude", scale: LIKERT, guard: true }] },
    { criteria: [{ name: "group", criteria }] },
  ])
    expect(scoreScaleOf(rubric)).toBeUndefined();
});

test("scales that rubrics do not agree about and those of negative criteria are left out", () => {
  const seven = { likert: { min: 1, max: 7 } };
  const one = {
    criteria: [
      { name: "tone", scale: LIKERT },
      { name: "short", scale: LIKERT },
      { name: "said", scale: "binary" },
    ],
  };
  const other = {
    criteria: [
      { name: "tone", scale: LIKERT },
      { name: "short", scale: seven },
      { name: "said", scale: LIKERT },
      { name: "rude", scale: LIKERT, not: true },
      { name: "wordy", scale: LIKERT, weight: -1 },
    ],
  };
  expect([...declaredScalesOf({ one, other })]).toEqual([["tone", FIVE]]);
});

test("several rubrics have a scale if all of them have the same one", () => {
  const five = { scale: LIKERT, criteria: [{ name: "tone", scale: { likert: { min: 1, max: 7 } } }] };
  const plain = { criteria: [{ name: "tone", scale: { likert: { min: 1, max: 7 } } }] };
  expect(sharedScaleOf([five, { scale: LIKERT }])).toEqual(FIVE);
  expect(sharedScaleOf([five, plain])).toBeUndefined();
  // One of them is not loaded yet.
  expect(sharedScaleOf([five, undefined])).toBeUndefined();
  expect(sharedScaleOf([])).toBeUndefined();
  expect(sharedScaleOf([five, plain], "tone")).toEqual({ min: 1, max: 7 });
  expect(sharedScaleOf([{ criteria: [{ name: "rude", scale: LIKERT, not: true }] }], "rude")).toBeUndefined();
});

test("a verdict is shown as the author of its rubric wants to see it", () => {
  const flat = { criteria: [{ name: "tone", scale: LIKERT }] };
  const answer = (value: number, unit: number) => [{ criterion: "tone", value, unit }];
  expect(ownScoreOf({ ...flat, scale: LIKERT }, { score: 0.25 }, [])).toBe("2.00 on 1–5");
  expect(
    [0.95, 0.8999999999, 0.6, 0.59].map((score) => ownScoreOf({ scale: "letter" }, { score }, [])),
  ).toEqual(["A", "A", "D", "F"]);
  expect(ownScoreOf(flat, { score: 0.25, native: 2 }, answer(2, 0.25))).toBe("2.00 on 1–5");
  // The numbers of a calibrated judge are not what counts.
  expect(ownScoreOf(flat, { score: 0.5, native: 2 }, answer(2, 0.5))).toBeUndefined();
  expect(ownScoreOf(flat, { score: 0.25 }, answer(2, 0.25))).toBeUndefined();
  expect(ownScoreOf({ ...flat, scale: LIKERT }, { score: null }, [])).toBeUndefined();
});
