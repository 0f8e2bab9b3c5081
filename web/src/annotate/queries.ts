// Annotation tasks, as the server describes them.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap, unwrapAs } from "../api/client";
import type { Row } from "./taskFiles";
import type {
  Agreement,
  Answers,
  Decision,
  Dispute,
  Done,
  Draft,
  Settings,
  Submitted,
  Task,
  TaskInFull,
  Work,
} from "./types";

/** What `annotation.schema.json` describes is any object to the API's own description. */
const sent = <T>(body: unknown): T => body as T;

export type NewTask =
  | { config: string; files: Record<string, string> }
  | { name: string; rubric: string; traces: Record<string, unknown> | string[]; settings: Partial<Settings> }
  | { name: string; verify: { run: string } | { monitor: string }; settings: Partial<Settings> };
/** Settings that are absent stay unchanged; `null` resets a setting to its default. */
export type SettingsChange = { [Name in keyof Settings]?: Settings[Name] | null };
export type TaskChange = { state?: Task["state"]; settings?: SettingsChange };

export const fetchTasks = (project: string) => unwrap(api(project).GET("/api/v1/tasks"));
export const addTask = (project: string, body: NewTask) =>
  unwrap(api(project).POST("/api/v1/tasks", { body: sent<Schemas["NewTaskRequest"]>(body) }));
const fetchTask = (project: string, id: string) =>
  unwrapAs<TaskInFull>(api(project).GET("/api/v1/tasks/{task}", { params: { path: { task: id } } }));
export const changeTask = (project: string, id: string, change: TaskChange) =>
  unwrap(
    api(project).PATCH("/api/v1/tasks/{task}", {
      params: { path: { task: id } },
      body: sent<Schemas["TaskChange"]>(change),
    }),
  );
export type MoreItems = { rows: Row[] } | { traces: { agent?: string; limit?: number } | string[] };
export const addItems = (project: string, id: string, body: MoreItems) =>
  unwrap(
    api(project).POST("/api/v1/tasks/{task}/items", {
      params: { path: { task: id } },
      body: sent<Schemas["MoreItems"]>(body),
    }),
  );
export const linksOf = (project: string, id: string) =>
  unwrap(api(project).POST("/api/v1/tasks/{task}/links", { params: { path: { task: id } } }));
export const exportOf = (project: string, id: string, format: string): string =>
  `/api/v1/tasks/${id}/export?${new URLSearchParams({ project, format })}`;

export const fetchNext = (project: string, id: string) =>
  unwrapAs<Work | Done>(api(project).POST("/api/v1/tasks/{task}/next", { params: { path: { task: id } } }));
const fetchWork = (project: string, id: string) =>
  unwrapAs<Work>(api(project).GET("/api/v1/assignments/{id}", { params: { path: { id } } }));

export type Saving = { draft: Draft; revision: number };

/** `keepalive` lets the request finish after the page is closed. */
export const saveDraft = (project: string, id: string, saving: Saving, keepalive: boolean) =>
  unwrap(
    api(project).PUT("/api/v1/assignments/{id}/draft", {
      params: { path: { id } },
      body: sent<Schemas["SentDraft"]>(saving),
      keepalive,
    }),
  );
export const submit = (project: string, id: string, saving: Saving) =>
  unwrapAs<Submitted>(
    api(project).POST("/api/v1/assignments/{id}/submit", {
      params: { path: { id } },
      body: sent<Schemas["SentDraft"]>(saving),
    }),
  );
export const skip = (project: string, id: string) =>
  unwrap(api(project).POST("/api/v1/assignments/{id}/skip", { params: { path: { id } } }));

const fetchPeople = (project: string, id: string) =>
  unwrap(api(project).GET("/api/v1/tasks/{task}/people", { params: { path: { task: id } } }));
export const changePerson = (
  project: string,
  id: string,
  account: string,
  change: Schemas["AnnotatorChange"],
) =>
  unwrap(
    api(project).PATCH("/api/v1/tasks/{task}/people/{account}", {
      params: { path: { task: id, account } },
      body: change,
    }),
  );
