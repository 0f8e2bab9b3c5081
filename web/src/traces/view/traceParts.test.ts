import { expect, test } from "vitest";
import { commandOf, editOf, found, gist, partsOf } from "./traceParts";

test("parts are named as evidence names them", () => {
  const step = {
    reasoning: "think",
    text: "say",
    tool_calls: [{ name: "search", arguments: { q: "cat" } }],
    results: [{ text: "one" }, { text: "two" }],
  };
  expect(partsOf(step, 3)).toEqual([
    { name: "trace.3.reasoning", text: "think" },
    { name: "trace.3.text", text: "say" },
    { name: "trace.3.call.1", text: 'search {"q":"cat"}' },
    { name: "trace.3.result.1", text: "one" },
    { name: "trace.3.result.2", text: "two" },
  ]);
});

test("finding counts places by step, whatever the case", () => {
  const trace = {
    steps: [
      { text: "A cat." },
      { text: "Nothing." },
      { text: "cat CAT", results: [{ text: "concatenate" }] },
    ],
  };
  expect(found(trace, " cat ")).toEqual([
    { step: 1, n: 1 },
    { step: 3, n: 3 },
  ]);
  expect(found(trace, "  ")).toEqual([]);
});

test("calls are shown as what they do", () => {
  expect(commandOf({ name: "bash", arguments: { cmd: ["ls", "-l"] } })).toBe("ls -l");
  expect(commandOf({ name: "grep -rn x", arguments: {} })).toBe("grep -rn x");
  expect(commandOf({ name: "search", arguments: { q: "x" } })).toBeUndefined();
  expect(gist({ name: "search", arguments: { deep: {}, q: "x\ny" } })).toBe("x");
  expect(editOf({ name: "edit", arguments: { path: "a.py", old_str: "1", new_str: "2" } })).toEqual({
    path: "a.py",
    before: "1",
    after: "2",
  });
});
