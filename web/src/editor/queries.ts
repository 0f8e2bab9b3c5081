// Checks of files, as the server describes them.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";
import type { Fault } from "./problems";

export type FileKind = "rubric" | "monitor";
export type Checked = { problems: Fault[]; canonical?: Record<string, unknown> };

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

/** Everything that `jurist check --lint` reports about a file; nothing is saved. */
export const fileCheckQuery = (project: string, kind: FileKind, source: string) =>
  queryOptions({
    queryKey: ["check", project, kind, source],
    queryFn: async ({ signal }): Promise<Checked> => {
      const request = { body: { source }, signal };
      const found = await unwrap(
        kind === "rubric"
          ? api(project).POST("/api/v1/rubrics/check", request)
          : api(project).POST("/api/v1/monitors/check", request),
      );
      return { problems: found.problems.map(faultOf), canonical: found.canonical ?? undefined };
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
