// Search parameters of the pages in this folder.
import { numberParam, oneOf, type RawSearch, textParam } from "../api/searchParams";

export type RunView = "cases" | "criteria" | "matrix" | "flaky";
/** Which suite the list of runs shows. */
export type RunsSearch = { suite?: string };

export const readRunsSearch = (raw: RawSearch): RunsSearch => ({ suite: textParam(raw.suite) });

export type RunSearch = {
  view?: RunView;
  status?: "pass" | "fail" | "error" | "deferred";
  find?: string;
  case?: number;
  /** Axes of the matrix. */
  rows?: string;
  columns?: string;
};

export const readRunSearch = (raw: RawSearch): RunSearch => ({
  view: oneOf<RunView>("cases", "criteria", "matrix", "flaky")(raw.view),
  status: oneOf("pass", "fail", "error", "deferred")(raw.status),
  find: textParam(raw.find),
  case: numberParam(raw.case),
  rows: textParam(raw.rows),
  columns: textParam(raw.columns),
});
