import { expect, test } from "vitest";
import { splitCaseName } from "./CaseName";

test("brackets at the end of a case name are tags, others belong to the name", () => {
  expect(splitCaseName("order [status] now [row 1] [trial 1 of 3]")).toEqual({
    base: "order [status] now",
    tags: ["row 1", "trial 1 of 3"],
  });
  expect(splitCaseName("[row 1]")).toEqual({ base: "[row 1]", tags: [] });
  expect(splitCaseName("plain")).toEqual({ base: "plain", tags: [] });
});
