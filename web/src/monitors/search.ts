// Search parameters of the pages in this folder.
import { flagParam, numberParam, oneOf, type RawSearch, shareParam, textParam } from "../api/searchParams";

export type MonitorView = "figures" | "trend" | "traces" | "dial" | "again" | "file";
export type MonitorSearch = {
  view?: MonitorView;
  days?: number;
  agent?: string;
  criterion?: string;
  state?: string;
  stratum?: string;
  disputed?: boolean;
  /** A sample rate to try. */
  rate?: number;
  /** A trace to add to the anchors of the file. */
  good?: string;
  bad?: string;
};

export const readMonitorSearch = (raw: RawSearch): MonitorSearch => ({
  view: oneOf<MonitorView>("figures", "trend", "traces", "dial", "again", "file")(raw.view),
  days: numberParam(raw.days),
  agent: textParam(raw.agent),
  criterion: textParam(raw.criterion),
  state: textParam(raw.state),
  stratum: textParam(raw.stratum),
  disputed: flagParam(raw.disputed),
  rate: shareParam(raw.rate),
  good: textParam(raw.good),
  bad: textParam(raw.bad),
});
