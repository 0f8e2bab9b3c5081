import { expect, test } from "vitest";
import { earlier, newestWithEarlier } from "../runs/earlierRuns";
import { describeChanged } from "./ComparePage";

test("changed cases are counted as cases, also where trials changed", () => {
  expect(describeChanged([], 40)).toBe("No verdict changed (40 cases)");
  expect(describeChanged([{ case: "one" }, { case: "two" }], 4)).toBe("Verdict changed in 2 cases of 4");
  const trials = [
    { case: "one [trial 1 of 3]", trial: 1 },
    { case: "one [trial 2 of 3]", trial: 2 },
    { case: "two [trial 1 of 3]", trial: 1 },
  ];
  expect(describeChanged(trials, 40)).toBe("Verdict changed in 2 cases of 40 (3 trials)");
});

test("a page opens on two runs of one suite, although another suite ran last", () => {
  const runs = [
    { id: "c1", suite: "capitals" },
    { id: "s2", suite: "support" },
    { id: "s1", suite: "support" },
  ];
  expect(newestWithEarlier(runs)?.id).toBe("s2");
  expect(earlier(runs, "s2")).toBe("s1");
  expect(newestWithEarlier(runs.slice(0, 2))?.id).toBe("c1");
});
