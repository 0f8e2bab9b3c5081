import { expect, test } from "vitest";
import { moveInGrid } from "./gridKeys";

test("keys move within the grid and never out of it", () => {
  const size = { nRows: 20, nColumns: 2 };
  expect(moveInGrid({ row: 0, column: 0 }, "ArrowUp", size)).toEqual({ row: 0, column: 0 });
  expect(moveInGrid({ row: 18, column: 1 }, "PageDown", size)).toEqual({ row: 19, column: 1 });
  expect(moveInGrid({ row: 5, column: 1 }, "ArrowRight", size)).toEqual({ row: 5, column: 1 });
  expect(moveInGrid({ row: 5, column: 1 }, "End", size)).toEqual({ row: 19, column: 1 });
  expect(moveInGrid({ row: 5, column: 1 }, "x", size)).toBeUndefined();
});
