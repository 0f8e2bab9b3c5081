import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { CriterionMeanTable } from "./RunCriteria";
import { GradeAnswer, VerdictScore } from "./Scorecard";

const LIKERT = { likert: { min: 1, max: 5 } };
const RUBRIC = { criteria: [{ name: "tone", scale: LIKERT }] };
const COUNTS = { scored: 1 };

test("an answer is shown on the scale of its criterion, and from 0 to 1 beside it", () => {
  const answer = (value: number | boolean, unit: number, scale?: { min: number; max: number }) => {
    const { container } = render(<GradeAnswer outcome={{ kind: "scored", value, unit }} scale={scale} />);
    return container.textContent;
  };
  expect(answer(2, 0.25, { min: 1, max: 5 })).toBe("2 on 1–5 0.25");
  expect(answer(0.25, 0.25)).toBe("0.25");
  expect(answer(true, 1)).toBe("yes");
});

test("the score of a case is on the scale of its rubric, and from 0 to 1 beside it", () => {
  const verdict = { status: "fail" as const, score: 0.25, native: 2, counts: COUNTS };
  const grade = {
    candidate: "c",
    criterion: "tone",
    grader: { kind: "judge" as const, name: "m1" },
    outcome: { kind: "scored" as const, value: 2, unit: 0.25 },
    rubric: "r",
  };
  const shown = (rubric: object | undefined) => {
    const { container } = render(
      <VerdictScore rubric={rubric as Record<string, unknown>} verdict={verdict} grades={[grade as never]} />,
    );
    return container.textContent;
  };
  expect(shown(RUBRIC)).toBe("2.00 on 1–5 0.25");
  expect(shown({ criteria: [{ name: "tone", scale: "binary" }] })).toBe("0.25");
  expect(shown(undefined)).toBe("0.25");
});

test("means of criteria are on their scales, where the rubrics of the run give them one", () => {
  const criteria = [
    { criterion: "tone", mean: 0.75, interval: null, n_cases: 4 },
    { criterion: "said", mean: 0.5, interval: null, n_cases: 4 },
  ];
  render(<CriterionMeanTable criteria={criteria} rubrics={{ r: RUBRIC }} />);
  const meanOf = (name: string) => screen.getByRole("row", { name: new RegExp(`^${name}`) }).children[1];
  expect(meanOf("tone")?.textContent).toBe("4.00 on 1–5 0.75");
  expect(meanOf("said")?.textContent).toBe("0.50");
});
