// Every door of the server that annotating needs.
import { api, type Schemas, unwrap } from "../api/client";
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
const told = <T>(asked: Parameters<typeof unwrap<unknown>>[0]): Promise<T> => unwrap(asked) as Promise<T>;
const sent = <T>(body: unknown): T => body as T;

export type NewTask =
  | { config: string; files: Record<string, string> }
  | { name: string; rubric: string; traces: Record<string, unknown> | string[]; settings: Partial<Settings> }
  | { name: string; verify: { run: string } | { monitor: string }; settings: Partial<Settings> };
export type TaskChange = { state?: Task["state"]; settings?: Partial<Settings> };

export const tasks = (project: string) => unwrap(api(project).GET("/api/v1/tasks"));
export const addTask = (project: string, body: NewTask) =>
  unwrap(api(project).POST("/api/v1/tasks", { body: sent<Schemas["NewTaskRequest"]>(body) }));
export const task = (project: string, id: string) =>
  told<TaskInFull>(api(project).GET("/api/v1/tasks/{task}", { params: { path: { task: id } } }));
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

export const next = (project: string, id: string) =>
  told<Work | Done>(api(project).POST("/api/v1/tasks/{task}/next", { params: { path: { task: id } } }));
export const work = (project: string, id: string) =>
  told<Work>(api(project).GET("/api/v1/assignments/{id}", { params: { path: { id } } }));

export type Saving = { draft: Draft; revision: number };

/** `keepalive` finishes it although the page is left. */
export const saveDraft = (project: string, id: string, saving: Saving, keepalive: boolean) =>
  unwrap(
    api(project).PUT("/api/v1/assignments/{id}/draft", {
      params: { path: { id } },
      body: sent<Schemas["SentDraft"]>(saving),
      keepalive,
    }),
  );
export const submit = (project: string, id: string, saving: Saving) =>
  told<Submitted>(
    api(project).POST("/api/v1/assignments/{id}/submit", {
      params: { path: { id } },
      body: sent<Schemas["SentDraft"]>(saving),
    }),
  );
export const skip = (project: string, id: string) =>
  unwrap(api(project).POST("/api/v1/assignments/{id}/skip", { params: { path: { id } } }));

export const people = (project: string, id: string) =>
  unwrap(api(project).GET("/api/v1/tasks/{task}/people", { params: { path: { task: id } } }));
export const disputes = (project: string, id: string, after?: number) =>
  told<{ items: Dispute[]; next?: number | null }>(
    api(project).GET("/api/v1/tasks/{task}/disputes", { params: { path: { task: id }, query: { after } } }),
  );
export const answers = (project: string, item: string) =>
  told<Answers>(api(project).GET("/api/v1/items/{item}/answers", { params: { path: { item } } }));
export type Deciding = Pick<Decision, "rating" | "why" | "cause">;
export const decide = (project: string, { item, scheme, criterion }: Dispute, deciding: Deciding) =>
  told<Decision>(
    api(project).PUT("/api/v1/items/{item}/decisions/{scheme}/{criterion}", {
      params: { path: { item, scheme, criterion } },
      body: sent<Schemas["NewDisputeDecision"]>(deciding),
    }),
  );
export const agreement = (project: string, id: string) =>
  told<Agreement>(api(project).GET("/api/v1/tasks/{task}/agreement", { params: { path: { task: id } } }));

export const results = (project: string, id: string, by?: string) =>
  unwrap(api(project).GET("/api/v1/tasks/{task}/results", { params: { path: { task: id }, query: { by } } }));

/** By an invite link, by a name where nobody signs in, or by an id of a crowd platform. */
export type JoiningTask =
  | { token: string; name: string }
  | { task: string; name: string }
  | { task: string; crowd: { key: string; id: string } };
export const joinTask = (body: JoiningTask) => unwrap(api(null).POST("/api/v1/join/task", { body }));
