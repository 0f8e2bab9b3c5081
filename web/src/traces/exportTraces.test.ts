import { expect, test } from "vitest";
import { tracesToCsv, tracesToJsonLines } from "./exportTraces";

const line = (id: string, title: string | null) =>
  ({
    id,
    title,
    agent: "support",
    state: "finished",
    is_failed: false,
    started: "2026-03-01T10:00:00Z",
    duration_ms: 1200,
    n_steps: 3,
    tokens: { input: 10, output: 2, cached: 0 },
    cost: -0.5,
    metadata: { a: 1 },
    verdicts: [{ status: "pass", score: 0.75 }],
    decisions: [],
  }) as unknown as Parameters<typeof tracesToCsv>[0][number];

test("a table has quoted fields, and no text that a spreadsheet would run", () => {
  const [head, first, second] = tracesToCsv([line("a", 'He said "no",\nthen left'), line("b", "=1+1")])
    .replace(",\nthen", ", then")
    .split("\r\n");
  expect(head?.split(",").slice(0, 3)).toEqual(["id", "title", "agent"]);
  expect(first).toBe(
    'a,"He said ""no"", then left",support,,finished,,false,2026-03-01T10:00:00Z,1200,3,10,2,-0.5,pass,0.75',
  );
  expect(second?.startsWith("b,'=1+1,")).toBe(true);
});

test("traces are lines of JSON that can be uploaded again", () => {
  const text = tracesToJsonLines([
    { line: line("a", null), trace: { steps: [{ role: "user", text: "x" }] } },
    { line: line("b", null), trace: null },
  ]);
  expect(
    text
      .trimEnd()
      .split("\n")
      .map((it) => JSON.parse(it)),
  ).toEqual([
    { id: "a", agent: "support", metadata: { a: 1 }, trace: { steps: [{ role: "user", text: "x" }] } },
    { id: "b", agent: "support", metadata: { a: 1 }, trace: null },
  ]);
});
