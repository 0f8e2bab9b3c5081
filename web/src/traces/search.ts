// Search parameters of the pages in this folder.
import { flagParam, numberParam, oneOf, type RawSearch, textParam } from "../api/searchParams";

const traceSort = oneOf("time", "-time", "cost", "-cost", "duration", "-duration", "score", "-score");
export type TraceSort = NonNullable<ReturnType<typeof traceSort>>;

export type TracesSearch = {
  agent?: string;
  session?: string;
  state?: string;
  status?: string;
  failed?: boolean;
  verdict?: "pass" | "fail" | "error" | "deferred";
  scored?: boolean;
  from?: string;
  until?: string;
  min_cost?: number;
  min_duration_ms?: number;
  id_prefix?: string;
  search?: string;
  sort?: TraceSort;
};

export const readTracesSearch = (raw: RawSearch): TracesSearch => ({
  agent: textParam(raw.agent),
  session: textParam(raw.session),
  state: textParam(raw.state),
  status: textParam(raw.status),
  failed: flagParam(raw.failed),
  verdict: oneOf("pass", "fail", "error", "deferred")(raw.verdict),
  scored: flagParam(raw.scored),
  from: textParam(raw.from),
  until: textParam(raw.until),
  min_cost: numberParam(raw.min_cost),
  min_duration_ms: numberParam(raw.min_duration_ms),
  id_prefix: textParam(raw.id_prefix),
  search: textParam(raw.search),
  sort: traceSort(raw.sort),
});

export type TraceView = "timeline" | "json";

export type TraceSearch = {
  /** How the steps are shown; as text by default. */
  view?: TraceView;
  step?: number;
  find?: string;
  /** Shows the dialog with judge requests and replies. */
  exchanges?: boolean;
};

export const readTraceSearch = (raw: RawSearch): TraceSearch => ({
  view: oneOf("timeline", "json")(raw.view),
  step: numberParam(raw.step),
  find: textParam(raw.find),
  exchanges: flagParam(raw.exchanges),
});
