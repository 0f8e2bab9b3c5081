import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { filterRuns } from "./runFilter";
import { readRunsSearch } from "./search";

const run = (id: string, started: string, more: Partial<Schemas["RunLine"]> = {}): Schemas["RunLine"] => ({
  id,
  started,
  suite: "capitals",
  provenance: {},
  n_pass: 1,
  n_fail: 0,
  n_error: 0,
  n_deferred: 0,
  cost: 0,
  ...more,
});

const now = Date.parse("2026-03-20T10:00:00Z");
const runs = [
  run("run_c3", "2026-03-20T09:00:00Z", {
    provenance: { branch: "main", commit: "8888888aaaa", author: "Ann Lee", tags: ["nightly", "gpu"] },
  }),
  run("run_b2", "2026-03-15T09:00:00Z", { suite: "Support desk", provenance: { branch: "work" } }),
  run("run_a1", "2026-01-01T09:00:00Z", { suite: null }),
];
const idsOf = (filter: Parameters<typeof filterRuns>[1]) => filterRuns(runs, filter, now).map(({ id }) => id);

test("the search looks at suite, branch, commit, author, tags and id", () => {
  for (const search of ["main", "8888888", "ann lee", "NIGHTLY", "run_c", "capitals"])
    expect(idsOf({ search }), search).toEqual(["run_c3"]);
  expect(idsOf({ search: " support  work " })).toEqual(["run_b2"]);
  expect(idsOf({ search: "support main" })).toEqual([]);
  expect(idsOf({})).toEqual(["run_c3", "run_b2", "run_a1"]);
});

test("the time range is counted from now, and both filters hold together", () => {
  expect(idsOf({ range: "24h" })).toEqual(["run_c3"]);
  expect(idsOf({ range: "7d" })).toEqual(["run_c3", "run_b2"]);
  expect(idsOf({ range: "30d", search: "run_" })).toEqual(["run_c3", "run_b2"]);
  expect(idsOf({ range: "24h", search: "support" })).toEqual([]);
});

test("search and time range are in the address; a range that does not exist is dropped", () => {
  expect(readRunsSearch({ search: 8888888, range: "7d" })).toMatchObject({ search: "8888888", range: "7d" });
  expect(readRunsSearch({ range: "1h" }).range).toBeUndefined();
});
