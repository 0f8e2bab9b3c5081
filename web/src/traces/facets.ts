// Numbers of traces next to the choices of a filter.
import type { Schemas } from "../api/client";
import { count } from "../ui/format";

type TraceCounts = Schemas["TraceCounts"];
export type Facet = "agent" | "state" | "failed" | "scored";

/** The label of a choice, with the number of traces that it would find: `support-bot (1,204)`. */
export function labelWithCount(
  name: string,
  counts: TraceCounts | undefined,
  facet: Facet,
  value: string,
): string {
  if (!counts) return name;
  const n = counts[facet].find((it) => it.value === value)?.n ?? 0;
  // At the limit there may be more of every value.
  return `${name} (${count(n)}${counts.is_limited ? "+" : ""})`;
}
