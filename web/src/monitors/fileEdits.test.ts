import { expect, test } from "vitest";
import { anchorsOf, withRate } from "./fileEdits";

test("anchors are found however the file writes its lists", () => {
  const blocks = `agent: desk
calibration_anchors:
  good:
    - trace-1 # the best one
    - "trace 2"
    - run_id: trace-4
  bad:
    - trace-3
sample_rate: 0.1
good:
  - no-anchor
`;
  expect(anchorsOf(blocks)).toEqual({ good: ["trace-1", "trace 2", "trace-4"], bad: ["trace-3"] });
  const flow = "calibration_anchors:\n  good: [a, 'b', {run_id: c}]\n  bad: []\njudges:\n  - x\n";
  expect(anchorsOf(flow)).toEqual({ good: ["a", "b", "c"], bad: [] });
  expect(anchorsOf("agent: desk\n")).toEqual({ good: [], bad: [] });
});

test("the dial is turned where it stands, and nothing else", () => {
  const file = "agent: desk\nsample_rate: 0.1 # the dial\nexpensive:\n  sample_rate: 0.5\n";
  expect(withRate(file, 0.25)).toBe(
    "agent: desk\nsample_rate: 0.25 # the dial\nexpensive:\n  sample_rate: 0.5\n",
  );
  expect(withRate("agent: desk", 0.4)).toBe("agent: desk\nsample_rate: 0.4\n");
  expect(withRate('{"agent": "desk"}', 0.4)).toBeNull();
});
