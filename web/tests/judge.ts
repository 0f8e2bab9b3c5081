// A judge as a server that speaks OpenAI's protocol, for tests: what it says is invented, and the same every time.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export async function judge(): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { messages, model, response_format } = JSON.parse(body);
    const asked = messages.map((it: { content: unknown }) => textOf(it.content)).join("\n");
    const items = response_format?.json_schema?.schema?.properties?.criteria?.items?.properties;
    const ids = items?.id?.enum;
    const choice = response_format?.json_schema?.schema?.properties?.verdict?.enum;
    const content = ids
      ? rated(asked, ids, model, items.evidence !== undefined)
      : choice?.includes("tie")
        ? preferred(asked)
        : reply(asked);
    const answer = {
      id: "invented",
      object: "chat.completion",
      model: "invented",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
      usage: {
        prompt_tokens: asked.length >> 2,
        completion_tokens: 30,
        total_tokens: (asked.length >> 2) + 30,
      },
    };
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server };
}

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : (content as { text?: string }[]).map((it) => it.text ?? "").join("\n");

const REASONS: Record<string, [string, string]> = {
  answers: ["It says where the order is, which is what was asked.", "It never says where the order is."],
  correct: ["The day agrees with the context.", "The context names another day."],
  tone: ["Warm, and it takes the trouble seriously.", "Short to the point of being cold."],
};

let nTosses = 0;

function reply(asked: string): string {
  // A flaky case: its verdict alternates.
  if (asked.includes("toss of a coin")) {
    nTosses += 1;
    return JSON.stringify({ evidence: [], reasoning: "As it fell.", verdict: nTosses % 2 === 0 });
  }
  const said = /Your order (\d+)[^\n<]*/.exec(asked);
  const n = Number(said?.[1] ?? 0);
  const criterion = /# Question\n([a-z_-]+):/.exec(asked)?.[1] ?? "answers";
  if (n % 13 === 5) return "I would rather not say.";
  const isGood = (n * 7 + criterion.length * 3) % 11 > 2;
  const [good, bad] = REASONS[criterion] ?? ["Yes.", "No."];
  const answer = criterion === "tone" ? { score: isGood ? 5 : 2 } : { verdict: isGood };
  // Some quotes do not stand in what was graded; they do not count.
  const evidence = [n % 9 === 4 ? "This was never said." : (said?.[0] ?? "").slice(0, 62)];
  return JSON.stringify({ evidence, reasoning: isGood ? good : bad, ...answer });
}

/** Which of two is worth more, as they say of themselves. */
function preferred(asked: string): string {
  const [a = 0, b = 0] = [...asked.matchAll(/Answer[^\n<]*worth (\d)/g)].map((it) => Number(it[1]));
  const verdict = a === b ? "tie" : a > b ? "A" : "B";
  return JSON.stringify({ reasoning: `${a} against ${b}.`, verdict });
}

/** Every criterion of a monitor at once: as many points as the answer says of itself. */
function rated(asked: string, ids: string[], model: string, quotes: boolean): string {
  const worth = /worth (\d|nothing)/.exec(asked)?.[1] ?? "3";
  if (worth === "nothing") return "I would rather not say.";
  // One of two judges is hard to please where something is middling.
  const points = Math.max(1, Number(worth) - (model.includes("nano") && worth === "3" ? 2 : 0));
  const criteria = ids.map((id, at) => ({
    id,
    reasoning: `It is worth ${points}, as it says: ${id}.`,
    score: Math.max(1, points - at),
    // One that stands there, and one that does not.
    ...(quotes ? { evidence: [`worth ${worth}`, "This was never said."] } : {}),
  }));
  return JSON.stringify({ criteria });
}
