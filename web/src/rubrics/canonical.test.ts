import { expect, test } from "vitest";
import { askedBy } from "./canonical";

const likert = { likert: { min: 1, max: 3 } };

test("a rubric becomes what people would be asked; programs and plain numbers are told apart", () => {
  const { scheme, others } = askedBy("r", {
    criteria: [
      { name: "tone", label: "Tone", scale: likert, levels: { 1: "rude", 3: "warm" }, weight: 2 },
      { name: "met", scale: "binary", cannot_assess: "skip" },
      { name: "json", check: { type: "is-json" } },
      { name: "group", criteria: [{ name: "style", scale: { choices: { plain: 1, stilted: 0 } } }] },
      { name: "share" },
    ],
  });
  expect(
    scheme.criteria.map((it) => [it.label, it.weight, it.may_skip, it.points.map((one) => one.value)]),
  ).toEqual([
    ["Tone", 2, false, [1, 2, 3]],
    ["met", 1, true, [false, true]],
    ["style", 1, false, ["stilted", "plain"]],
  ]);
  expect(scheme.criteria[0]?.points.map((it) => it.text)).toEqual(["rude", undefined, "warm"]);
  expect(others).toEqual([
    { name: "json", why: "graded by a check" },
    { name: "share", why: "any number from 0 to 1" },
  ]);
  const ranges = askedBy("r", { criteria: [{ name: "a", scale: { ranges: { 0: "bad", 8: "good" } } }] });
  expect(ranges.scheme.criteria[0]?.points.map((it) => it.text).slice(6, 9)).toEqual(["bad", "bad", "good"]);
});
