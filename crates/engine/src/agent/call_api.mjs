import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
const [path, name, prompt, options, context] = process.argv.slice(1);
// What the file prints is not its answer.
console.log = console.error;
const module = await import(pathToFileURL(resolve(path)).href);
const found = module[name || "default"] ?? module;
const isClass = typeof found === "function" && found.prototype?.callApi;
const provider = isClass ? new found(JSON.parse(options)) : found;
const call = provider.callApi?.bind(provider) ?? provider;
const result = await call(prompt, JSON.parse(context), JSON.parse(options));
process.stdout.write(typeof result === "string" ? result : JSON.stringify(result));
