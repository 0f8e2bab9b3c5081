// Checks `jurist mcp` with the official TypeScript client and the inspector; scripts/check-mcp installs both.
//
// usage: node check_mcp.mjs JURIST

import { execFile, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as newer from "@modelcontextprotocol/client";

const jurist = resolve(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), "jurist-mcp-"));
const token = "a-token-of-this-check";

function need(holds, message) {
  if (!holds) {
    throw new Error(message);
  }
}

mkdirSync(join(folder, ".jurist"));
writeFileSync(
  join(folder, "suite.yaml"),
  `evals:
  - {name: capital, response: Paris., checks: [{type: contains, value: Paris}]}
  - {name: river, response: The Thames., checks: [{type: contains, value: Seine}]}
`,
);
writeFileSync(join(folder, "people.csv"), "candidate,ann\na,1\nb,0\nc,1\nd,0\n");
writeFileSync(join(folder, "judge.csv"), "candidate,gpt\na,1\nb,0\nc,1\nd,1\n");
writeFileSync(join(folder, "broken.yaml"), "evals:\n  - {name: a, respons: b}\n");

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  need(!result.isError, `${name}: ${JSON.stringify(result)}`);
  return result.structuredContent;
}

/** The same for every transport. */
async function checkServer(transport, kind, AnyClient = Client) {
  const client = new AnyClient({ name: "check", version: "1" });
  await client.connect(transport);
  need(client.getServerVersion().name === "jurist", "the server says its name");
  const { tools } = await client.listTools();
  need(tools.length === 10, `${tools.length} tools`);
  for (const tool of tools) {
    need(tool.inputSchema.type === "object" && tool.description, tool.name);
    // From here on the client compares each result with it.
    need(tool.outputSchema?.type === "object", `${tool.name} has no schema of its result`);
  }
  const checked = await call(client, "check_file", { path: "broken.yaml" });
  need(checked.valid === false && checked.diagnostics[0].line === 2, JSON.stringify(checked));
  const run = await call(client, "run_suite", { path: "suite.yaml" });
  need(run.outcome === "failed" && run.n_pass === 1 && run.n_fail === 1, JSON.stringify(run));
  const read = await call(client, "read_case", { run: run.run, case: "river" });
  need(read.verdict.status === "fail" && read.grades.length === 1, JSON.stringify(read));
  const plan = await call(client, "explain_plan", { path: "suite.yaml" });
  need(plan.plan.includes("2 units"), JSON.stringify(plan));
  const listed = await call(client, "list_runs", {});
  need(listed.runs[0].id === run.run, JSON.stringify(listed));
  const again = await call(client, "read_run", { run: run.run, status: "fail" });
  need(again.n_cases === 1 && again.cases[0].case === "river", JSON.stringify(again));
  const compared = await call(client, "compare_runs", { before: run.run, after: run.run, show: "all" });
  need(compared.cases.length === 2 && compared.sentence, JSON.stringify(compared));
  const presets = await call(client, "draft_rubric", {});
  need(presets.presets.length > 3, JSON.stringify(presets));
  const criteria = [{ name: "minutes", description: "Says by how many minutes the train is late." }];
  const draft = await call(client, "draft_rubric", { name: "delay", criteria });
  const linted = await call(client, "lint_rubric", { text: draft.text });
  need(draft.check.valid && linted.valid, JSON.stringify(draft));
  const agreement = await call(client, "measure_agreement", { files: [run.run] });
  need(agreement.agreement.contains, JSON.stringify(agreement));
  const alignment = await call(client, "measure_agreement", { files: ["people.csv"], judge: ["judge.csv"] });
  need(alignment.alignment.length === 1, JSON.stringify(alignment));
  const prompts = await call(client, "read_case", { run: run.run, case: "river", prompts: true });
  need(Array.isArray(prompts.exchanges), JSON.stringify(prompts));
  const outside = await client.callTool({ name: "check_file", arguments: { path: "/etc/hostname" } });
  need(outside.isError && outside.content[0].text.includes("is outside of"), JSON.stringify(outside));
  const { resources } = await client.listResources();
  need(resources.length > 30, `${resources.length} resources`);
  const schema = await client.readResource({ uri: "jurist://schema/suite" });
  need(JSON.parse(schema.contents[0].text).$schema, "the schema is JSON");
  await client.close();
  console.log(`passed: TypeScript client over ${kind}: ${tools.length} tools, ${resources.length} resources`);
}

const servers = [];

/** A server over HTTP, and its address. */
async function startHttp(environment) {
  const server = spawn(jurist, ["mcp", "--http", "127.0.0.1:0"], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  servers.push(server);
  const lines = createInterface({ input: server.stdout });
  const [line] = await new Promise((done) => lines.once("line", (text) => done([text])));
  return new URL(/http:\S+/.exec(line)[0]);
}

async function inspect(args) {
  const inspector = join(dirname(fileURLToPath(import.meta.url)), "node_modules/.bin/mcp-inspector");
  const { stdout } = await promisify(execFile)(inspector, ["--cli", ...args], { cwd: folder, timeout: 120_000 });
  return JSON.parse(stdout);
}

try {
  await checkServer(
    new StdioClientTransport({ command: jurist, args: ["mcp", "--root", folder], stderr: "inherit" }),
    "standard streams",
  );
  const open = await startHttp({});
  await checkServer(new StreamableHTTPClientTransport(open), "HTTP");
  await checkServer(new newer.StreamableHTTPClientTransport(open), "HTTP, version 2", newer.Client);

  const listed = await inspect([jurist, "mcp", "--method", "tools/list"]);
  need(listed.tools.length === 10, "the inspector lists the tools over standard streams");
  const explained = await inspect([
    ...[open.href, "--transport", "http"],
    ...["--method", "tools/call", "--tool-name", "explain_plan", "--tool-arg", "path=suite.yaml"],
  ]);
  need(explained.structuredContent.plan.includes("2 units"), JSON.stringify(explained));
  console.log("passed: command line of the inspector over standard streams and HTTP");

  const closed = await startHttp({ JURIST_MCP_TOKEN: token });
  const stranger = new Client({ name: "stranger", version: "1" });
  const refused = await stranger.connect(new StreamableHTTPClientTransport(closed)).then(
    () => false,
    () => true,
  );
  need(refused, "a client without the token is refused");
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await checkServer(new StreamableHTTPClientTransport(closed, { requestInit }), "HTTP with a token");
} finally {
  servers.forEach((server) => server.kill());
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
