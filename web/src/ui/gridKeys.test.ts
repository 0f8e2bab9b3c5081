import { expect, test } from "vitest";
import { moveInGrid } from "./gridKeys";

test("keys move within the grid and never out of it", () => {
  const size = { nRows: 20, columns: [0, 1] };
  expect(moveInGrid({ row: 0, column: 0 }, "ArrowUp", size)).toEqual({ row: 0, column: 0 });
  expect(moveInGrid({ row: 18, column: 1 }, "PageDown", size)).toEqual({ row: 19, column: 1 });
  expect(moveInGrid({ row: 5, column: 1 }, "ArrowRight", size)).toEqual({ row: 5, column: 1 });
  expect(moveInGrid({ row: 5, column: 1 }, "End", size)).toEqual({ row: 19, column: 1 });
  expect(moveInGrid({ row: 5, column: 1 }, "x", size)).toBeUndefined();
});

test("keys skip columns that are hidden", () => {
  const size = { nRows: 20, columns: [0, 2, 5] };
  expect(moveInGrid({ row: 3, column: 0 }, "ArrowRight", size)).toEqual({ row: 3, column: 2 });
  expect(moveInGrid({ row: 3, column: 5 }, "ArrowLeft", size)).toEqual({ row: 3, column: 2 });
  expect(moveInGrid({ row: 3, column: 5 }, "ArrowRight", size)).toEqual({ row: 3, column: 5 });
  // The window became narrow while this column was the current one.
  expect(moveInGrid({ row: 3, column: 1 }, "ArrowDown", size)).toEqual({ row: 4, column: 0 });
});
