// A file is checked while it is written.
import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { useDebounced } from "../ui/useDebounced";
import { type FileKind, fileCheckQuery } from "./queries";

/** The problems of a file while it is written. */
export function useFileCheck(kind: FileKind, text: string) {
  const project = useProject();
  return useQuery(fileCheckQuery(project.id, kind, useDebounced(text)));
}
