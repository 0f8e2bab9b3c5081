// Rubrics and their versions as the server tells them.
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";

export const rubricsQuery = (project: string) =>
  queryOptions({
    queryKey: ["rubrics", project],
    queryFn: () => unwrap(api(project).GET("/api/v1/rubrics")),
  });

/** A version never changes. */
export const versionQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["rubric-version", project, id],
    queryFn: () => unwrap(api(project).GET("/api/v1/rubric-versions/{id}", { params: { path: { id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
