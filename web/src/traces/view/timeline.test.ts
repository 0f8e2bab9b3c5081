import { expect, test } from "vitest";
import { timelineOf, visibleRows } from "./timeline";
import type { Trace } from "./traceParts";

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString();

test("measured spans keep their own times, and a tool run is a child of the message that asked for it", () => {
  const trace: Trace = {
    steps: [
      { role: "user", text: "Find the cat." },
      {
        role: "assistant",
        time: at(0),
        duration_ms: 2000,
        usage: { input: 70, output: 9 },
        cost: 0.002,
        tool_calls: [{ id: "c1", name: "search", arguments: { q: "cat" }, duration_ms: 40 }],
      },
      {
        role: "tool",
        time: at(2),
        duration_ms: 40,
        results: [{ call: "c1", text: "no such box", error: true }],
      },
      { role: "assistant", time: at(3), duration_ms: 1000, text: "It is not there." },
    ],
  };
  const timeline = timelineOf(trace);
  expect(timeline.rows.map((row) => [row.key, row.level, row.name, row.startMs, row.durationMs])).toEqual([
    ["1", 0, "user", undefined, undefined],
    ["2", 0, "agent", 0, 2000],
    ["2.1", 1, "search", 2000, 40],
    ["4", 0, "agent", 3000, 1000],
  ]);
  expect(timeline.rows.map((row) => row.isBetween)).toEqual([false, false, false, false]);
  // The row of a call leads to its result.
  expect(timeline.rows.map((row) => row.step)).toEqual([1, 2, 3, 4]);
  expect(timeline.rows.map((row) => row.isFailed)).toEqual([false, false, true, false]);
  expect([timeline.totalMs, timeline.hasTokens, timeline.hasCosts]).toEqual([4000, true, true]);
});

test("without durations, the time between messages is the latency of replies but not of people", () => {
  const trace: Trace = {
    steps: [
      { role: "user", time: at(0), text: "One" },
      { role: "assistant", time: at(4), tool_calls: [{ id: "a", name: "look" }] },
      { role: "tool", time: at(5), results: [{ call: "a", text: "seen" }] },
      { role: "assistant", time: at(9), text: "Done" },
      { role: "user", time: at(60), text: "Two" },
    ],
  };
  const { rows, totalMs } = timelineOf(trace);
  expect(rows.map((row) => [row.key, row.startMs, row.durationMs, row.isBetween])).toEqual([
    ["1", 0, undefined, false],
    ["2", 0, 4000, true],
    ["2.1", 4000, 1000, true],
    ["4", 5000, 4000, true],
    ["5", 60_000, undefined, false],
  ]);
  expect(totalMs).toBe(60_000);
});

test("a trace without times is a tree alone", () => {
  const timeline = timelineOf({
    steps: [
      { role: "assistant", agent: "planner", text: "Ask the reader." },
      { role: "assistant", agent: "reader", depth: 1, text: "Reading." },
      { role: "tool", results: [{ text: "a result that names no call" }] },
    ],
  });
  expect([timeline.totalMs, timeline.hasDurations, timeline.hasTokens]).toEqual([undefined, false, false]);
  expect(timeline.rows.map((row) => [row.name, row.hasChildren])).toEqual([
    ["planner", true],
    ["reader", false],
    ["tool", false],
  ]);
  const all = timeline.rows;
  expect(visibleRows(all, new Set(["1"])).map((row) => row.key)).toEqual(["1", "3"]);
  expect(visibleRows(all, new Set())).toEqual(all);
});

test("a trace of many steps has a timeline", () => {
  const [first, last] = [at(0), at(7)];
  const steps = Array.from({ length: 150_000 }, (_, n) => ({
    role: "user" as const,
    time: n === 0 ? first : last,
  }));
  expect(timelineOf({ steps }).totalMs).toBe(7000);
});

test("a command in place of a tool name is not repeated", () => {
  const trace: Trace = { steps: [{ role: "assistant", tool_calls: [{ name: "cat src/queue.py" }] }] };
  expect(timelineOf(trace).rows.map((row) => [row.name, row.about])).toEqual([
    ["agent", ""],
    ["cat src/queue.py", ""],
  ]);
});
