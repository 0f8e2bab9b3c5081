import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [path, name] = process.argv.slice(1);
const run = JSON.parse(readFileSync(0, "utf8"));
const module = await import(pathToFileURL(path).href);
const called = module[name] ?? module.default?.[name];
if (typeof called !== "function") {
  console.error(`it exports no function ${name}`);
  process.exit(1);
}
await called({ ...run, hook_name: name, eval_dir: run.suite_path }, { hookName: name });
