// Search parameters of the pages in this folder.
import { numberParam, type RawSearch, textParam } from "../api/searchParams";

/** Recent periods that can be chosen, in days; a week by default. */
export const RECENT_DAYS = [1, 3, 7, 14, 60, 90];
export const DEFAULT_RECENT_DAYS = 7;

/** The monitor shown in detail, one of its agents, and a period. */
export type OverviewSearch = {
  monitor?: string;
  agent?: string;
  /** Days of the recent period beside the 30 days. */
  days?: number;
};

export const readOverviewSearch = (raw: RawSearch): OverviewSearch => ({
  monitor: textParam(raw.monitor),
  agent: textParam(raw.agent),
  days: RECENT_DAYS.find((it) => it === numberParam(raw.days)),
});
