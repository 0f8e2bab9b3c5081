import { expect, test } from "vitest";
import { questionsOfPath } from "./treePath";

const rubric = {
  tree: {
    ask: "Does it ask first?",
    no: { score: 0 },
    yes: { ask: "Which way?", branches: { left: { score: 1 }, right: { score: 0.5 } } },
  },
};

test("questions of a path are those of the tree, by its answers", () => {
  const path = [
    { node: "root", answer: "yes" },
    { node: "root.yes", answer: "left" },
  ];
  expect(questionsOfPath(rubric, path)).toEqual(["Does it ask first?", "Which way?"]);
  expect(questionsOfPath({}, path)).toEqual(["root", "root.yes"]);
});
