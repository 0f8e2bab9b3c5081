import { expect, test } from "vitest";
import { answerOf, buildAnswerGrid, filterGridRows, type GridOnly, verdictsDiffer } from "./answerGrid";
import type { CaseOutcome } from "./CaseStrip";

const outcome = (place: number, name: string, status: CaseOutcome["status"] = "pass"): CaseOutcome => ({
  place,
  case: name,
  status,
  score: status === "pass" ? 1 : 0,
});

/** A case in one column of a matrix. */
const inColumn = (
  place: number,
  written: string,
  variant: string[],
  status: CaseOutcome["status"] = "pass",
): CaseOutcome => ({
  ...outcome(place, [written, ...variant.map((part) => `[${part}]`)].join(" "), status),
  parts: { written, variant },
});

/** A trial of a row. */
const inTrial = (
  place: number,
  row: number,
  model: string,
  trial: number,
  status: CaseOutcome["status"] = "pass",
): CaseOutcome => ({
  ...outcome(place, `refund [row ${row}] [short] [${model}] [trial ${trial} of 2]`, status),
  trial,
  parts: { written: "refund", row, variant: ["short", model] },
});

const MATRIX = [
  inTrial(0, 1, "small", 1),
  inTrial(1, 1, "small", 2, "fail"),
  inTrial(2, 1, "large", 1),
  inTrial(3, 1, "large", 2),
  inTrial(4, 2, "small", 1, "error"),
];

test("prompts and models are columns, rows of data and trials are rows", () => {
  const { columns, rows } = buildAnswerGrid(MATRIX.toReversed());
  expect(columns).toEqual([
    { name: "short · small", nPassed: 1, n: 3 },
    { name: "short · large", nPassed: 2, n: 2 },
  ]);
  expect(rows.map((row) => [row.name, row.cells.map((cell) => cell?.place)])).toEqual([
    ["refund [row 1] [trial 1]", [0, 2]],
    ["refund [row 1] [trial 2]", [1, 3]],
    ["refund [row 2] [trial 1]", [4, undefined]],
  ]);
});

test("without a matrix there is one column, and brackets belong to the name", () => {
  const { columns, rows } = buildAnswerGrid([outcome(0, "greets [formal]"), outcome(1, "thanks [warm]")]);
  expect(columns).toEqual([{ name: "", nPassed: 2, n: 2 }]);
  expect(rows.map((row) => row.name)).toEqual(["greets [formal]", "thanks [warm]"]);
});

test("no result is lost where two cases have one name", () => {
  const { rows } = buildAnswerGrid([
    inColumn(0, "a", ["x"]),
    inColumn(1, "a", ["y"]),
    inColumn(2, "a", ["x"]),
  ]);
  expect(rows.map((row) => [row.name, row.cells.map((cell) => cell?.place)])).toEqual([
    ["a", [0, 1]],
    ["a (2)", [2, undefined]],
  ]);
});

test("rows are filtered by name, failure and differing verdicts", () => {
  const { rows } = buildAnswerGrid(MATRIX);
  const names = (find: string, only?: GridOnly) =>
    filterGridRows(rows, { find, only }).map((row) => row.name);
  expect(names("ROW 1")).toHaveLength(2);
  expect(names("", "failed")).toEqual(["refund [row 1] [trial 2]", "refund [row 2] [trial 1]"]);
  expect(names("", "verdicts")).toEqual(["refund [row 1] [trial 2]"]);
  expect(rows.map(verdictsDiffer)).toEqual([false, true, false]);
});

test("answers differ by their hash, not by their verdict", () => {
  const { rows } = buildAnswerGrid([
    inColumn(0, "same text", ["a"]),
    inColumn(1, "same text", ["b"], "fail"),
    inColumn(2, "other text", ["a"]),
    inColumn(3, "other text", ["b"]),
    inColumn(4, "no text", ["a"]),
    inColumn(5, "no text", ["b"], "error"),
  ]);
  const hashes = new Map([
    [0, "Paris"],
    [1, "Paris"],
    [2, "Paris"],
    [3, "Rome"],
    [4, "Paris"],
  ]);
  const found = filterGridRows(rows, { find: "", only: "answers", hashes });
  expect(found.map((row) => row.name)).toEqual(["other text"]);
  expect(filterGridRows(rows, { find: "", only: "answers" })).toEqual([]);
});

test("the answer of an agent is its response, the last words of its trace, or its diff", () => {
  const steps = [
    { role: "user", text: "Where?" },
    { role: "assistant", text: "In Paris." },
    { role: "assistant", depth: 1, text: "a helper" },
    { role: "tool", text: "done" },
  ] as const;
  expect(answerOf({ response: "Rome.", trace: { steps: [...steps] } })).toBe("Rome.");
  expect(answerOf({ trace: { steps: [...steps] }, diff: "+1" })).toBe("In Paris.");
  expect(answerOf({ response: "", diff: "+1" })).toBe("+1");
  expect(answerOf(undefined)).toBeUndefined();
});

test("ten thousand cases are laid out in less than a second", () => {
  const outcomes = Array.from({ length: 10_000 }, (_, n) =>
    inColumn(n, `case ${Math.floor(n / 4)}`, [`prompt ${(n % 2) + 1}`, n % 4 < 2 ? "small" : "large"]),
  );
  const started = performance.now();
  const grid = buildAnswerGrid(outcomes);
  expect(performance.now() - started).toBeLessThan(1000);
  expect([grid.rows.length, grid.columns.length]).toEqual([2500, 4]);
});
