import { expect, test } from "vitest";
import type { Monitor } from "../monitors/queries";
import { rowsOf } from "./agentRows";

test("an agent has a row for each monitor, and unwatched ones come last", () => {
  const monitor = (name: string, agents: string[]) => ({ name, agents }) as Monitor;
  const agents = ["b", "a", "c"].map((name) => ({ name, seen: "2026-03-20T10:00:00Z" }));
  const rows = rowsOf(agents, [monitor("m1", ["b", "never"]), monitor("m2", ["b"])]);
  expect(rows.map((it) => [it.agent, it.monitor?.name ?? null, it.seen !== null])).toEqual([
    ["b", "m1", true],
    ["b", "m2", true],
    ["never", "m1", false],
    ["a", null, true],
    ["c", null, true],
  ]);
});
