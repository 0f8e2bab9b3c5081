import { expect, test } from "vitest";
import { labelWithCount } from "./facets";

const counts = {
  agent: [{ value: "support-bot", n: 1204 }],
  state: [],
  failed: [{ value: "true", n: 3 }],
  scored: [],
  limit: 10_000,
  is_limited: false,
};

test("a choice shows how many traces it would find", () => {
  expect(labelWithCount("support-bot", counts, "agent", "support-bot")).toBe("support-bot (1,204)");
  expect(labelWithCount("failed", counts, "failed", "true")).toBe("failed (3)");
  expect(labelWithCount("open", counts, "state", "open")).toBe("open (0)");
});

test("at the limit there may be more", () => {
  const limited = { ...counts, is_limited: true };
  expect(labelWithCount("support-bot", limited, "agent", "support-bot")).toBe("support-bot (1,204+)");
});

test("without counts the label is the name", () => {
  expect(labelWithCount("failed", undefined, "failed", "true")).toBe("failed");
});