const fetchDisputes = (project: string, id: string, after?: number) =>
  unwrapAs<{ items: Dispute[]; next?: number | null }>(
    api(project).GET("/api/v1/tasks/{task}/disputes", { params: { path: { task: id }, query: { after } } }),
  );
const fetchAnswers = (project: string, item: string) =>
  unwrapAs<Answers>(api(project).GET("/api/v1/items/{item}/answers", { params: { path: { item } } }));
export type Deciding = Pick<Decision, "rating" | "why" | "cause" | "labels">;
/** Of a question of several labels, the answer is a list. */
export const decide = (
  project: string,
  { item, scheme, criterion }: Dispute,
  { labels, rating, ...deciding }: Deciding,
) =>
  unwrapAs<Decision>(
    api(project).PUT("/api/v1/items/{item}/decisions/{scheme}/{criterion}", {
      params: { path: { item, scheme, criterion } },
      body: sent<Schemas["NewDisputeDecision"]>({
        ...deciding,
        rating: labels ? { kind: "scored", value: labels } : rating,
      }),
    }),
  );
const fetchAgreement = (project: string, id: string) =>
  unwrapAs<Agreement>(api(project).GET("/api/v1/tasks/{task}/agreement", { params: { path: { task: id } } }));

const fetchResults = (project: string, id: string, by?: string) =>
  unwrapAs<Schemas["ShownResults"]>(
    api(project).GET("/api/v1/tasks/{task}/results", { params: { path: { task: id }, query: { by } } }),
  );

/** By an invitation link, by a name on a server without accounts, or by an id of a crowd platform. */
export type JoiningTask =
  | { token: string; name: string }
  | { task: string; name: string }
  | { task: string; crowd: { key: string; id: string } };
export const joinTask = (body: JoiningTask) => unwrap(api(null).POST("/api/v1/join/task", { body }));

export const tasksQuery = (project: string) =>
  queryOptions({ queryKey: ["tasks", project], queryFn: () => fetchTasks(project) });

export const taskQuery = (project: string, id: string) =>
  queryOptions({ queryKey: ["task", project, id], queryFn: () => fetchTask(project, id) });

/** How often a page without work asks whether there is some by now. */
const NEXT_POLL_MS = 15_000;

/** The next item of a task for this person, or why there is none. */
export const nextQuery = (project: string, task: string) =>
  queryOptions({
    queryKey: ["next", project, task],
    queryFn: () => fetchNext(project, task),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state: { data } }) =>
      data && "done" in data && data.why === "nothing_now" ? NEXT_POLL_MS : false,
  });

export const assignmentQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ["work", project, id],
    queryFn: () => fetchWork(project, id),
    // The draft belongs to the page from here on: an older state must not come back from a cache.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    // The item before stays until the next one is there, so that nothing flickers between items.
    placeholderData: keepPreviousData,
  });

export const resultsQuery = (project: string, task: string, by?: string) =>
  queryOptions({
    queryKey: ["results", project, task, by],
    queryFn: () => fetchResults(project, task, by),
    placeholderData: keepPreviousData,
  });

export const disputesQuery = (project: string, task: string) =>
  infiniteQueryOptions({
    queryKey: ["disputes", project, task],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) => fetchDisputes(project, task, pageParam),
    getNextPageParam: (last) => last.next ?? undefined,
  });

export const answersQuery = (project: string, item: string) =>
  queryOptions({ queryKey: ["answers", project, item], queryFn: () => fetchAnswers(project, item) });

export const agreementQuery = (project: string, task: string) =>
  queryOptions({ queryKey: ["agreement", project, task], queryFn: () => fetchAgreement(project, task) });

export const peopleQuery = (project: string, task: string) =>
  queryOptions({ queryKey: ["people", project, task], queryFn: () => fetchPeople(project, task) });
