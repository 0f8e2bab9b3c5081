import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { FailedGates } from "./ScoreBreakdown";

test("gates that failed and gates that nobody could decide are told apart", () => {
  const failed = [{ gate: "min_score", criterion: "tone" }];
  const undecided = [{ gate: "required", criterion: "never", reason: "there is no trace to look at" }];
  render(<FailedGates failed={failed} undecided={undecided} />);
  expect(screen.getByText("min score · tone").parentElement?.textContent).toMatch(/^Failed gates/);
  const open = screen.getByText("required · never").parentElement;
  expect(open?.textContent).toBe(
    "Undecided gate (no verdict without it): required · never there is no trace to look at",
  );
});

test("a verdict without gates says nothing about them", () => {
  const { container } = render(<FailedGates failed={undefined} undecided={[]} />);
  expect(container.textContent).toBe("");
});
