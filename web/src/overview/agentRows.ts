import type { Schemas } from "../api/client";
import type { Monitor } from "../monitors/queries";

export type AgentRow = { agent: string; seen: string | null; monitor: Monitor | null };

/** One row for each agent and monitor; agents without a monitor come last. */
export function rowsOf(
  agents: Pick<Schemas["AgentView"], "name" | "seen">[],
  monitors: Monitor[],
): AgentRow[] {
  const seen = new Map(agents.map((it) => [it.name, it.seen]));
  const watched = monitors.flatMap((monitor) =>
    monitor.agents.map((agent) => ({ agent, seen: seen.get(agent) ?? null, monitor })),
  );
  const known = new Set(watched.map((it) => it.agent));
  const others = agents
    .filter((it) => !known.has(it.name))
    .map((it) => ({ agent: it.name, seen: it.seen, monitor: null }));
  const byName = (a: AgentRow, b: AgentRow) => a.agent.localeCompare(b.agent);
  return [...watched.sort(byName), ...others.sort(byName)];
}
