import { expect, test } from "vitest";
import type { Decision } from "../monitors/queries";
import { stationsOf } from "./DecisionPath";

const way = (more: Partial<Decision>) => {
  const decision = { stratum: "other", probability: 0.1, is_sampled: true, judge_status: "scored", ...more };
  return stationsOf({
    decided: "2026-03-20T10:00:00Z",
    updated: "2026-03-20T10:01:00Z",
    ...decision,
  } as Decision)
    .slice(2)
    .map((it) => `${it.name} ${it.went}`);
};

test("one sees at which station a trace stopped", () => {
  expect(way({ state: "scored" })).toEqual(["sampled on", "judged on", "scored on"]);
  expect(way({ state: "cached" })).toEqual(["sampled on", "cached on", "scored on"]);
  expect(way({ state: "judge_error" })).toEqual(["sampled on", "judge error broke", "scored ahead"]);
  expect(way({ state: "sampled", judge_status: "pending" })).toEqual([
    "sampled on",
    "waits waits",
    "scored ahead",
  ]);
  expect(way({ state: "over_budget", judge_status: "unscored" })).toEqual([
    "sampled on",
    "over budget stopped",
    "scored ahead",
  ]);
  expect(way({ state: "stale", judge_status: "pending" })).toEqual([
    "sampled on",
    "stale waits",
    "scored ahead",
  ]);
  for (const state of ["sampled_out", "filtered", "nothing_to_judge", "overloaded"]) {
    expect(way({ state, is_sampled: false, judge_status: "unscored" })).toEqual([
      `${state.replaceAll("_", " ")} stopped`,
      "judged ahead",
      "scored ahead",
    ]);
  }
});
