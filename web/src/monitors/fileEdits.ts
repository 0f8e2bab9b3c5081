// Reads and edits the few parts of a monitor file that the pages need; the server parses the rest.

export type Anchors = { good: string[]; bad: string[] };

/** Ids under `calibration_anchors`, in block or flow style. */
export function anchorsOf(source: string): Anchors {
  const found: Anchors = { good: [], bad: [] };
  const lines = source.split("\n");
  const from = lines.findIndex((it) => /^["']?calibration_anchors["']?\s*:/.test(it));
  if (from < 0) return found;
  let into: keyof Anchors | undefined;
  for (const line of lines.slice(from + 1)) {
    // A line without indentation starts another key.
    if (/^\S/.test(line) && !line.startsWith("#") && !line.startsWith("-")) break;
    const text = line.replace(/\s#.*$/, "").trim();
    const head = /^["']?(good|bad)["']?\s*:\s*(.*)$/.exec(text);
    if (head) into = head[1] as keyof Anchors;
    const ids = head ? /^\[(.*)\]/.exec(head[2] ?? "")?.[1]?.split(",") : /^-\s+(.+)$/.exec(text)?.slice(1);
    if (into && ids) found[into].push(...ids.map(bare).filter((it) => it !== ""));
  }
  return found;
}

/** Removes the key of `run_id: x`. */
const bare = (it: string): string =>
  it
    .replace(/^\s*\{?\s*["']?run_id["']?\s*:|\}\s*$/g, "")
    .trim()
    .replace(/^(["'])(.*)\1$/, "$2");

/** The file with another sample rate; `null` where the rate has no line of its own. */
export function withRate(source: string, rate: number): string | null {
  if (source.trimStart().startsWith("{")) return null;
  const line = /^(sample_rate\s*:\s*)[^\s#]+/m;
  if (line.test(source)) return source.replace(line, (_, head) => `${head}${rate}`);
  return `${source.replace(/\n*$/, "\n")}sample_rate: ${rate}\n`;
}
