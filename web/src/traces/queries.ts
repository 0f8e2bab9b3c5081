// Traces and agents, as the server describes them.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import type { TracesSearch } from "./search";
import type { Trace } from "./view/traceParts";

/** Traces that match the filter, page by page. */
export const tracesQuery = (project: string, search: TracesSearch) =>
  infiniteQueryOptions({
    queryKey: ["traces", project, search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      unwrap(api(project).GET("/api/v1/traces", { params: { query: { ...search, after: pageParam } } })),
    getNextPageParam: (last) => last.next ?? undefined,
    // The old rows stay until the new ones are there, so that nothing jumps.
    placeholderData: keepPreviousData,
  });

/** Numbers of traces by the values of the filters. The server does not count by verdict. */
export const traceCountsQuery = (project: string, { sort, verdict, ...search }: TracesSearch) =>
  queryOptions({
    queryKey: ["trace-counts", project, search, verdict],
    queryFn: () => unwrap(api(project).GET("/api/v1/trace-counts", { params: { query: search } })),
    enabled: verdict === undefined,
    placeholderData: verdict === undefined ? keepPreviousData : undefined,
  });

/** The newest finished traces, of one agent or of all. */
export const newestTracesQuery = (project: string, limit: number, agent?: string) =>
  queryOptions({
    queryKey: ["traces", project, "newest", limit, agent],
    queryFn: async () => {
      const query = { agent, state: "finished", limit };
      const { items } = await unwrap(api(project).GET("/api/v1/traces", { params: { query } }));
      return items;
    },
  });

export const traceQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["trace", project, id],
    queryFn: () => unwrap(api(project).GET("/api/v1/traces/{id}", { params: { path: { id } } })),
  });

/** The steps of a trace. */
export const traceContentQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["trace-content", project, id],
    queryFn: async () =>
      (await unwrap(api(project).GET("/api/v1/traces/{id}/content", { params: { path: { id } } }))) as Trace,
  });

export const agentsQuery = (project: string) =>
  queryOptions({
    queryKey: ["agents", project],
    queryFn: () => unwrap(api(project).GET("/api/v1/agents")),
  });
