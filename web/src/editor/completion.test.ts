import { expect, test } from "vitest";
import { type Defs, suggestionsAt } from "./completion";
import words from "./words.json";

/** What is suggested at the bar. */
const at = (text: string, root = "rubric"): string[] => {
  const cursor = text.indexOf("¦");
  const found = suggestionsAt(text.replace("¦", ""), cursor, root, words as Defs);
  return found?.all.map((it) => it.word) ?? [];
};

test("keys of the mapping that the cursor is in, without those it has", () => {
  expect(at("thr¦")).toEqual(["threshold"]);
  expect(at("threshold: 1\nthr¦")).toEqual([]);
  expect(at("thr¦\nthreshold: 1")).toEqual([]);
  expect(at("criteria:\n  - name: a\n    des¦")).toEqual(["description"]);
  expect(at("criteria:\n- name: a\n  des¦\n- description: another")).toEqual(["description"]);
  expect(at("criteria:\n  - na¦")).toContain("name");
  expect(at("criteria:\n  - name: a\n    scale:\n      likert:\n        m¦")).toEqual(["min", "max"]);
  expect(at("criteria:\n  - name: a\n\nthr¦")).toEqual(["threshold"]);
  expect(at("calibration_anchors:\n  g¦", "monitor")).toEqual(["good"]);
  expect(at("rubric:\n  criteria:\n    - name: a\n      wei¦", "monitor")).toEqual(["weight"]);
});

test("values that are allowed", () => {
  expect(at("aggregation: m¦")).toEqual(["min"]);
  expect(at("criteria:\n  - by: ¦")).toEqual(["check", "judge", "human"]);
  expect(at("criteria:\n  - by: [judge, h¦")).toEqual(["human"]);
  expect(at("criteria:\n  - by:\n      - h¦")).toEqual(["human"]);
  expect(at("criteria:\n  - required: t¦")).toEqual(["true"]);
  expect(at("preset: web¦")).toEqual(["web-agent"]);
});

test("mappings in one line, as people write them", () => {
  expect(at("criteria:\n  - {name: a, sca¦")).toEqual(["scale"]);
  expect(at("criteria:\n  - {name: a, nam¦")).toEqual([]);
  expect(at("criteria:\n  - scale: {likert: {min: 1, ma¦")).toEqual(["max"]);
});

test("nothing inside of texts and remarks", () => {
  expect(at("agent: a\nrubric: |\n  Score the na¦", "monitor")).toEqual([]);
  expect(at("# thr¦")).toEqual([]);
  expect(at("description: 'thr¦")).toEqual([]);
});
