// Grades, verdicts and decisions about one trace, as the server describes them.
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import type { GradeSaid } from "./gradeTable";

/** Every grade of a trace, with reasons and evidence. */
export const gradesQuery = (project: string, trace: string) =>
  queryOptions({
    queryKey: ["grades", project, trace],
    queryFn: async () => {
      const all: GradeSaid[] = [];
      let after: string | undefined;
      do {
        const query = { candidate: trace, limit: 200, after, full: true };
        const page = await unwrap(api(project).GET("/api/v1/grades", { params: { query } }));
        all.push(...page.items);
        after = page.next ?? undefined;
      } while (after);
      return all;
    },
  });

export const verdictsQuery = (project: string, trace: string) =>
  queryOptions({
    queryKey: ["verdicts", project, trace],
    queryFn: () => unwrap(api(project).GET("/api/v1/verdicts", { params: { query: { candidate: trace } } })),
  });

/** What each monitor decided about a trace; loaded again while a judge works on it. */
export const traceDecisionsQuery = (project: string, trace: string) =>
  queryOptions({
    queryKey: ["trace-decisions", project, trace],
    queryFn: () =>
      unwrap(api(project).GET("/api/v1/traces/{id}/decisions", { params: { path: { id: trace } } })),
    refetchInterval: ({ state }) => (state.data?.some((it) => it.judge_status === "pending") ? 3000 : false),
  });

/** Requests to judges about a trace, and their replies. */
export const exchangesQuery = (project: string, trace: string) =>
  queryOptions({
    queryKey: ["exchanges", project, trace],
    queryFn: () =>
      unwrap(api(project).GET("/api/v1/traces/{id}/exchanges", { params: { path: { id: trace } } })),
  });
