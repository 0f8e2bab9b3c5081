import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { ScaleEnds } from "../chart/figures";
import { CriterionChanges, ScoreChange } from "./CaseChanges";
import { DifferenceTable } from "./ComparePage";
import type { Comparison, Difference } from "./queries";

const FIVE = { min: 1, max: 5 };

test("answers of graders have the scale of their criterion in each of the runs", () => {
  const said = (answer: string) => ({ answer, evidence: [], grader: "m1", reason: "" });
  const criteria = [
    { criterion: "tone", before: [said("2 (0.25)")], after: [said("6 (0.83)")] },
    { criterion: "said", before: [said("0.00")], after: [said("1.00 (no quote)")] },
  ];
  const scales = {
    before: { criteria: new Map([["tone", FIVE]]) },
    after: { criteria: new Map([["tone", { min: 1, max: 7 }]]) },
  };
  render(<CriterionChanges criteria={criteria} scales={scales} />);
  const row = (name: string) => screen.getByRole("row", { name: new RegExp(`^${name}`) }).textContent;
  expect(row("tone")).toBe("tone2 on 1–5 (0.25) by m16 on 1–7 (0.83) by m1");
  expect(row("said")).toBe("said0.00 by m11.00 (no quote) by m1");
});

test("means of two runs are on the scale of their criterion, and the overall score on the one of both runs", () => {
  const interval: [number, number] = [0.1, 0.4];
  const difference = { before: 0.25, after: 0.5, difference: 0.25, interval, n: 4, p: 0.04 } as Difference;
  const comparison = { n_cases: 4, score: difference, criteria: { tone: difference } };
  const shown = (overallAfter: ScaleEnds | null) => {
    const scales = {
      before: { overall: FIVE, criteria: new Map() },
      after: { overall: overallAfter, criteria: new Map([["tone", FIVE]]) },
    };
    const all = comparison as unknown as Comparison;
    const { container, unmount } = render(<DifferenceTable comparison={all} scales={scales} />);
    const rows = [...container.querySelectorAll("tbody tr")].map((row) => row.textContent);
    unmount();
    return rows;
  };
  const onFive = (name: string) =>
    expect.stringContaining(
      `${name}2.00 on 1–5 0.2503.00 on 1–5 0.500+1.00 on 1–5 [+0.40, +1.60] +0.250 [+0.100, +0.400]`,
    );
  expect(shown(FIVE)).toEqual([onFive("score"), onFive("tone")]);
  // The rubrics of the later run have no common scale.
  expect(shown(null)).toEqual([expect.stringMatching(/^score0\.2500\.500\+0\.250/), onFive("tone")]);
});

test("only significant differences of the score and the pass rate are coloured", () => {
  const scales = { before: { criteria: new Map() }, after: { criteria: new Map() } };
  const of = (interval: [number, number]) =>
    ({ before: 0.25, after: 0.5, difference: 0.25, interval, n: 4, p: 0.04 }) as Difference;
  const comparison = {
    n_cases: 4,
    score: of([0.1, 0.4]),
    pass_rate: of([-0.1, 0.6]),
    criteria: { tone: of([0.1, 0.4]) },
  };
  render(<DifferenceTable comparison={comparison as unknown as Comparison} scales={scales} />);
  const tones = screen.getAllByText("+0.250").map((it) => it.dataset.tone);
  expect(tones).toEqual(["better", undefined, undefined]);
});

test("the scores of a case are on the scale of each run", () => {
  const scales = { before: { overall: FIVE, criteria: new Map() }, after: { criteria: new Map() } };
  const shown = (before: number | null, after: number | null) =>
    render(<ScoreChange before={before} after={after} scales={scales} />).container.textContent;
  expect(shown(0.25, 0.5)).toBe("2.00 on 1–5 0.25 → 0.50");
  expect(shown(null, 0.5)).toBe("– → 0.50");
});
