import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { missing } from "./answers";
import { Choice, FreeText } from "./SimpleQuestions";
import type { KindOf } from "./types";

const faults: KindOf<"choice"> = {
  kind: "choice",
  name: "faults",
  required: false,
  many: true,
  dropdown: false,
  labels: ["invented", "outdated", "rude"],
  limits: { min: 1, max: 2 },
};
const why: KindOf<"text"> = {
  kind: "text",
  name: "why",
  required: false,
  multiline: true,
  limits: { min: 4, max: 10 },
};
const shared = { onAnswerChange: () => {}, isActive: false, isMissing: true };

test("a choice shows its limits, and an alert says which one is not kept", () => {
  const answer = { kind: "choice" as const, labels: faults.labels };
  render(<Choice scheme={faults} answer={answer} {...shared} />);
  expect(screen.getByText("Choose 1 to 2")).toBeDefined();
  expect(screen.getByRole("alert").textContent).toBe("Choose 1 to 2: 3 chosen.");
  expect(screen.queryByText("not answered")).toBeNull();
  expect(missing(faults, { faults: answer })).toEqual(["faults"]);
  expect(missing(faults, {})).toEqual(["faults"]);
  expect(missing(faults, { faults: { ...answer, labels: ["rude"] } })).toEqual([]);
});

test("a text counts its characters, and may stay empty if it is not required", () => {
  const answer = { kind: "text" as const, text: " 🎉🎉🎉 " };
  render(<FreeText scheme={why} answer={answer} {...shared} />);
  expect(screen.getByText("3 of 10 characters, at least 4")).toBeDefined();
  expect(screen.getByRole("alert").textContent).toBe("Write 4 to 10 characters: 3 written.");
  expect(missing(why, { why: { ...answer, text: "  " } })).toEqual([]);
  expect(missing({ ...why, required: true }, {})).toEqual(["why"]);
});
