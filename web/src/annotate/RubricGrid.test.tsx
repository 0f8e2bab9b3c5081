import { fireEvent, render, screen, within } from "@testing-library/react";
import { useState } from "react";
import { expect, test, vi } from "vitest";
import { rubricTask } from "../../workbench/fixtures";
import type { Quote } from "../traces/view/highlights";
import { missing } from "./answers";
import { RubricGrid } from "./RubricGrid";
import type { AnswerOf, KindOf } from "./types";

const scheme = rubricTask.schemes[0] as KindOf<"rubric">;

type HeldProps = { isTried?: boolean; quote?: Quote; onTold: (answer: AnswerOf<"rubric">) => void };

/** The grid as a page holds it. */
function Held({ isTried = false, quote, onTold }: HeldProps) {
  const [answer, setAnswer] = useState<AnswerOf<"rubric">>({ kind: "rubric", criteria: {} });
  return (
    <RubricGrid
      scheme={scheme}
      answer={answer}
      onAnswerChange={(it) => {
        onTold(it);
        setAnswer(it);
      }}
      missing={missing(scheme, { [scheme.name]: answer })}
      isTried={isTried}
      selectedQuote={() => quote}
      onQuoteShow={() => {}}
      isActive
    />
  );
}

/** Returns what was answered last. */
function grid(held: Omit<HeldProps, "onTold"> = {}) {
  const told = vi.fn();
  render(<Held {...held} onTold={told} />);
  return () => told.mock.lastCall?.[0] as AnswerOf<"rubric"> | undefined;
}

const row = (name: string) => screen.getByRole("radiogroup", { name });
const press = (key: string) => fireEvent.keyDown(document.body, { key });

test("a rating can be changed until it is submitted", () => {
  const last = grid();
  fireEvent.click(within(row("Efficiency")).getByRole("radio", { name: /^2/ }));
  fireEvent.click(within(row("Efficiency")).getByRole("radio", { name: /^5/ }));
  expect(last()?.criteria).toEqual({ efficiency: { rating: { kind: "scored", value: 5 } } });
  expect(within(row("Efficiency")).getByRole("radio", { name: /^5/ }).getAttribute("aria-checked")).toBe(
    "true",
  );
});

test("a level says what it means when it is focused, and to screen readers always", () => {
  grid();
  const level = within(row("Correctness")).getByRole("radio", {
    name: "5, Excellent, Fully correct solution that handles all edge cases",
  });
  expect(screen.queryByText("Fully correct solution that handles all edge cases")).toBeNull();
  fireEvent.focus(level);
  expect(screen.getByText("Fully correct solution that handles all edge cases")).toBeTruthy();
});

const goTo = (name: string) => fireEvent.focus(within(row(name)).getAllByRole("radio")[0] as HTMLElement);

test("digits rate the current row and go to the next; a digit off the scale does nothing", () => {
  const last = grid();
  press("9");
  expect(last()).toBeUndefined();
  press("3");
  press("4");
  const names = scheme.criteria.map((it) => it.name);
  expect(last()?.criteria).toEqual({
    [names[0] as string]: { rating: { kind: "scored", value: 3 } },
    [names[1] as string]: { rating: { kind: "scored", value: 4 } },
  });
  expect(document.activeElement?.closest("[data-row]")?.getAttribute("data-row")).toBe(names[2]);
});

test("a comment after a rating is about the row that was rated", () => {
  grid();
  press("3");
  press("c");
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Comment on Correctness");
});

test("n and u go to the next row, and take themselves back on the same one", () => {
  const last = grid();
  press("n");
  expect(last()?.criteria.correctness?.rating).toEqual({ kind: "not_applicable" });
  goTo("Correctness");
  press("n");
  expect(last()?.criteria.correctness?.rating).toBeUndefined();
  press("u");
  expect(last()?.criteria.correctness?.rating).toEqual({ kind: "abstained" });
});

test("the overall rating cannot be skipped, and is no criterion", () => {
  const last = grid();
  fireEvent.focus(within(row("Overall Quality")).getAllByRole("radio")[0] as HTMLElement);
  press("n");
  expect(last()).toBeUndefined();
  press("4");
  expect(last()?.overall?.rating).toEqual({ kind: "scored", value: 4 });
  expect(last()?.criteria).toEqual({});
});

test("what is missing is said once somebody has tried", () => {
  grid({ isTried: true });
  expect(screen.getAllByText("not rated")).toHaveLength(5);
  press("1");
  expect(screen.getAllByText("not rated")).toHaveLength(4);
});

test("what is selected becomes evidence, and can be taken away", () => {
  const last = grid({ quote: { part: "trace.2.text", quote: "so", start: 0, end: 2 } });
  press("e");
  expect(last()?.criteria.correctness?.evidence).toHaveLength(1);
  fireEvent.click(screen.getByRole("button", { name: "Remove the quote" }));
  expect(last()?.criteria.correctness?.evidence).toEqual([]);
});

test("digits typed into a comment are text", () => {
  const last = grid();
  press("c");
  fireEvent.keyDown(screen.getByLabelText("Comment on Correctness"), { key: "5" });
  expect(last()?.criteria.correctness?.rating).toBeUndefined();
});
