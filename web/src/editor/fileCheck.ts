// A file is checked while it is written.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { useProject } from "../api/session";
import type { Fault } from "./problems";

export type Checked = { problems: Fault[]; canonical?: Record<string, unknown> };

/** A moment after the last letter. */
const PAUSE = 400;

/** What was last written, once nothing more comes for a moment. */
export function useDebounced<T>(value: T): T {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return paused;
}

const faultOf = (it: Schemas["Remark"]): Fault => ({
  severity: it.severity,
  code: it.code,
  line: it.line,
  text: it.message,
  help: [...it.notes, ...(it.help ? [it.help] : [])].join("; ") || undefined,
  mend:
    it.replacement == null
      ? undefined
      : {
          by: it.replacement,
          from: { line: it.line, column: it.column },
          to: { line: it.end_line, column: it.end_column },
        },
});

/** Everything that `jurist check --lint` says of a file; nothing is saved. */
export function useFileCheck(kind: "rubric" | "monitor", text: string) {
  const project = useProject();
  const source = useDebounced(text);
  return useQuery({
    queryKey: ["check", project.id, kind, source],
    queryFn: async ({ signal }): Promise<Checked> => {
      const asked = { body: { source }, signal };
      const found = await unwrap(
        kind === "rubric"
          ? api(project.id).POST("/api/v1/rubrics/check", asked)
          : api(project.id).POST("/api/v1/monitors/check", asked),
      );
      return { problems: found.problems.map(faultOf), canonical: found.canonical ?? undefined };
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
}
