// Which dataset and rubric the dialog that adds cases begins with, and what it sends.
import type { Item } from "../annotate/types";
import type { TracesSearch } from "../traces/search";
import { count, plural } from "../ui/format";
import type { Dataset, DatasetEntry, WrittenVersion } from "./queries";

/** Where new cases come from. */
export type CaseSource =
  | { kind: "traces"; traces: string[] }
  | { kind: "filter"; search: TracesSearch }
  | { kind: "task"; task: string }
  | { kind: "item"; candidate: string; item: Item };

/** The most traces of a filter that become cases at once. */
export const MOST_TRACES = 1000;

/** The name of the first dataset, unless another is entered. */
export const FIRST_NAME = "regressions";

/** The dataset that was chosen last, else the first one; empty for a new one. */
export function preselectDataset(datasets: Dataset[], last: string | null): string {
  const open = datasets.filter((dataset) => !dataset.archived);
  return open.find((dataset) => dataset.name === last)?.name ?? open[0]?.name ?? "";
}

type Verdict = { status: string; rubric_version: string; time: string };

/** The rubric version of the newest failed verdict. */
export function failedRubric(verdicts: Verdict[]): string | undefined {
  const failed = verdicts.filter((verdict) => verdict.status === "fail");
  return failed.toSorted((a, b) => b.time.localeCompare(a.time))[0]?.rubric_version;
}

/** An item of an annotation task in the form of a record of a data file. */
export function recordOfItem(candidate: string, item: Item): Record<string, unknown> {
  const fields = Object.fromEntries((item.fields ?? []).map(({ key, text }) => [key, text]));
  return {
    ...fields,
    ...(item.task && { input: item.task }),
    ...(item.text && { response: item.text }),
    ...(item.trace && { trace: item.trace }),
    id: candidate,
  };
}

/** The request for a new version. An empty rubric leaves the choice to the server. */
export function buildEntry(
  source: Exclude<CaseSource, { kind: "item" }> | { kind: "record"; record: Record<string, unknown> },
  { rubric, note }: { rubric: string; note: string },
): DatasetEntry {
  const given = { ...(rubric && { rubric }), ...(note.trim() && { note: note.trim() }) };
  switch (source.kind) {
    case "traces":
      return { ...given, traces: source.traces };
    case "filter":
      return { ...given, trace_filter: { ...source.search, limit: MOST_TRACES } };
    case "task":
      return { ...given, annotation_task: source.task };
    case "record":
      return { ...given, records: [source.record] };
  }
}

/** `2 cases added, 1 changed, 3 already there`. */
export function describeWritten(written: WrittenVersion): string {
  const { n_added, n_changed, n_unchanged, n_removed, n_skipped } = written;
  const parts = [
    n_added > 0 && `${plural(n_added, "case")} added`,
    n_changed > 0 && `${plural(n_changed, "case")} changed`,
    n_removed > 0 && `${plural(n_removed, "case")} removed`,
    n_unchanged > 0 && `${count(n_unchanged)} already there`,
    n_skipped > 0 && `${plural(n_skipped, "trace")} without content left out`,
  ];
  return parts.filter(Boolean).join(", ") || "nothing changed";
}
