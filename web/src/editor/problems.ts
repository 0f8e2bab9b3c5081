// Problems of a file, each at its line.

export type Severity = "error" | "warning" | "advice";
export type Fault = {
  severity: Severity;
  line: number | null;
  text: string;
  code?: string;
  help?: string;
  /** The fix and its place. */
  mend?: { by: string; from: Spot; to: Spot };
};

/** Both from 1, in characters. */
export type Spot = { line: number; column: number };

/** `monitor.yaml:3: unknown key` for each line of an answer; what names no line belongs to the whole file. */
export function faultsOf(detail: string): Fault[] {
  return sorted(
    detail
      .split("\n")
      .filter((it) => it.trim() !== "")
      .map((it) => {
        const found = /^[^\s:]+\.[a-z]+:(\d+): (.*)$/.exec(it);
        const [line, text] = found ? [Number(found[1]), found[2] ?? ""] : [null, it];
        return { severity: "error", line, text };
      }),
  );
}

const RANK: Record<Severity, number> = { error: 0, warning: 1, advice: 2 };

/** Errors first, then by line. */
export const sorted = (all: Fault[]): Fault[] =>
  all.toSorted((a, b) => RANK[a.severity] - RANK[b.severity] || (a.line ?? 0) - (b.line ?? 0));

/** The start and end of a line, counted from 1. */
export function placeOf(text: string, line: number): [number, number] {
  const lines = text.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, it) => sum + it.length + 1, 0);
  return [Math.min(start, text.length), Math.min(start + (lines[line - 1]?.length ?? 0), text.length)];
}

/** The offset of a position. The server counts code points. */
export function offsetOf(text: string, { line, column }: Spot): number {
  const [start, end] = placeOf(text, line);
  return start + [...text.slice(start, end)].slice(0, column - 1).join("").length;
}
