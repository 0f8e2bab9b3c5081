import { expect, test } from "vitest";
import type { Estimates } from "../monitors/queries";
import { changesOf, isFall, isSignificant, mostImportant, sortByFall, weeks } from "./criterionChanges";

const DESK = { name: "desk", agents: ["desk"] };

const estimates = (means: Record<string, [number, number]>, version = "v1") =>
  ({
    judges: [
      {
        rubric_version: version,
        judge: "j",
        is_current: true,
        criteria: Object.entries(means).map(([criterion, [mean, se]]) => ({
          criterion,
          score: { mean, se },
        })),
      },
    ],
  }) as unknown as Estimates;

test("a week is seven days of UTC with today, and the one before it ends where it begins", () => {
  const { before, after } = weeks(Date.parse("2026-03-20T15:30:00Z"));
  expect(before).toEqual({ from: "2026-03-07T00:00:00Z", until: "2026-03-14T00:00:00Z" });
  expect(after).toEqual({ from: "2026-03-14T00:00:00Z" });
});

test("what fell by more than chance stands first, before what fell further by chance", () => {
  const before = estimates({ kind: [0.8, 0.01], right: [0.7, 0.2], short: [0.5, 0.01], gone: [0.5, 0.1] });
  const after = estimates({ right: [0.5, 0.2], kind: [0.7, 0.01], short: [0.6, 0.01], fresh: [0.5, 0.1] });
  const moves = sortByFall(changesOf(DESK, before, after));
  expect(moves.map((it) => [it.criterion, isFall(it), isSignificant(it)])).toEqual([
    ["kind", true, true],
    ["right", false, false],
    ["short", false, true],
  ]);
  expect(moves[0]?.difference).toBeCloseTo(-0.1);
  expect(moves[0]?.interval[0]).toBeCloseTo(-0.1277, 4);
});

test("figures of different versions are not set against each other", () => {
  expect(
    changesOf(DESK, estimates({ kind: [0.8, 0.01] }, "v1"), estimates({ kind: [0.1, 0.01] }, "v2")),
  ).toEqual([]);
});

test("a short table keeps the largest changes, also rises, and leaves out what is not significant", () => {
  const before = estimates({ a: [0.5, 0.01], b: [0.5, 0.01], c: [0.5, 0.01], d: [0.5, 0.2], e: [0.5, 0.2] });
  const after = estimates({ a: [0.4, 0.01], b: [0.9, 0.01], c: [0.6, 0.01], d: [0.2, 0.2], e: [0.51, 0.2] });
  const shown = mostImportant(changesOf(DESK, before, after), 4);
  // The drop first, then by difference; only the smallest change that is not significant is missing.
  expect(shown.map((it) => it.criterion)).toEqual(["a", "d", "c", "b"]);
});
