import { expect, test } from "vitest";
import { namesOfVersions } from "./versions";

test("versions of a rubric are numbered by age, edits of the monitor alone are not", () => {
  const names = namesOfVersions([
    { rubric_version: "rubv_b", created: "2026-11-02T12:00:00Z" },
    { rubric_version: "rubv_b", created: "2026-10-23T12:00:00Z" },
    { rubric_version: "rubv_a", created: "2026-10-15T12:00:00Z" },
  ]);
  expect([...names]).toEqual([
    ["rubv_a", "v1 (15 Oct)"],
    ["rubv_b", "v2 (23 Oct)"],
  ]);
});
