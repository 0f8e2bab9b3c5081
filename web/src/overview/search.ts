// Search parameters of the pages in this folder.
import { type RawSearch, textParam } from "../api/searchParams";

/** Which monitor is looked at more closely, and which of its agents. */
export type OverviewSearch = { monitor?: string; agent?: string };

export const readOverviewSearch = (raw: RawSearch): OverviewSearch => ({
  monitor: textParam(raw.monitor),
  agent: textParam(raw.agent),
});
