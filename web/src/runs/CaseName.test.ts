import { expect, test } from "vitest";
import { tagName, tagTaskName } from "./CaseName";

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
