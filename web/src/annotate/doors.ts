// Every door of the server that annotating needs.
import { answered } from "../api/client";
import type {
  Agreement,
  Answers,
  Decision,
  Dispute,
  Done,
  Draft,
  Person,
  Settings,
  Submitted,
  Task,
  TaskInFull,
  Work,
} from "./types";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Asked = { project: string | null; body?: unknown; keepalive?: boolean };

function ask<T>(method: Method, path: string, { project, body, keepalive }: Asked): Promise<T> {
  const headers = new Headers(body === undefined ? {} : { "Content-Type": "application/json" });
  if (project) headers.set("Jurist-Project", project);
  const init = { method, headers, body: JSON.stringify(body), keepalive };
  return answered<T>(
    fetch(`/api/v1${path}`, init).then(async (response) => {
      const found = await response.json().catch(() => undefined);
      return response.ok ? { data: found, response } : { error: found, response };
    }),
  );
}

const at = (strings: TemplateStringsArray, ...ids: string[]): string =>
  String.raw({ raw: strings }, ...ids.map(encodeURIComponent));

export type NewTask =
  | { config: string; files: Record<string, string> }
  | { name: string; rubric: string; traces: Record<string, unknown>; settings: Partial<Settings> }
  | { name: string; verify: { run: string } | { monitor: string }; settings: Partial<Settings> };

export const tasks = (project: string) => ask<{ items: Task[] }>("GET", "/tasks", { project });
export const addTask = (project: string, body: NewTask) => ask<Task>("POST", "/tasks", { project, body });
export const task = (project: string, id: string) => ask<TaskInFull>("GET", at`/tasks/${id}`, { project });
export const changeTask = (
  project: string,
  id: string,
  body: { state?: Task["state"]; settings?: Partial<Settings> },
) => ask<Task>("PATCH", at`/tasks/${id}`, { project, body });
export const linksOf = (project: string, id: string) =>
  ask<{ url: string; crowd_url: string }>("POST", at`/tasks/${id}/links`, { project, body: {} });
export const exportOf = (project: string, id: string, format: string): string =>
  at`/api/v1/tasks/${id}/export?project=${project}&format=${format}`;

export const next = (project: string, id: string) =>
  ask<Work | Done>("POST", at`/tasks/${id}/next`, { project, body: {} });
export const work = (project: string, assignment: string) =>
  ask<Work>("GET", at`/assignments/${assignment}`, { project });

export type Saving = { draft: Draft; revision: number };

/** `keepalive` finishes it although the page is left. */
export const saveDraft = (project: string, assignment: string, body: Saving, keepalive: boolean) =>
  ask<{ revision: number }>("PUT", at`/assignments/${assignment}/draft`, { project, body, keepalive });
export const submit = (project: string, assignment: string, body: Saving) =>
  ask<Submitted>("POST", at`/assignments/${assignment}/submit`, { project, body });
export const skip = (project: string, assignment: string) =>
  ask<unknown>("POST", at`/assignments/${assignment}/skip`, { project, body: {} });

export const people = (project: string, id: string) =>
  ask<{ items: Person[] }>("GET", at`/tasks/${id}/people`, { project });
export const disputes = (project: string, id: string, after?: number) =>
  ask<{ items: Dispute[]; next?: number | null }>(
    "GET",
    at`/tasks/${id}/disputes` + (after === undefined ? "" : `?after=${after}`),
    { project },
  );
export const answers = (project: string, item: string) =>
  ask<Answers>("GET", at`/items/${item}/answers`, { project });
export type Deciding = Pick<Decision, "rating" | "why" | "cause">;
export const decide = (project: string, dispute: Dispute, body: Deciding) =>
  ask<Decision>("PUT", at`/items/${dispute.item}/decisions/${dispute.scheme}/${dispute.criterion}`, {
    project,
    body,
  });
export const agreement = (project: string, id: string) =>
  ask<Agreement>("GET", at`/tasks/${id}/agreement`, { project });

/** By an invite link, by an id of a crowd platform, or by a name where nobody signs in. */
export type JoiningTask =
  | { token: string; name: string }
  | { task: string; name: string }
  | { task: string; crowd: { key: string; id: string } };
export const joinTask = (body: JoiningTask) =>
  ask<{ project: string; task: string }>("POST", "/join/task", { project: null, body });
