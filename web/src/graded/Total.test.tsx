import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Gates } from "./Total";

test("gates that failed and gates that nobody could decide are told apart", () => {
  const failed = [{ gate: "min_score", criterion: "tone" }];
  const undecided = [{ gate: "required", criterion: "never", reason: "there is no trace to look at" }];
  render(<Gates failed={failed} undecided={undecided} />);
  expect(screen.getByText("min score · tone").parentElement?.textContent).toMatch(
    /^Fails whatever the score/,
  );
  const open = screen.getByText("required · never").parentElement;
  expect(open?.textContent).toBe(
    "No verdict without this gate: required · never there is no trace to look at",
  );
});

test("a verdict without gates says nothing about them", () => {
  const { container } = render(<Gates failed={undefined} undecided={[]} />);
  expect(container.textContent).toBe("");
});
