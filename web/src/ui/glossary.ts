// Terms that figures on the pages use. The help dialog lists them; tooltips show one of them.

export type GlossaryEntry = {
  term: string;
  meaning: string;
  /** The heading of the book's glossary, where it has one. */
  entry?: string;
};

export const GLOSSARY: GlossaryEntry[] = [
  {
    term: "Confidence interval",
    entry: "confidence-interval",
    meaning:
      "A range that contains the true value in 95 of 100 repetitions. Shown in brackets: [0.75, 0.78].",
  },
  {
    term: "Confidence sequence",
    entry: "confidence-sequence",
    meaning:
      "A confidence interval that stays valid however often you look at it. The band in trend charts; a line that leaves the band of the days before indicates a real change.",
  },
  {
    term: "Effective sample size",
    entry: "effective-sample-size",
    meaning:
      "The number of uniformly sampled traces that would give an interval of the same width. Unequal sampling makes it smaller than the number of scored traces.",
  },
  {
    term: "Estimate",
    meaning:
      "The score or pass rate of all traffic, computed from the sampled traces. Each stratum counts with its share of the traffic.",
  },
  {
    term: "Gate",
    entry: "gate",
    meaning: "A condition of the rubric that makes the verdict fail at any score.",
  },
  {
    term: "Judge error",
    entry: "judge-error",
    meaning: "The judge gave no usable answer. It is never counted as a score.",
  },
  {
    term: "Krippendorff’s α, Cohen’s κ",
    entry: "krippendorffs-alpha",
    meaning: "Measures of agreement: 1 is perfect agreement, 0 is chance level.",
  },
  {
    term: "Pass mark",
    entry: "pass-mark",
    meaning: "The score from which on a verdict passes, unless a gate fails.",
  },
  {
    term: "p-value",
    entry: "p-value",
    meaning: "The probability of a difference at least this large if nothing had really changed.",
  },
  {
    term: "Position bias",
    entry: "position-bias",
    meaning: "A judge prefers the answer in one position, independent of its content.",
  },
  {
    term: "Projected spend",
    entry: "projected-spend",
    meaning: "Expected spend at the end of the month, with an 80 % interval.",
  },
  {
    term: "Sample rate",
    entry: "sample-rate",
    meaning: "The share of finished traces that a monitor sends to its judges.",
  },
  {
    term: "Score",
    entry: "score",
    meaning: "From 0 (worst) to 1 (best), or on the scale of the rubric, such as 4.15 on 1–5.",
  },
  {
    term: "Stratum",
    entry: "stratum",
    meaning: "A group of traces with one sampling probability: failed, expensive or other.",
  },
  {
    term: "Verdict",
    entry: "verdict",
    meaning: "pass, fail, error (could not be graded) or deferred (not graded yet).",
  },
];
