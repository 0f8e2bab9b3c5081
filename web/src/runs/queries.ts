import { queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrapAs } from "../api/client";

/** A run in rows and columns of what its cases differ in. */
export type Matrix = Schemas["RunMatrix"];
export type Cell = Schemas["MatrixCell"];
export type FlakyCase = Schemas["FlakyCase"];

export const matrixQuery = (project: string, id: string, axes: { rows?: string; columns?: string }) =>
  queryOptions({
    queryKey: ["matrix", project, id, axes],
    queryFn: () => {
      const params = { path: { id }, query: axes };
      return unwrapAs<Matrix>(api(project).GET("/api/v1/runs/{id}/matrix", { params }));
    },
  });

export type CriterionMean = Schemas["CriterionMean"];

export const criteriaQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["criteria", project, id],
    queryFn: () =>
      unwrapAs<Schemas["RunCriteria"]>(
        api(project).GET("/api/v1/runs/{id}/criteria", { params: { path: { id } } }),
      ),
  });

export const flakyQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["flaky", project, id],
    queryFn: () =>
      unwrapAs<Schemas["RunTrials"]>(
        api(project).GET("/api/v1/runs/{id}/flaky", { params: { path: { id } } }),
      ),
  });
