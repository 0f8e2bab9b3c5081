// Search parameters of the pages in this folder.
import { numberParam, oneOf, type RawSearch, textParam } from "../api/searchParams";

export type RubricView = "preview" | "prompt" | "changes" | "try" | "file";
export type RubricSearch = {
  view?: RubricView;
  version?: string;
  from?: string;
  /** Traces for the trial. */
  traces?: string[];
  agent?: string;
  newest?: number;
};

export const readRubricSearch = (raw: RawSearch): RubricSearch => ({
  view: oneOf<RubricView>("preview", "prompt", "changes", "try", "file")(raw.view),
  version: textParam(raw.version),
  from: textParam(raw.from),
  traces: Array.isArray(raw.traces) ? raw.traces.flatMap((one) => textParam(one) ?? []) : undefined,
  agent: textParam(raw.agent),
  newest: numberParam(raw.newest),
});
