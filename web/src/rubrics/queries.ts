// Rubrics and their versions, as the server describes them.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";

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

/** A rubric with the tag that a change of it has to name. */
export type TaggedRubric = Schemas["RubricSummary"] & { tag: string | null };

export const rubricQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["rubric", project, id],
    queryFn: async (): Promise<TaggedRubric> => {
      const answer = api(project).GET("/api/v1/rubrics/{id}", { params: { path: { id } } });
      const rubric = await unwrap(answer);
      return { ...rubric, tag: (await answer).response.headers.get("etag") };
    },
  });

export const rubricVersionsQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["rubric-versions", project, id],
    queryFn: () => unwrap(api(project).GET("/api/v1/rubrics/{id}/versions", { params: { path: { id } } })),
  });

/** What changed from one version to another; neither ever changes. */
export const rubricDiffQuery = (project: string, version: string, from: string | undefined) =>
  queryOptions({
    queryKey: ["diff", project, version, from],
    queryFn: () =>
      unwrap(
        api(project).GET("/api/v1/rubric-versions/{id}/diff", {
          params: { path: { id: version }, query: { from: from ?? "" } },
        }),
      ),
    enabled: from !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Ready-made rubrics. */
export const presetsQuery = (project: string) =>
  queryOptions({
    queryKey: ["presets", project],
    queryFn: () => unwrap(api(project).GET("/api/v1/presets")),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The prompts that judges get for a file, about a trace or with placeholders. */
export const judgePromptQuery = (project: string, source: string, trace: string | undefined) =>
  queryOptions({
    queryKey: ["prompt", project, source, trace],
    queryFn: () => unwrap(api(project).POST("/api/v1/rubrics/prompt", { body: { source, trace } })),
    placeholderData: keepPreviousData,
    retry: false,
  });

export type Trial = { source: string; traces: string[]; judge: string | undefined };

/** What a trial of a rubric would cost; nothing is spent. */
export const trialPriceQuery = (project: string, trial: Trial) =>
  queryOptions({
    queryKey: ["try", project, trial],
    queryFn: () => unwrap(api(project).POST("/api/v1/rubrics/try", { body: { ...trial, spend: false } })),
    // What is unfolded stays unfolded while the price of another judge is loaded.
    placeholderData: keepPreviousData,
    retry: false,
  });
