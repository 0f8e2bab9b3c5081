import { expect, test } from "vitest";
import { countInState } from "./traceStates";

test("traces in a state are counted in the singular and the plural", () => {
  expect([countInState(1, "judge_error"), countInState(1200, "judge_error")]).toEqual([
    "1 judge error",
    "1,200 judge errors",
  ]);
  expect([countInState(1, "sampled_out"), countInState(2, "sampled_out")]).toEqual([
    "1 sampled out",
    "2 sampled out",
  ]);
});
