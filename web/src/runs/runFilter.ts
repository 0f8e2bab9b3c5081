// Filters of the runs that are loaded. The server filters by suite, branch, commit, author and tag, not by these two.
import type { Schemas } from "../api/client";
import { startOfRange } from "../traces/timeRange";
import type { RunsSearch } from "./search";

type RunLine = Schemas["RunLine"];

/** Texts of a run that the search looks at. */
function textsOfRun({ id, suite, provenance }: RunLine): string[] {
  const { branch, commit, author, tags = [] } = provenance;
  return [id, suite, branch, commit, author, ...tags].flatMap((text) => (text ? [text.toLowerCase()] : []));
}

/** Runs that contain every word of the search and started in the time range. */
export function filterRuns(
  runs: RunLine[],
  { search = "", range }: Pick<RunsSearch, "search" | "range">,
  now = Date.now(),
): RunLine[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const start = range && startOfRange(range, now);
  return runs.filter((run) => {
    if (start && Date.parse(run.started) < Date.parse(start)) return false;
    const texts = textsOfRun(run);
    return words.every((word) => texts.some((text) => text.includes(word)));
  });
}
