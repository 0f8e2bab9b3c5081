// Members, tokens, judges and the audit log, as the server describes them.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import type { AuditSearch } from "./search";

export const judgesQuery = (project: string) =>
  queryOptions({
    queryKey: ["judges", project],
    queryFn: () => unwrap(api(project).GET("/api/v1/judges")),
  });

export const membersQuery = (project: string) =>
  queryOptions({
    queryKey: ["members", project],
    queryFn: () => unwrap(api(project).GET("/api/v1/members")),
  });

export const tokensQuery = (project: string) =>
  queryOptions({
    queryKey: ["tokens", project],
    queryFn: () => unwrap(api(project).GET("/api/v1/tokens")),
  });

export const projectsQuery = (project: string) =>
  queryOptions({
    queryKey: ["projects"],
    queryFn: () => unwrap(api(project).GET("/api/v1/projects")),
  });

/** Changes that somebody made, the newest first. */
export const auditQuery = (project: string, search: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: ["audit", project, search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      unwrap(api(project).GET("/api/v1/audit", { params: { query: { ...search, after: pageParam } } })),
    getNextPageParam: (last) => last.next ?? undefined,
  });
