// Which two runs a page opens on.
import type { Schemas } from "../api/client";

type RunLine = Schemas["RunLine"];

/** The newest run whose suite was also run before; else the newest run. */
export function newestWithEarlier<Run extends Pick<RunLine, "suite">>(runs: Run[]): Run | undefined {
  return runs.find((run, at) => runs.slice(at + 1).some((older) => older.suite === run.suite)) ?? runs[0];
}

/** The run before it of the same suite, or else any run before it. */
export function earlier(runs: Pick<RunLine, "id" | "suite">[], after: string): string | undefined {
  const at = runs.findIndex((it) => it.id === after);
  const older = runs.slice(at + 1);
  return (older.find((it) => it.suite === runs[at]?.suite) ?? older[0] ?? runs.find((it) => it.id !== after))
    ?.id;
}
