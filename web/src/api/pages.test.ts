import { expect, test } from "vitest";
import { loadAllPages } from "./pages";

test("pages are loaded until there is no next one", async () => {
  const asked: (number | undefined)[] = [];
  const all = await loadAllPages(async (after: number | undefined) => {
    asked.push(after);
    const start = after ?? 0;
    return { items: [start, start + 1], next: start < 4 ? start + 2 : null };
  });
  expect(all).toEqual([0, 1, 2, 3, 4, 5]);
  expect(asked).toEqual([undefined, 2, 4]);
});

test("a list without an end is not loaded forever", async () => {
  const all = await loadAllPages(async (after: number | undefined) => ({
    items: [after ?? 0],
    next: (after ?? 0) + 1,
  }));
  expect(all).toHaveLength(500);
});
