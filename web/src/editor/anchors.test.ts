// @vitest-environment node
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withAnchor } from "./anchors";

test("an anchor stands where a person would have put it", () => {
  const check = (before: string, after: string | undefined) =>
    expect(withAnchor(before, "good", "t1")).toBe(after);
  check("agent: a\n", "agent: a\ncalibration_anchors:\n  good:\n    - run_id: t1\n");
  check(
    "calibration_anchors:\n  good:\n    - run_id: a\n  bad:\n    - run_id: b\nsalt: x\n",
    "calibration_anchors:\n  good:\n    - run_id: a\n    - run_id: t1\n  bad:\n    - run_id: b\nsalt: x\n",
  );
  check(
    "calibration_anchors:\n  bad:\n  - b # why\nsalt: x\n",
    "calibration_anchors:\n  bad:\n  - b # why\n  good:\n    - run_id: t1\nsalt: x\n",
  );
  check("calibration_anchors:\n  good:\n  - a\n", "calibration_anchors:\n  good:\n  - a\n  - t1\n");
  check("calibration_anchors:\n  good: [a]\n", "calibration_anchors:\n  good: [a, t1]\n");
  check("calibration_anchors: {good: [], bad: [b]}\n", "calibration_anchors: {good: [t1], bad: [b]}\n");
  check("calibration_anchors: {bad: [b]}\n", undefined);
  check("calibration_anchors:\n  good:\n    - t1\n", "calibration_anchors:\n  good:\n    - t1\n");
});

test("the example's file gets one more, and ids that YAML would misread are quoted", () => {
  const file = readFileSync(new URL("../../../examples/monitor.yaml", import.meta.url), "utf8");
  const more = withAnchor(file, "bad", "42");
  expect(more?.endsWith('c0a\n    - run_id: "42"\n')).toBe(true);
  expect(more?.startsWith(file)).toBe(true);
});
