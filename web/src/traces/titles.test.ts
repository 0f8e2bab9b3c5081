import { expect, test } from "vitest";
import { shortTitle } from "./titles";

test("a title is short, and ends where a sentence or a word ends", () => {
  expect(shortTitle("You charged me twice!")).toBe("You charged me twice!");
  expect(shortTitle("Two workers sometimes take the same job. Make taking a job atomic, with a test.")).toBe(
    "Two workers sometimes take the same job.",
  );
  expect(shortTitle("First line\nand more of it")).toBe("First line");
  const long = shortTitle(`${"word ".repeat(40)}`);
  expect(long.length).toBeLessThanOrEqual(73);
  expect(long.endsWith("word…")).toBe(true);
  expect(shortTitle("x".repeat(500))).toBe(`${"x".repeat(72)}…`);
});
