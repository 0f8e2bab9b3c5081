// A place whose traffic is watched: judged traces, one that the judge would not grade, and a month that costs something.
import type { Place } from "./place";

export const MONITOR = `agent: desk
rubric: |
  Rate the answer:
  1. It is right (1-5)
  2. It is kind (1-5)
  Reply as JSON: {"right": int, "kind": int, "reasoning": string}
judge_model: openai/gpt-5-mini
sample_rate: 1.0
pass_threshold: 4
`;

/** Two agents, and enough criteria to draw them. */
export const DESKS = `agents: [desk, help]
rubric: |
  Rate the answer:
  1. It is right (1-5)
  2. It is kind (1-5)
  3. It is short (1-5)
  Reply as JSON: {"right": int, "kind": int, "short": int, "reasoning": string}
judge_model: openai/gpt-5-mini
sample_rate: 1.0
pass_threshold: 4
`;

/** Whose judge has to quote what it rests on. */
export const QUOTING = `agent: desk
rubric:
  require_evidence: true
  threshold: 0.7
  criteria:
    - {name: right, description: It is right., scale: {likert: {min: 1, max: 5}}}
    - {name: kind, description: It is kind., scale: {likert: {min: 1, max: 5}}}
judge_model: openai/gpt-5-mini
sample_rate: 1.0
`;

export async function ask(place: Pick<Place, "url">, method: string, path: string, body?: unknown) {
  const answer = await fetch(`${place.url}/api/v1${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
  return text === "" ? null : JSON.parse(text);
}

export const apply = (place: Pick<Place, "url">, name: string, source: string) =>
  ask(place, "PUT", `/monitors/${name}`, { source });

/** A finished trace whose answer says how good it is. */
export async function finish(
  place: Pick<Place, "url">,
  id: string,
  worth: string,
  agent = "desk",
  failed = false,
  question = id,
) {
  const trace = [
    { role: "user", content: `Question ${question}?` },
    { role: "assistant", content: `Answer ${id}, worth ${worth}.` },
  ];
  await ask(place, "POST", "/traces", { id, agent, trace, failed });
}

/** Until so many traces are decided about and none of them waits. */
export async function settled(place: Pick<Place, "url">, name: string, n: number) {
  for (let tries = 0; tries < 2400; tries += 1) {
    const { states } = await ask(place, "GET", `/monitors/${name}/estimates`);
    const waits = states.some((it: { state: string }) => /^(sampled|pending)$/.test(it.state));
    const sum = states.reduce((total: number, it: { n: number }) => total + it.n, 0);
    if (!waits && sum === n) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${name} never came to an end`);
}

/** One monitor with a judge, one with two that disagree on some; eight traces each. */
export async function watch(place: Pick<Place, "url">) {
  await apply(place, "desk", MONITOR);
  await apply(
    place,
    "two judges",
    MONITOR.replace("judge_model: openai/gpt-5-mini", "judges: [openai/gpt-5-mini, openai/gpt-5-nano]"),
  );
  const worths = ["5", "4", "3", "5", "nothing", "2", "5", "1"];
  for (const [at, worth] of worths.entries()) {
    await finish(place, `desk-${at}`, worth, "desk", worth === "1");
  }
  await settled(place, "desk", worths.length);
  await settled(place, "two judges", worths.length);
}

const timeAt = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString();

/** A trace whose steps have times, durations, tokens and a cost. */
export const TIMED = {
  steps: [
    { role: "user", text: "Where is order 5617?", time: timeAt(0) },
    {
      role: "assistant",
      time: timeAt(0),
      duration_ms: 2000,
      usage: { input: 812, output: 44 },
      cost: 0.002,
      reasoning: "Look it up.",
      tool_calls: [{ id: "c1", name: "find_order", arguments: { number: 5617 } }],
    },
    {
      role: "tool",
      time: timeAt(2),
      duration_ms: 500,
      results: [{ call: "c1", text: "no such order", error: true }],
    },
    { role: "assistant", time: timeAt(3), duration_ms: 1000, text: "There is no such order." },
  ],
};
