// What the pages need to know of a monitor's file; everything else is the server's to read.

export type Anchors = { good: string[]; bad: string[] };

/** Ids under `calibration_anchors`, whether each stands on a line of its own or all on one. */
export function anchorsOf(source: string): Anchors {
  const found: Anchors = { good: [], bad: [] };
  const lines = source.split("\n");
  const from = lines.findIndex((it) => /^["']?calibration_anchors["']?\s*:/.test(it));
  if (from < 0) return found;
  let into: keyof Anchors | undefined;
  for (const line of lines.slice(from + 1)) {
    // Whatever begins at the margin is another key.
    if (/^\S/.test(line) && !line.startsWith("#") && !line.startsWith("-")) break;
    const text = line.replace(/\s#.*$/, "").trim();
    const head = /^["']?(good|bad)["']?\s*:\s*(.*)$/.exec(text);
    if (head) into = head[1] as keyof Anchors;
    const ids = head ? /^\[(.*)\]/.exec(head[2] ?? "")?.[1]?.split(",") : /^-\s+(.+)$/.exec(text)?.slice(1);
    if (into && ids) found[into].push(...ids.map(bare).filter((it) => it !== ""));
  }
  return found;
}

/** `run_id: x` as it may also be written, or `x` alone. */
const bare = (it: string): string =>
  it
    .replace(/^\s*\{?\s*["']?run_id["']?\s*:|\}\s*$/g, "")
    .trim()
    .replace(/^(["'])(.*)\1$/, "$2");

/** The file with another dial; `null` where it stands in no line of its own. */
export function withRate(source: string, rate: number): string | null {
  if (source.trimStart().startsWith("{")) return null;
  const line = /^(sample_rate\s*:\s*)[^\s#]+/m;
  if (line.test(source)) return source.replace(line, (_, head) => `${head}${rate}`);
  return `${source.replace(/\n*$/, "\n")}sample_rate: ${rate}\n`;
}
