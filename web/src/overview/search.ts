// Search parameters of the pages in this folder.
import { type RawSearch, textParam } from "../api/searchParams";

/** The monitor shown in detail, and one of its agents. */
export type OverviewSearch = { monitor?: string; agent?: string };

export const readOverviewSearch = (raw: RawSearch): OverviewSearch => ({
  monitor: textParam(raw.monitor),
  agent: textParam(raw.agent),
});
