// Explanations of figures that several pages show: one sentence, and a link into the book.
import type { Explanation } from "./Term";

export const SCORE: Explanation = {
  about:
    "Weighted mean of the criteria of one trace or case; on the scale of the rubric, where it has one, and from 0 (worst) to 1 (best).",
  entry: "score",
};

export const TRACE_SCORE: Explanation = {
  about:
    "Verdict and score of each rubric by which the trace was graded; on the scale of the rubric, where it has one, and from 0 (worst) to 1 (best).",
  entry: "score",
};

export const TRACE_DURATION: Explanation = { about: "Time from the first to the last step of the trace." };

export const VERDICT: Explanation = {
  about:
    "Result of one trace or case: pass, fail, error (it could not be graded) or deferred (not graded yet).",
  entry: "verdict",
};

export const ESTIMATED_SCORE: Explanation = {
  about:
    "Score of all finished traces of the last 30 days, estimated from the sampled ones, with its 95 % confidence interval; on the scale of the rubric, where it has one, and from 0 to 1. The dotted line is the pass mark.",
  entry: "confidence-interval",
};

export const PASS_RATE: Explanation = {
  about: "Estimated share of all traffic with the verdict pass, with its 95 % confidence interval.",
  entry: "verdict",
};

export const JUDGE_ERROR_RATE: Explanation = {
  about: "Share of sampled traces that the judge could not grade. A judge error is never counted as a score.",
  book: "explanation/sampling.html#judge-errors",
};

export const DAILY_SCORES: Explanation = {
  about:
    "Mean score of each day with scored traces, the newest on the right. The height is scaled to the values of the line.",
  book: "monitor.html#estimates-for-all-traffic",
};

export const N_SCORED: Explanation = {
  about: "Number of traces with a score from this rubric version and judge.",
  entry: "sample-rate",
};

export const SPENT: Explanation = {
  about: "Cost of calls to models in this month. Months are months of UTC.",
  book: "money.html#the-cap",
};

export const N_CALLS: Explanation = {
  about: "Number of calls to models that were paid for. Each retry counts as a call.",
  book: "money.html#the-cap",
};

export const N_ANSWERS: Explanation = {
  about: "Submitted answers of all annotators, out of the answers that the task needs.",
  book: "annotate.html#assignment",
};

export const SPLIT: Explanation = {
  about:
    "Cases of the split dev are for changes to prompts and rubrics; cases of the split test measure the result. Cases of one task are in the same split.",
  entry: "split",
};
