import { expect, test } from "vitest";
import { compared, isChanged, type Result } from "./compare";

type Said = [string, "pass" | "fail" | "error", number | null, Record<string, number>?, string?];

const results = (...all: Said[]) =>
  all.map(([name, status, score, units = {}, rubric = "v1"]) => ({
    case: name,
    rubric,
    verdict: { status, score },
    grades: Object.entries(units).map(([criterion, unit]) => ({
      criterion,
      outcome: { kind: "scored", value: unit, unit },
    })),
  })) as unknown as Result[];

test("runs are paired case by case: what got worse first, and no failure is a score", () => {
  const found = compared(
    results(
      ["a", "pass", 1],
      ["b", "fail", 0.2],
      ["c", "pass", 0.9],
      ["d", "pass", 0.8],
      ["gone", "pass", 1],
    ),
    results(
      ["a", "fail", 0.5],
      ["b", "pass", 0.9],
      ["c", "pass", 0.8],
      ["d", "error", null],
      ["new", "pass", 1],
    ),
  );
  expect(found.pairs.map((it) => it.case)).toEqual(["a", "d", "b", "c"]);
  expect(found.pairs.map((it) => it.difference === null)).toEqual([false, true, false, false]);
  expect([found.onlyBefore, found.onlyAfter, found.nCases]).toEqual([["gone"], ["new"], 3]);
  expect(found.score?.before).toBeCloseTo(0.7);
  expect(found.score?.difference).toBeCloseTo((-0.5 + 0.7 - 0.1) / 3);
  expect(found.passRate).toMatchObject({ before: 2 / 3, after: 2 / 3, n: 3 });
});

test("criteria are compared by the mean of those who answered, under the same rubric alone", () => {
  const found = compared(
    results(["a", "pass", 1, { tone: 1 }], ["b", "pass", 1, { tone: 1 }, "v1"]),
    results(["a", "pass", 1, { tone: 0.5 }], ["b", "pass", 1, { tone: 0 }, "v2"]),
  );
  expect(found.criteria).toEqual([
    { name: "tone", difference: { before: 1, after: 0.5, difference: -0.5, n: 1 } },
  ]);
  expect(found.pairs.find((it) => it.case === "b")?.difference).toBeNull();
  expect(found.pairs.map(isChanged)).toEqual([false, false]);
  expect(compared([], []).score).toBeNull();
});
