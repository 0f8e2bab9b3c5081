// Runs one check of a suite: code or a file, described by JSON on the standard input.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const request = JSON.parse(Buffer.concat(chunks).toString("utf8"));
// What the code prints is not its answer.
const answer = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
const { output, context } = request;
if (context.provider) {
  // promptfoo's providers say their id by a function.
  const { id } = context.provider;
  context.provider.id = () => id;
}

async function fromFile(path, name) {
  const module = await import(pathToFileURL(resolve(path)).href);
  const found = name ? (module[name] ?? module.default?.[name]) : (module.default?.default ?? module.default ?? module.get_assert);
  if (typeof found !== "function") throw new Error(`\`${path}\` has no function ${name ? `\`${name}\`` : "as its export"}`);
  return found(output, context);
}

const AsyncFunction = (async () => {}).constructor;
const compiled = (body) => new AsyncFunction("output", "context", "require", body);

async function inline(code) {
  const expression = () => compiled(`return (${code.trim().replace(/;$/, "")}\n)`);
  let made;
  if (code.trim().includes("\n") && /\breturn\b/.test(code)) {
    made = compiled(code);
  } else {
    try {
      made = expression();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      made = compiled(code);
    }
  }
  const result = await made(output, context, createRequire(resolve("check.js")));
  return typeof result === "function" ? result(output, context) : result;
}

try {
  const result = await ("file" in request ? fromFile(request.file, request.function) : inline(request.code));
  if (typeof result === "number" && !Number.isFinite(result)) throw new Error(`the check returned ${result}`);
  answer(JSON.stringify(result ?? null), () => process.exit(0));
} catch (error) {
  // The message and where it was thrown; the rest of the stack is this file's own.
  const text = String(error?.stack ?? error).split("\n").slice(0, 2).join("\n");
  process.stderr.write(`${text.slice(0, 280)}\n`, () => process.exit(1));
}
