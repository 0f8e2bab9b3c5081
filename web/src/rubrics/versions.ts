// Names of rubric versions that people can say: `v2 (23 Oct)` instead of an id.
import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { versionName } from "../ui/format";
import { rubricVersionsQuery } from "./queries";

/** The name of a version; `versions` are those of its rubric, the newest first, as the server lists them. */
export function nameOfVersion(versions: { id: string; created: string }[], id: string): string | undefined {
  const at = versions.findIndex((version) => version.id === id);
  const found = versions[at];
  return found && versionName(versions.length - at, found.created);
}

/** The name of a version of a rubric, once the list of its versions is loaded. */
export function useVersionName(rubric: string, id: string): string | undefined {
  const project = useProject();
  const { data } = useQuery({ ...rubricVersionsQuery(project.id, rubric), enabled: rubric !== "" });
  return nameOfVersion(data ?? [], id);
}
