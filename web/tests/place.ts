// A server that is really started, with people and things in it; and a page that tolerates no fault.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect, type Page } from "@playwright/test";
import { judge } from "./judge";
import { suite } from "./suite";

const JURIST = process.env.JURIST ?? new URL("../../target/debug/jurist", import.meta.url).pathname;

export type Place = {
  url: string;
  /** The first owner's way in; only with accounts. */
  link: string;
  folder: string;
  /** Where its judge answers. */
  judge: string;
  /** Runs a command of Jurist in the place's folder. */
  jurist: (...args: string[]) => Promise<string>;
  /** Starts one that goes on by itself. */
  run: (...args: string[]) => void;
  worker: () => void;
  stop: () => Promise<void>;
  start: () => Promise<void>;
};

type Started = { auth?: boolean; workers?: number };

export async function placed({ auth, workers = 1 }: Started): Promise<Place & { end: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "jurist-web-"));
  // The server picks its port, and has it again when it is started again.
  let address = "127.0.0.1:0";
  const running: ChildProcess[] = [];
  const bench = await judge();
  const store = ["--store", join(folder, "jurist.db")];
  // Judges that files name by their vendor are the place's own.
  const env = {
    ...process.env,
    OPENAI_API_KEY: "sk-test-4f9a8b7c6d5e4f3a2b1c",
    OPENAI_BASE_URL: bench.url,
    JURIST_SECRET: "only-of-tests-and-long-enough-to-be-taken",
  };
  const run = (...args: string[]) => {
    const child = spawn(JURIST, args, { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
    running.push(child);
    return child;
  };
  let server: ChildProcess;
  const place = {
    url: "",
    link: "",
    folder,
    judge: bench.url,
    // A run that fails is an answer as well.
    jurist: (...args: string[]) =>
      new Promise<string>((done) => {
        execFile(JURIST, args, { cwd: folder, env }, (_, stdout) => done(stdout));
      }),
    run,
    worker: () => void run("worker", ...store, "--allow-private-network", "--workers", "2"),
    start: async () => {
      const flags = ["--allow-private-network", "--workers", String(workers), ...(auth ? ["--auth"] : [])];
      server = run("serve", "--address", address, ...store, ...flags);
      let said = "";
      await new Promise<void>((done, fail) => {
        server.once("exit", () => fail(new Error(`jurist serve ended: ${said}`)));
        server.stdout?.on("data", (it) => {
          said += it;
          if (said.includes("database") && (!auth || place.link || said.includes("/join#"))) done();
        });
      });
      place.url ||= /http:\/\/[\d.]+:\d+/.exec(said)?.[0] ?? "";
      address = place.url.replace("http://", "");
      place.link ||= /http:\S+\/join#\S+/.exec(said)?.[0] ?? "";
    },
    stop: () => ended(server),
    end: async () => {
      await Promise.all(running.map(ended));
      bench.server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await place.start();
  return place;
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((done) => {
    child.once("exit", () => done());
    child.removeAllListeners("error");
    child.kill("SIGKILL");
  });
}

/** A suite of this many cases, as a file of the place. */
export function writeSuite(place: Place, nCases: number): string {
  const file = join(place.folder, `suite-${nCases}.json`);
  writeFileSync(file, JSON.stringify(suite(nCases, place.judge)));
  return file;
}

export async function sendTrace(
  place: Pick<Place, "url">,
  id: string,
  agent: string,
  trace: unknown,
  metadata = {},
) {
  const body = JSON.stringify({ id, agent, trace, metadata });
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${place.url}/api/v1/traces`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(await answer.text());
}

const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** Faults that keep somebody from using the page. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    // What fades in has too little contrast for a moment.
    const fading = document
      .getAnimations()
      .filter((animation) => animation.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY);
    await Promise.allSettled(fading.map((animation) => animation.finished));
    // biome-ignore lint/suspicious/noExplicitAny: axe puts itself there.
    const { violations } = await (window as any).axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter((it: { impact: string }) => it.impact === "serious" || it.impact === "critical")
      .map(
        (it: { id: string; nodes: { html: string }[] }) =>
          `${it.id}: ${it.nodes.map((node) => node.html).join(" ")}`,
      );
  });
}

type Given = {
  /** Starts a server of the test's own. */
  place: (started: Started) => Promise<Place>;
  /** The address of a server without accounts, with runs and traces, for tests that only look. */
  open: string;
  /** A page whose console stays silent. */
  sound: Page;
};

export const test = base.extend<Given>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern.
  place: async ({}, use) => {
    const all: { end: () => Promise<void> }[] = [];
    await use(async (started) => {
      const place = await placed(started);
      all.push(place);
      return place;
    });
    await Promise.all(all.map((it) => it.end()));
  },
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern.
  open: async ({}, use) => use(process.env.JURIST_OPEN ?? ""),
  // A page may send another request while its test ends. Playwright then disposes of the response that a route
  // handler reads, and the handler throws; the test does not depend on that request.
  page: async ({ page }, use) => {
    await use(page);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  },
  // After the places, so that it is looked at before they end.
  sound: async ({ page, place: _ }, use) => {
    const said: string[] = [];
    page.on("console", (it) => {
      // That somebody is not let in, or something sent was not in order, is said by the browser as well, and is no fault.
      if (/status of (40[01349]|422)/.test(it.text())) return;
      if (it.type() === "error" || it.type() === "warning") said.push(it.text());
    });
    page.on("pageerror", (it) => said.push(it.message));
    await use(page);
    expect(said).toEqual([]);
  },
});

export async function fill(place: Place) {
  await place.jurist("eval", writeSuite(place, 48), "--server", place.url);
  const examples = new URL("../../examples/data/coding_traces.jsonl", import.meta.url).pathname;
  await place.jurist("ingest", examples, "--server", place.url, "--agent", "coder");
  const markup = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;
  await sendTrace(place, "markup", "support", [
    { role: "user", content: `What does ${markup} do? 🦉 مرحبا` },
    { role: "assistant", content: `It is text: ${markup}` },
  ]);
  const steps = Array.from({ length: 5000 }, (_, n) => ({
    role: n % 2 ? "assistant" : "user",
    content: n === 4320 ? "Here is the needle." : `Message ${n + 1}. ${"More of it. ".repeat(n % 23)}`,
  }));
  await sendTrace(place, "long", "support", steps);
}

export { expect };
