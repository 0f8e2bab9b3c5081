// Labels of people for the cases of a run, and how far the verdicts agree with them.
import type { CaseOutcome } from "./CaseStrip";
import type { RunLabel } from "./queries";

export function groupLabels(labels: RunLabel[]): Map<number, RunLabel[]> {
  const groups = new Map<number, RunLabel[]>();
  for (const label of labels) groups.set(label.place, [...(groups.get(label.place) ?? []), label]);
  return groups;
}

/** `people: 2 pass, 1 fail`. */
export function describeLabels(labels: RunLabel[]): string {
  const nPassed = labels.filter((label) => label.is_passed).length;
  const nFailed = labels.length - nPassed;
  const words = [nPassed > 0 && `${nPassed} pass`, nFailed > 0 && `${nFailed} fail`];
  return `people: ${words.filter(Boolean).join(", ")}`;
}

export type LabelAgreement = {
  /** Labels of cases that have a verdict. */
  n: number;
  nAgreed: number;
  /** Cases that people labelled, with or without a verdict. */
  nCases: number;
};

/** Compares labels with verdicts. A case without a verdict has nothing to compare: a failure is not a score. */
export function compareLabels(labels: RunLabel[], outcomes: CaseOutcome[]): LabelAgreement {
  const statuses = new Map(outcomes.map((outcome) => [outcome.place, outcome.status]));
  const decided = labels.flatMap(({ place, is_passed }) => {
    const status = statuses.get(place);
    return status === "pass" || status === "fail" ? [(status === "pass") === is_passed] : [];
  });
  return {
    n: decided.length,
    nAgreed: decided.filter(Boolean).length,
    nCases: new Set(labels.map((label) => label.place)).size,
  };
}
