// Search parameters of the pages in this folder.
import { type RawSearch, textParam } from "../api/searchParams";

/** Who compared: judges of monitors, or the people of a task. */
export type RankingSearch = { monitor?: string; judge?: string; task?: string };

export const readRankingSearch = (raw: RawSearch): RankingSearch => ({
  monitor: textParam(raw.monitor),
  judge: textParam(raw.judge),
  task: textParam(raw.task),
});
