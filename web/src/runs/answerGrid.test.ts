import { expect, test } from "vitest";
import { buildAnswerGrid, filterGridRows, type GridOnly, verdictsDiffer } from "./answerGrid";
import type { CaseOutcome } from "./CaseStrip";

const outcome = (place: number, name: string, status: CaseOutcome["status"] = "pass"): CaseOutcome => ({
  place,
  case: name,
  status,
  score: status === "pass" ? 1 : 0,
});

const MATRIX = [
  outcome(0, "refund [row 1] [short] [small] [trial 1 of 2]"),
  outcome(1, "refund [row 1] [short] [small] [trial 2 of 2]", "fail"),
  outcome(2, "refund [row 1] [short] [large] [trial 1 of 2]"),
  outcome(3, "refund [row 1] [short] [large] [trial 2 of 2]"),
  outcome(4, "refund [row 2] [short] [small] [trial 1 of 2]", "error"),
];

test("prompts and models are columns, rows of data and trials are rows", () => {
  const { columns, rows } = buildAnswerGrid(MATRIX.toReversed());
  expect(columns).toEqual([
    { name: "short · small", nPassed: 1, n: 3 },
    { name: "short · large", nPassed: 2, n: 2 },
  ]);
  expect(rows.map((row) => [row.name, row.cells.map((cell) => cell?.place)])).toEqual([
    ["refund [row 1] [trial 1 of 2]", [0, 2]],
    ["refund [row 1] [trial 2 of 2]", [1, 3]],
    ["refund [row 2] [trial 1 of 2]", [4, undefined]],
  ]);
});

test("without a matrix there is one column, and brackets belong to the name", () => {
  const { columns, rows } = buildAnswerGrid([outcome(0, "greets [formal]"), outcome(1, "thanks [warm]")]);
  expect(columns).toEqual([{ name: "", nPassed: 2, n: 2 }]);
  expect(rows.map((row) => row.name)).toEqual(["greets [formal]", "thanks [warm]"]);
});

test("no result is lost where two cases have one name", () => {
  const { rows } = buildAnswerGrid([outcome(0, "a [x]"), outcome(1, "a [y]"), outcome(2, "a [x]")]);
  expect(rows.map((row) => [row.name, row.cells.map((cell) => cell?.place)])).toEqual([
    ["a", [0, 1]],
    ["a (2)", [2, undefined]],
  ]);
});

test("rows are filtered by name, failure and differing verdicts", () => {
  const { rows } = buildAnswerGrid(MATRIX);
  const names = (find: string, only?: GridOnly) => filterGridRows(rows, find, only).map((row) => row.name);
  expect(names("ROW 1")).toHaveLength(2);
  expect(names("", "failed")).toEqual(["refund [row 1] [trial 2 of 2]", "refund [row 2] [trial 1 of 2]"]);
  expect(names("", "differs")).toEqual(["refund [row 1] [trial 2 of 2]"]);
  expect(rows.map(verdictsDiffer)).toEqual([false, true, false]);
});

test("ten thousand cases are laid out in less than a second", () => {
  const outcomes = Array.from({ length: 10_000 }, (_, n) =>
    outcome(n, `case ${Math.floor(n / 4)} [prompt ${(n % 2) + 1}] [${n % 4 < 2 ? "small" : "large"}]`),
  );
  const started = performance.now();
  const grid = buildAnswerGrid(outcomes);
  expect(performance.now() - started).toBeLessThan(1000);
  expect([grid.rows.length, grid.columns.length]).toEqual([2500, 4]);
});
