// A file is checked while it is written.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useProject } from "../api/session";
import { type FileKind, fileCheckQuery } from "./queries";

/** Milliseconds after the last key until a text is sent. */
const PAUSE = 400;

/** The last value, once it has not changed for a moment. */
export function useDebounced<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** The problems of a file while it is written. */
export function useFileCheck(kind: FileKind, text: string) {
  const project = useProject();
  return useQuery(fileCheckQuery(project.id, kind, useDebounced(text)));
}
