import { expect, test } from "vitest";
import { citedIn, type GradeSaid, gradesIn, gridsOf, spreadOf, stepOf } from "./gradeTable";

const grade = (criterion: string, grader: string, score: number | null, more: Partial<GradeSaid> = {}) =>
  ({
    criterion,
    grader,
    score,
    grader_kind: "judge",
    rubric_version: "v1",
    outcome: score === null ? "failed" : "scored",
    time: "2026-03-20T10:00:00Z",
    ...more,
  }) as GradeSaid;

test("graders stand side by side, checks first and people last, the newest answer counting", () => {
  const [grid] = gridsOf([
    grade("tone", "ana", 0.5, { grader_kind: "human" }),
    grade("tone", "mini", 1, { time: "2026-03-21T10:00:00Z" }),
    grade("tone", "mini", 0),
    grade("json", "is-json", 1, { grader_kind: "check" }),
  ]);
  expect(grid?.graders.map((it) => it.name)).toEqual(["is-json", "mini", "ana"]);
  expect(grid?.rows.map((it) => [it.criterion, it.grades.map((one) => one?.score)])).toEqual([
    ["json", [1, undefined, undefined]],
    ["tone", [undefined, 1, 0.5]],
  ]);
  const gradersOf = (at: number) => {
    const row = grid?.rows[at];
    return grid && row ? gradesIn(grid, row).map((it) => it.grader.name) : [];
  };
  expect([gradersOf(0), gradersOf(1)]).toEqual([["is-json"], ["mini", "ana"]]);
  expect(spreadOf(grid?.rows[1]?.grades ?? [])).toBe(0.5);
  expect(spreadOf(grid?.rows[0]?.grades ?? [])).toBeNull();
});

test("versions are told apart, and quotes that were found lead to their step", () => {
  const found = { in: "trace.3.text", start: 2, end: 5 };
  const all = [
    grade("tone", "mini", 1, { evidence: [{ quote: "hey", found }, { quote: "never said" }] }),
    grade("tone", "mini", null, { rubric_version: "v2" }),
  ];
  expect(gridsOf(all).map((it) => it.version)).toEqual(["v1", "v2"]);
  expect(citedIn(undefined, all)).toEqual([
    { step: 3, part: "trace.3.text", quote: "hey", start: 2, end: 5, grade: all[0] },
  ]);
  expect([stepOf("trace.3.text"), stepOf("response"), stepOf(undefined)]).toEqual([3, undefined, undefined]);
});

test("what was quoted from the answer or the whole trace is looked for among the steps", () => {
  const trace = { steps: [{ text: "hey you" }, { text: "no" }, { text: "hey again" }] };
  const cite = (part: string, quote: string) => {
    const evidence = [{ quote, found: { in: part, start: 0, end: 3 } }];
    return citedIn(trace, [grade("tone", "mini", 1, { evidence })]).map((it) => [it.step, it.part, it.start]);
  };
  expect(cite("response", "hey")).toEqual([[3, "trace.3.text", undefined]]);
  expect(cite("trace", "you")).toEqual([[1, "trace.1.text", undefined]]);
  expect(cite("response", "nowhere")).toEqual([]);
  // Calls are drawn otherwise than the server reads them.
  expect(cite("trace.2.call.1", "ls")).toEqual([[2, "trace.2.call.1", undefined]]);
});
