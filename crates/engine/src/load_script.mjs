import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [input, output] = process.argv.slice(1);
const { source, arguments: values } = JSON.parse(readFileSync(input, "utf8"));
let result;
if (source.code !== undefined) {
  const body = /\breturn\b/.test(source.code) ? source.code : `return (${source.code}\n)`;
  const made = new Function("output", "vars", "context", body)(values[0], values[0], values[1]);
  result = typeof made === "function" ? await made(...values) : await made;
} else {
  const module = await import(pathToFileURL(source.path).href);
  const exported = source.function ? (module[source.function] ?? module.default?.[source.function]) : (module.default ?? module[source.usual]);
  const found = exported?.default ?? exported;
  result = typeof found === "function" ? await found(...values) : found;
}
writeFileSync(output, JSON.stringify(result ?? null));
