import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { CriterionChanges } from "./CaseChanges";
import { DifferenceTable } from "./ComparePage";
import type { Comparison, Difference } from "./queries";

const FIVE = { min: 1, max: 5 };

test("answers of graders have the scale of their criterion in each of the runs", () => {
  const said = (answer: string) => ({ answer, evidence: [], grader: "m1", reason: "" });
  const criteria = [
    { criterion: "tone", before: [said("2 (0.25)")], after: [said("6 (0.83)")] },
    { criterion: "said", before: [said("0.00")], after: [said("1.00 (no quote)")] },
  ];
  const scales = { before: new Map([["tone", FIVE]]), after: new Map([["tone", { min: 1, max: 7 }]]) };
  render(<CriterionChanges criteria={criteria} scales={scales} />);
  const row = (name: string) => screen.getByRole("row", { name: new RegExp(`^${name}`) }).textContent;
  expect(row("tone")).toBe("tone2 on 1–5 (0.25) by m16 on 1–7 (0.83) by m1");
  expect(row("said")).toBe("said0.00 by m11.00 (no quote) by m1");
});

test("means of two runs are on the scale of their criterion; scores and pass rates are not", () => {
  const difference = { before: 0.25, after: 0.5, difference: 0.25, n: 4, p: 0.04 } as Difference;
  const comparison = { n_cases: 4, score: difference, criteria: { tone: difference } };
  const scales = new Map(["tone", "score"].map((name) => [name, FIVE] as const));
  render(<DifferenceTable comparison={comparison as unknown as Comparison} scales={scales} />);
  const row = (name: string) => screen.getByRole("row", { name: new RegExp(`^${name}`) }).textContent;
  expect(row("tone")).toMatch(/^tone2\.00 on 1–5 0\.2503\.00 on 1–5 0\.500\+0\.250/);
  expect(row("score")).toMatch(/^score0\.2500\.500\+0\.250/);
});
