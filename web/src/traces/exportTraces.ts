// Selected traces as a file: a table, or the traces with their steps.
import type { Schemas } from "../api/client";
import type { Trace } from "./view/traceParts";

type Line = Schemas["ListedTrace"];

type CsvColumn = { name: string; value: (line: Line) => unknown };

const COLUMNS: CsvColumn[] = [
  { name: "id", value: (it) => it.id },
  { name: "title", value: (it) => it.title },
  { name: "agent", value: (it) => it.agent },
  { name: "session", value: (it) => it.session },
  { name: "state", value: (it) => it.state },
  { name: "status", value: (it) => it.status },
  { name: "failed", value: (it) => it.is_failed },
  { name: "started", value: (it) => it.started },
  { name: "duration_ms", value: (it) => it.duration_ms },
  { name: "steps", value: (it) => it.n_steps },
  { name: "tokens_in", value: (it) => it.tokens.input },
  { name: "tokens_out", value: (it) => it.tokens.output },
  { name: "cost_usd", value: (it) => it.cost },
  { name: "verdict", value: (it) => it.verdicts[0]?.status },
  { name: "score", value: (it) => it.verdicts[0]?.score },
];

/** A field of a CSV file (RFC 4180). */
function csvField(value: unknown): string {
  const text = value == null ? "" : String(value);
  // A spreadsheet takes these for a formula, and texts of traces come from outside.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The rows of the list as CSV. A trace that is withheld from the reader has no verdict in the list either. */
export function tracesToCsv(lines: Line[]): string {
  const rows = lines.map((line) => COLUMNS.map((column) => csvField(column.value(line))).join(","));
  return [COLUMNS.map((column) => column.name).join(","), ...rows].join("\r\n").concat("\r\n");
}

export type TraceWithContent = { line: Line; trace: Trace | null };

/** One line per trace, in the form that `jurist ingest` reads. */
export function tracesToJsonLines(all: TraceWithContent[]): string {
  return all
    .map(({ line, trace }) =>
      JSON.stringify({ id: line.id, agent: line.agent ?? null, metadata: line.metadata, trace }),
    )
    .join("\n")
    .concat("\n");
}

/** Saves a text as a file of the reader's computer. */
export function downloadText(name: string, type: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // The download has begun once the click was handled.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
