import { expect, test } from "vitest";
import { splitByKeywords } from "./keywords";

const marked = (text: string, keywords: Parameters<typeof splitByKeywords>[1]) =>
  splitByKeywords(text, keywords).flatMap((it) => (it.mark ? [it.text] : []));

test("whole words are marked, in upper and lower case", () => {
  const keywords = [{ word: "love" }, { word: "c++" }];
  expect(marked("Love, lovely gloves. I LOVE C++.", keywords)).toEqual(["Love", "LOVE", "C++"]);
  expect(marked("Über überall", [{ word: "über" }])).toEqual(["Über"]);
});

test("a star stands for letters, and a phrase wins over the words in it", () => {
  const keywords = [{ word: "refund*", label: "promise" }, { word: "full refund" }, { word: "*happy" }];
  expect(marked("Refunds: a full\nrefund for the unhappy.", keywords)).toEqual([
    "Refunds",
    "full\nrefund",
    "unhappy",
  ]);
});

test("the pieces are the whole text, and labels have their own colours", () => {
  const keywords = [
    { word: "good", label: "positive" },
    { word: "bad", label: "negative" },
  ];
  const text = "good, then bad, then good";
  const pieces = splitByKeywords(text, keywords);
  expect(pieces.map((it) => it.text).join("")).toBe(text);
  expect(pieces.flatMap((it) => it.mark ?? [])).toEqual([
    { label: "positive", tone: 1 },
    { label: "negative", tone: 2 },
    { label: "positive", tone: 1 },
  ]);
});

test("long runs of letters and many marks are searched in bounded time", () => {
  expect(marked("a".repeat(200_000), [{ word: "*a*b" }])).toEqual([]);
  expect(marked("a ".repeat(5000), [{ word: "a" }])).toHaveLength(1000);
});
