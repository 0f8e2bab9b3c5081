import { expect, test } from "vitest";
import { countCases, nameOfAllTrials, tagName, tagTaskName, tagWrittenName, withoutTrial } from "./CaseName";

test("row, prompt, model and trial are tags; brackets that are written belong to the name", () => {
  const named = {
    case: "order [status] [row 1] [short] [small] [trial 1 of 3]",
    trial: 1,
    parts: { written: "order [status]", row: 1, variant: ["short", "small"] },
  };
  expect(tagName(named)).toEqual({ base: "order [status]", tags: ["row 1", "short", "small", "trial 1"] });
  expect(tagTaskName(named)).toEqual({ base: "order [status]", tags: ["row 1", "trial 1"] });
  expect(tagName({ case: "order [status]" })).toEqual({ base: "order [status]", tags: [] });
});

test("a result of an earlier version has its name alone", () => {
  const named = { case: "order [trial 1 of 3]", trial: 1 };
  expect(tagName(named)).toEqual({ base: "order [trial 1 of 3]", tags: [] });
});

test("a name without its parts has the tags that the server adds, and keeps brackets of the file", () => {
  const name = "order [status] [row 1] [prompt 2] [small] [trial 2 of 3]";
  expect(tagWrittenName(name)).toEqual({
    base: "order [status]",
    tags: ["row 1", "prompt 2", "small", "trial 2"],
  });
  expect(tagWrittenName("order [status]")).toEqual({ base: "order [status]", tags: [] });
  expect(tagWrittenName("order [small] [trial 1 of 2]")).toEqual({
    base: "order [small]",
    tags: ["trial 1"],
  });
  expect(withoutTrial(name)).toBe("order [status] [row 1] [prompt 2] [small]");
});

test("only a case with a trial has one in its name", () => {
  expect(nameOfAllTrials({ case: "order [trial 1 of 3]", trial: 1 })).toBe("order");
  expect(nameOfAllTrials({ case: "order [trial 1 of 3]" })).toBe("order [trial 1 of 3]");
});

test("trials of one case are one case", () => {
  const trials = (name: string) => [1, 2, 3].map((n) => `${name} [trial ${n} of 3]`);
  expect(countCases([...trials("one"), ...trials("two")])).toBe("2 cases, 6 trials");
  expect(countCases(["one", "two"])).toBe("2 cases");
  expect(countCases(["one"])).toBe("1 case");
});
