// Datasets, their versions and cases.
import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";
import { loadAllPages, PAGE_SIZE } from "../api/pages";

export type Dataset = Schemas["DatasetView"];
export type DatasetVersion = Schemas["DatasetVersionView"];
export type DatasetCase = Schemas["DatasetCaseView"];
export type DatasetCaseInFull = Schemas["DatasetCaseInFull"];
/** A case that differs between two versions. */
export type DatasetChange = Schemas["CaseDifferenceView"];
/** What a request for a version changed. */
export type WrittenVersion = Schemas["DatasetVersionReceipt"];

/** What a new version adds and removes. The generated types do not describe records and filters. */
export type DatasetEntry = Partial<Omit<Schemas["NewDatasetVersion"], "records" | "trace_filter">> & {
  records?: Record<string, unknown>[];
  trace_filter?: Record<string, unknown>;
};

export const datasetsQuery = (project: string, archived = false) =>
  queryOptions({
    queryKey: ["datasets", project, archived],
    queryFn: () => unwrap(api(project).GET("/api/v1/datasets", { params: { query: { archived } } })),
  });

export const datasetQuery = (project: string, name: string) =>
  queryOptions({
    queryKey: ["dataset", project, name],
    queryFn: () => unwrap(api(project).GET("/api/v1/datasets/{name}", { params: { path: { name } } })),
  });

/** The versions of a dataset, the newest first. */
export const datasetVersionsQuery = (project: string, name: string) =>
  queryOptions({
    queryKey: ["dataset-versions", project, name],
    queryFn: () =>
      loadAllPages((after: string | undefined) => {
        const params = { path: { name }, query: { limit: PAGE_SIZE, after } };
        return unwrap(api(project).GET("/api/v1/datasets/{name}/versions", { params }));
      }),
  });

export type CaseFilter = { version: number; split?: "dev" | "test"; search?: string };

/** The cases of a version that match the filter, page by page. A version never changes, so nothing is loaded twice. */
export const datasetCasesQuery = (project: string, name: string, filter: CaseFilter) =>
  infiniteQueryOptions({
    queryKey: ["dataset-cases", project, name, filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { name }, query: { ...filter, limit: PAGE_SIZE, after: pageParam } };
      return unwrap(api(project).GET("/api/v1/datasets/{name}/cases", { params, signal }));
    },
    getNextPageParam: (last) => last.next ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });

export const datasetCaseQuery = (project: string, name: string, key: string, version: number) =>
  queryOptions({
    queryKey: ["dataset-case", project, name, key, version],
    queryFn: () => {
      const params = { path: { name, key }, query: { version } };
      return unwrap(api(project).GET("/api/v1/datasets/{name}/cases/{key}", { params }));
    },
  });

export type VersionPair = { from: number; to: number };

export const datasetDiffQuery = (project: string, name: string, pair: VersionPair) =>
  infiniteQueryOptions({
    queryKey: ["dataset-diff", project, name, pair],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { name }, query: { ...pair, limit: PAGE_SIZE, after: pageParam } };
      return unwrap(api(project).GET("/api/v1/datasets/{name}/diff", { params, signal }));
    },
    getNextPageParam: (last) => last.next ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Loads a dataset and the list of datasets again after a change; cases of versions stay as they are. */
export const refreshDataset = (queries: QueryClient, project: string, name: string) =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ["datasets", project] }),
    queries.invalidateQueries({ queryKey: ["dataset", project, name] }),
    queries.invalidateQueries({ queryKey: ["dataset-versions", project, name] }),
  ]);

export const addDataset = (project: string, body: Schemas["NewDatasetRequest"]) =>
  unwrap(api(project).POST("/api/v1/datasets", { body }));

export const changeDataset = (project: string, name: string, body: Schemas["DatasetUpdate"]) =>
  unwrap(api(project).PATCH("/api/v1/datasets/{name}", { params: { path: { name } }, body }));

export const addDatasetVersion = (project: string, name: string, entry: DatasetEntry) =>
  unwrap(
    api(project).POST("/api/v1/datasets/{name}/versions", {
      params: { path: { name } },
      body: entry as Schemas["NewDatasetVersion"],
    }),
  );

/** The address of a file with the cases of a version. */
export function exportAddress(
  project: string,
  name: string,
  { version, split, format }: { version: number; split?: string; format: "jsonl" | "parquet" | "suite" },
): string {
  const query = new URLSearchParams({ project, version: String(version), format });
  if (split) query.set("split", split);
  return `/api/v1/datasets/${encodeURIComponent(name)}/export?${query}`;
}
