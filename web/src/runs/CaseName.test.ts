import { expect, test } from "vitest";
import { countCases, nameOfAllTrials, nameWithParts, tagName, tagTaskName } from "./CaseName";

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

test("a case of a comparison has the parts that the server sends, and brackets of the file stay in the name", () => {
  const name = "order [status] [row 1] [small] [trial 2 of 3]";
  const parts = { written: "order [status]", row: 1, variant: ["small"], trial: 2 };
  expect(tagName(nameWithParts(name, parts))).toEqual({
    base: "order [status]",
    tags: ["row 1", "small", "trial 2"],
  });
  expect(nameOfAllTrials(nameWithParts(name, parts))).toBe("order [status] [row 1] [small]");
  const written = "order [row 1] [trial 2 of 3]";
  expect(tagName(nameWithParts(written, null))).toEqual({ base: written, tags: [] });
  expect(nameOfAllTrials(nameWithParts(written, null))).toBe(written);
});

test("only a case with a trial has one in its name", () => {
  expect(nameOfAllTrials({ case: "order [trial 1 of 3]", trial: 1 })).toBe("order");
  expect(nameOfAllTrials({ case: "order [trial 1 of 3]" })).toBe("order [trial 1 of 3]");
});

test("trials of one case are one case", () => {
  const trials = (name: string) => [1, 2, 3].map((n) => ({ case: `${name} [trial ${n} of 3]`, trial: n }));
  expect(countCases([...trials("one"), ...trials("two")])).toBe("2 cases, 6 trials");
  expect(countCases([{ case: "one" }, { case: "two" }])).toBe("2 cases");
  // This one is written in the suite as it is.
  expect(countCases([{ case: "one [trial 1 of 3]" }, { case: "one [trial 2 of 3]" }])).toBe("2 cases");
});
