// Adds a stored trace to the anchors of a monitor file, in the style of the file.

export type AnchorKind = "good" | "bad";

/** The file with the trace among `calibration_anchors`; undefined where the list has an unusual layout. */
export function withAnchor(source: string, kind: AnchorKind, trace: string): string | undefined {
  const id =
    /^[A-Za-z_][\w.-]*$/.test(trace) && !/^(true|false|null|yes|no|on|off)$/i.test(trace)
      ? trace
      : JSON.stringify(trace);
  const lines = source.split("\n");
  const at = lines.findIndex((it) => /^calibration_anchors\s*:/.test(it));
  if (at < 0) {
    const head = source === "" || source.endsWith("\n") ? source : `${source}\n`;
    return `${head}calibration_anchors:\n  ${kind}:\n    - run_id: ${id}\n`;
  }
  const end = endOf(lines, at, 0);
  if (lines.slice(at, end).some((it) => mentions(it, id))) return source;
  const value = told(lines[at] ?? "");
  if (value !== "") {
    // `{good: [a], bad: [b]}` in one line.
    const list = new RegExp(`(\\b${kind}\\s*:\\s*\\[)([^\\]]*)(\\])`);
    if (!list.test(value)) return undefined;
    return replaced(lines, at, [intoList(lines[at] ?? "", list, id)]);
  }
  const child = lines.findIndex((it, n) => at < n && n < end && new RegExp(`^\\s+${kind}\\s*:`).test(it));
  if (child < 0) {
    const first = lines.slice(at + 1, end).find((it) => it.trim() !== "" && !it.trim().startsWith("#"));
    const indent = /^\s+/.exec(first ?? "")?.[0] ?? "  ";
    return inserted(lines, end, [`${indent}${kind}:`, `${indent}${indent}- run_id: ${id}`]);
  }
  const [own, indent] = [told(lines[child] ?? ""), /^\s*/.exec(lines[child] ?? "")?.[0] ?? ""];
  if (own !== "") {
    const list = /(:\s*\[)([^\]]*)(\])/;
    if (!list.test(lines[child] ?? "")) return undefined;
    return replaced(lines, child, [intoList(lines[child] ?? "", list, id)]);
  }
  const stop = endOf(lines, child, indent.length);
  const items = lines.slice(child + 1, stop).filter((it) => /^\s*- /.test(it));
  const last = items.at(-1);
  const [, dash = `${indent}  - `, key = "run_id: "] =
    /^(\s*- )((?:run_id|trace_id):\s+)?/.exec(last ?? "") ?? [];
  return inserted(lines, stop, [`${dash}${last && !/^\s*- \w+:/.test(last) ? "" : key}${id}`]);
}

const told = (line: string): string =>
  line
    .slice(line.indexOf(":") + 1)
    .replace(/(^|\s)#.*$/, "")
    .trim();

const mentions = (line: string, id: string): boolean =>
  line
    .replace(/\s#.*$/, "")
    .split(/[\s,[\]{}]+/)
    .includes(id);

/** The line after the last one that belongs to a key at this indentation; blank lines after it do not. */
function endOf(lines: string[], at: number, indent: number): number {
  let end = at + 1;
  for (let n = at + 1; n < lines.length; n += 1) {
    const line = lines[n] ?? "";
    if (line.trim() === "" || line.trim().startsWith("#")) continue;
    const depth = line.search(/\S/);
    if (depth < indent || (depth === indent && !line.trim().startsWith("- "))) break;
    end = n + 1;
  }
  return end;
}

const intoList = (line: string, list: RegExp, id: string): string =>
  line.replace(
    list,
    (_, open, inside, close) => `${open}${inside.trim() === "" ? "" : `${inside}, `}${id}${close}`,
  );

const replaced = (lines: string[], at: number, by: string[]): string =>
  [...lines.slice(0, at), ...by, ...lines.slice(at + 1)].join("\n");

const inserted = (lines: string[], at: number, more: string[]): string => {
  const isLast = at >= lines.length;
  return [...lines.slice(0, at), ...more, ...lines.slice(at), ...(isLast ? [""] : [])].join("\n");
};
