// Search parameters of the pages in this folder.
import { numberParam, oneOf, type RawSearch, textParam } from "../api/searchParams";
import type { GridOnly } from "./answerGrid";

export type RunView = "cases" | "answers" | "criteria" | "matrix" | "flaky";
const runRange = oneOf("24h", "7d", "30d");

/** Which runs the list shows. */
export type RunsSearch = {
  suite?: string;
  branch?: string;
  commit?: string;
  author?: string;
  tag?: string;
  /** Words that a run contains. */
  search?: string;
  /** How long ago a run started at most. */
  range?: ReturnType<typeof runRange>;
};

export const readRunsSearch = (raw: RawSearch): RunsSearch => ({
  suite: textParam(raw.suite),
  branch: textParam(raw.branch),
  commit: textParam(raw.commit),
  author: textParam(raw.author),
  tag: textParam(raw.tag),
  search: textParam(raw.search),
  range: runRange(raw.range),
});

/** Which runs the history shows. */
export type HistorySearch = { suite?: string; branch?: string; limit?: number };

export const readHistorySearch = (raw: RawSearch): HistorySearch => ({
  suite: textParam(raw.suite),
  branch: textParam(raw.branch),
  limit: numberParam(raw.limit),
});

export type RunSearch = {
  view?: RunView;
  status?: "pass" | "fail" | "error" | "deferred";
  find?: string;
  case?: number;
  /** Which rows of the answers are shown. */
  only?: GridOnly;
  /** Axes of the matrix. */
  rows?: string;
  columns?: string;
};

export const readRunSearch = (raw: RawSearch): RunSearch => ({
  view: oneOf<RunView>("cases", "answers", "criteria", "matrix", "flaky")(raw.view),
  status: oneOf("pass", "fail", "error", "deferred")(raw.status),
  find: textParam(raw.find),
  case: numberParam(raw.case),
  only: oneOf<GridOnly>("failed", "verdicts", "answers")(raw.only),
  rows: textParam(raw.rows),
  columns: textParam(raw.columns),
});
