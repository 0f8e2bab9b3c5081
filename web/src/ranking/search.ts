// Search parameters of the pages in this folder.
import { type RawSearch, textParam } from "../api/searchParams";

/** Source of the comparisons: judges of monitors, or annotators of a task. */
export type RankingSearch = { monitor?: string; judge?: string; task?: string };

export const readRankingSearch = (raw: RawSearch): RankingSearch => ({
  monitor: textParam(raw.monitor),
  judge: textParam(raw.judge),
  task: textParam(raw.task),
});
