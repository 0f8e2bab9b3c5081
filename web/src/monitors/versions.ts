// Names of rubric versions that people can say: `v2 (23 Oct)` instead of an id.
import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { versionName } from "../ui/format";
import { monitorVersionsQuery } from "./queries";

type DatedVersion = { rubric_version: string; created: string };

/** Names of the rubric versions of a monitor by id; the oldest is `v1`. An edit without a new rubric has no number. */
export function namesOfVersions(versions: DatedVersion[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { rubric_version, created } of versions.toSorted((a, b) => a.created.localeCompare(b.created))) {
    if (!names.has(rubric_version)) names.set(rubric_version, versionName(names.size + 1, created));
  }
  return names;
}

/** The name of a rubric version of a monitor; its id while names are loaded. */
export function useVersionNames(monitor: string): (id: string) => string {
  const project = useProject();
  const { data } = useQuery(monitorVersionsQuery(project.id, monitor));
  const names = namesOfVersions(data ?? []);
  return (id) => names.get(id) ?? (data ? id : "…");
}
