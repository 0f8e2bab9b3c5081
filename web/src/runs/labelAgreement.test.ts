import { expect, test } from "vitest";
import type { CaseOutcome } from "./CaseStrip";
import { compareLabels, describeLabels, groupLabels } from "./labelAgreement";
import type { RunLabel } from "./queries";

const label = (place: number, is_passed: boolean, author = "Ana"): RunLabel => ({
  place,
  case: `case ${place}`,
  author,
  is_own: author === "Ana",
  is_passed,
  comment: "",
  time: "2026-03-01T00:00:00Z",
});

const outcome = (place: number, status: CaseOutcome["status"]): CaseOutcome => ({
  place,
  case: `case ${place}`,
  status,
  score: null,
});

test("labels of a case are together, whoever gave them", () => {
  const groups = groupLabels([label(3, true), label(3, false, "Ben"), label(5, true)]);
  expect([groups.get(3)?.length, groups.get(5)?.length, groups.get(4)]).toEqual([2, 1, undefined]);
  expect(describeLabels(groups.get(3) ?? [])).toBe("people: 1 pass, 1 fail");
  expect(describeLabels(groups.get(5) ?? [])).toBe("people: 1 pass");
});

test("only cases with a verdict are compared with labels", () => {
  const outcomes = [outcome(0, "pass"), outcome(1, "fail"), outcome(2, "error"), outcome(3, "deferred")];
  const labels = [label(0, true), label(0, false, "Ben"), label(1, false), label(2, false), label(3, true)];
  expect(compareLabels(labels, outcomes)).toEqual({ n: 3, nAgreed: 2, nCases: 4 });
  expect(compareLabels([], outcomes)).toEqual({ n: 0, nAgreed: 0, nCases: 0 });
});
