// A task with answers of several people in it, made through the API.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Agreement, Settings, Work } from "../src/annotate/types";
import type { Place } from "./place";

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

/** The example, as somebody would choose its files. */
export const CONFIG = [example("coding-agent.yaml"), example("data/coding_traces.jsonl")];
export const NAME = "Review of a coding agent";
export const CRITERIA = ["correctness", "code_quality", "efficiency", "documentation", "error_handling"];

type At = Pick<Place, "url">;

export async function ask<T>(
  { url }: At,
  method: string,
  path: string,
  body?: unknown,
  cookie = "",
): Promise<T> {
  const headers = { "Content-Type": "application/json", ...(cookie ? { Cookie: cookie } : {}) };
  const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as T;
}

/** The task of the example, with these settings instead of its own. */
export async function task(place: At, settings: Partial<Settings> = {}): Promise<string> {
  const [config = "", data = ""] = CONFIG.map((it) => readFileSync(it, "utf8"));
  const files = { "coding-agent.yaml": config, "data/coding_traces.jsonl": data };
  const { id } = await ask<{ id: string }>(place, "POST", "/tasks", { config: "coding-agent.yaml", files });
  const before = await ask<{ settings: Settings }>(place, "GET", `/tasks/${id}`);
  await ask(place, "PATCH", `/tasks/${id}`, { settings: { ...before.settings, ...settings } });
  return id;
}

/** Joins a task by a name, and returns the cookie. */
export async function joined(place: At, task: string, name: string): Promise<string> {
  const answer = await fetch(`${place.url}/api/v1/join/task`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ task, name }),
  });
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/** Everything that waits for somebody, answered; `value` says how, by item and criterion. */
export async function answered(
  place: At,
  task: string,
  name: string,
  value: (item: number, row: number) => number,
) {
  const cookie = await joined(place, task, name);
  for (let n = 0; ; n += 1) {
    const work = await ask<Work | { done: true }>(place, "POST", `/tasks/${task}/next`, undefined, cookie);
    if ("done" in work) return;
    const rated = CRITERIA.map((criterion, at) => [criterion, said(value(n, at), work, n + at)]);
    const draft = { agent_quality: { kind: "rubric", criteria: Object.fromEntries(rated) } };
    const body = { draft, revision: work.revision };
    await ask(place, "POST", `/assignments/${work.assignment}/submit`, body, cookie);
  }
}

/** A rating, now and then with its reason and a quote. */
function said(value: number, work: Work, n: number) {
  const at = work.item.trace?.steps?.findIndex((it) => it.reasoning) ?? -1;
  const quote = work.item.trace?.steps?.[at]?.reasoning;
  const isQuoted = n % 2 === 0 && quote;
  const end = new TextEncoder().encode(quote ?? "").length;
  return {
    rating: { kind: "scored", value },
    ...(n % 3 === 0 ? { comment: "It does what was asked, and one case more." } : {}),
    ...(isQuoted ? { evidence: [{ part: `trace.${at + 1}.reasoning`, quote, start: 0, end }] } : {}),
  };
}

/** Four people who agree more on some criteria than on others. */
export async function crowded(place: At): Promise<string> {
  const id = await task(place);
  const people = ["Ana", "Ben", "Carla", "Dimitri Aleksandrovich"];
  for (const [nth, name] of people.entries()) {
    await answered(
      place,
      id,
      name,
      (item, row) => 1 + ((item * 2 + (row > 1 ? nth * row : nth === 3 ? 1 : 0)) % 5),
    );
  }
  return id;
}

/** What the server says where a judge graded what people did as well. */
export const withJudge: Agreement = {
  criteria: [
    {
      scheme: "agent_quality",
      criterion: "correctness",
      label: "Correctness",
      metric: "alpha",
      value: 0.84,
      interval: [0.72, 0.93],
      strength: "good",
      conclusion: 'Good agreement, but the confidence interval reaches into the range "tentative".',
      n_items: 40,
      n_pairs: 118,
    },
    {
      scheme: "agent_quality",
      criterion: "efficiency",
      label: "Efficiency",
      metric: "alpha",
      undefined: "everybody gave the same answer, so agreement cannot be told from chance",
      strength: "unclear",
      conclusion: "Agreement beyond chance is not defined for these grades.",
      n_items: 40,
      n_pairs: 118,
    },
  ],
  pairs: [],
  people: [],
  judge: [
    {
      criterion: "efficiency",
      judge: "openai/gpt-5-mini",
      undefined: "everybody gave the same answer, so agreement cannot be told from chance",
      disagreements: [],
    },
    {
      criterion: "correctness",
      judge: "openai/gpt-5-mini",
      kappa: 0.62,
      interval: [0.48, 0.74],
      confusion: {
        labels: ["1", "2", "3", "4", "5"],
        counts: [
          [4, 1, 0, 0, 0],
          [1, 5, 2, 0, 0],
          [0, 2, 6, 3, 1],
          [0, 0, 2, 9, 4],
          [1, 0, 0, 2, 11],
        ],
      },
      disagreements: [
        {
          item: "itm_3",
          candidate: "trace_007",
          title: "Say goodbye.",
          judge: "2",
          people: ["4", "4"],
        },
        {
          item: "itm_1",
          candidate: "trace_042",
          title: "The last page of a listing is missing.",
          judge: "1",
          people: ["5", "5", "4"],
          reason: "The tests were not run, so it cannot be known whether the fix works.",
        },
        {
          item: "itm_2",
          candidate: "trace_017",
          title: "trace_017",
          judge: "5",
          people: ["3", "2"],
          reason: "All is covered.",
        },
      ],
    },
  ],
};
