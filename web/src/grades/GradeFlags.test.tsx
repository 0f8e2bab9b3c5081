import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { GradeFlags } from "./GradeFlags";

test("flags of a grade are named and explained", () => {
  render(<GradeFlags flags={["verdict_in_candidate", "no_verifiable_evidence", "some_news"]} />);
  expect(screen.getByText("verdict in candidate")).toBeTruthy();
  expect(screen.getByText(/looks like a verdict/)).toBeTruthy();
  expect(screen.getByText("no verifiable evidence")).toBeTruthy();
  expect(screen.getByText(/this answer counts as 0/)).toBeTruthy();
  expect(screen.getByText("some news")).toBeTruthy();
});

test("a grade without flags says nothing more", () => {
  const { container } = render(<GradeFlags flags={undefined} />);
  expect(container.textContent).toBe("");
});
