// What the server says is wrong with a file, each at its line.

export type Fault = { line: number | null; text: string };

/** `monitor.yaml:3: unknown key` for each line of an answer; what names no line belongs to the whole file. */
export function faultsOf(detail: string): Fault[] {
  return detail
    .split("\n")
    .filter((it) => it.trim() !== "")
    .map((it) => {
      const found = /^[^\s:]+\.[a-z]+:(\d+): (.*)$/.exec(it);
      return found ? { line: Number(found[1]), text: found[2] ?? "" } : { line: null, text: it };
    })
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** Where a line begins and ends, counted from 1. */
export function placeOf(text: string, line: number): [number, number] {
  const lines = text.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, it) => sum + it.length + 1, 0);
  return [Math.min(start, text.length), Math.min(start + (lines[line - 1]?.length ?? 0), text.length)];
}
