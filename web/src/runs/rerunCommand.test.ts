import { expect, test } from "vitest";
import { rerunCommand } from "./rerunCommand";

test("names of cases and files are single words of the command", () => {
  expect(rerunCommand("it's $HOME [row 1]", { file: "my suites/a.yaml", line: 3 })).toBe(
    `jurist eval 'my suites/a.yaml' --only 'it'\\''s $HOME [row 1]'`,
  );
});

test("a data file is not a suite", () => {
  expect(rerunCommand("a", { file: "rows.jsonl", line: 3 })).toBe("jurist eval SUITE.yaml --only 'a'");
  expect(rerunCommand("a", null)).toBe("jurist eval SUITE.yaml --only 'a'");
});
