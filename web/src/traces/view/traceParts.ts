// The texts of a trace by the names that evidence uses, such as `trace.3.result.1`.
import type { Contract } from "../../api/client";

export type Trace = Contract["Trace"];
export type Step = Contract["TraceStep"];
export type ToolCall = Contract["ToolCall"];
export type ToolResult = Contract["ToolResult"];
export type FileChange = Contract["FileChange"];

export type Part = { name: string; text: string };

/** All texts of a step in the order in which they are drawn. `n` counts from 1. */
export function partsOf(step: Step, n: number): Part[] {
  const parts: Part[] = [];
  const add = (name: string, text: string | undefined) => {
    if (text) parts.push({ name: `trace.${n}.${name}`, text });
  };
  add("reasoning", step.reasoning);
  add("text", step.text);
  step.tool_calls?.forEach((it, at) => {
    add(`call.${at + 1}`, `${it.name ?? ""} ${JSON.stringify(it.arguments ?? {})}`);
  });
  step.results?.forEach((it, at) => {
    add(`result.${at + 1}`, it.text);
  });
  step.files?.forEach((it) => {
    add("file", [it.path, ...(it.hunks ?? []).flatMap((hunk) => hunk.lines ?? [])].join("\n"));
  });
  return parts;
}

/** Steps in which something occurs, whatever its case, with how often. */
export type Hit = { step: number; n: number };

export function found(trace: Trace, wanted: string): Hit[] {
  const needle = wanted.trim().toLowerCase();
  if (needle === "") return [];
  return (trace.steps ?? []).flatMap((step, at) => {
    let n = 0;
    for (const part of partsOf(step, at + 1)) n += occurrences(part.text.toLowerCase(), needle);
    return n > 0 ? [{ step: at + 1, n }] : [];
  });
}

function occurrences(text: string, needle: string): number {
  let n = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) n += 1;
  return n;
}

/** A summary of a call: its command or its first short argument. */
export function gist(call: ToolCall): string {
  const args = call.arguments ?? {};
  const command = commandOf(call);
  if (command) return command.split("\n")[0] ?? "";
  const first = Object.values(args).find((it) => typeof it === "string" || typeof it === "number");
  return first === undefined ? "" : (String(first).split("\n")[0]?.slice(0, 120) ?? "");
}

/** The command of a call that runs one. */
export function commandOf(call: ToolCall): string | undefined {
  const args = call.arguments ?? {};
  const found = args.command ?? args.cmd ?? args.script;
  if (typeof found === "string") return found;
  // Some logs have the command in place of the tool name.
  if (Object.keys(args).length === 0 && /\s/.test(call.name ?? "")) return call.name;
  return Array.isArray(found) && found.every((it) => typeof it === "string") ? found.join(" ") : undefined;
}

/** The old and new text of a call that is an edit. */
export function editOf(call: ToolCall): { path: string; before: string; after: string } | undefined {
  const args = call.arguments ?? {};
  const text = (...names: string[]) =>
    names.map((it) => args[it]).find((it) => typeof it === "string") as string | undefined;
  const before = text("old_string", "old_str", "before", "search");
  const after = text("new_string", "new_str", "after", "replace");
  const path = text("path", "file_path", "filename", "file");
  if (before === undefined || after === undefined) return undefined;
  return { path: path ?? "", before, after };
}
