// TypeScript types of the API and of the data contract, from what the server itself says.
// usage: node scripts/types.mjs        writes src/api/*.d.ts and what the editor completes; a test compares them
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const schemas = new URL("../../schemas/", import.meta.url);
const home = new URL("../src/api/", import.meta.url);
const header = (from) => `// Generated from ${from} by scripts/types.mjs; do not edit.\n\n`;

const read = (name) => JSON.parse(readFileSync(new URL(name, schemas), "utf8"));

/** JSON Schemas as the components of one API, which is what the generator reads; what two of them share stands once. */
function asComponents(schemas) {
  const all = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const { $defs, $id, $schema, ...whole } = schema;
    const own = { ...$defs, [name]: whole };
    // The same under another name, such as `Step2`, where the name was taken.
    const renamed = {};
    const written = (it) =>
      JSON.stringify(it).replace(
        /"#\/\$defs\/(\w+)"/g,
        (_, to) => `"#/components/schemas/${renamed[to] ?? to}"`,
      );
    for (let n = -1; n !== Object.keys(renamed).length; ) {
      n = Object.keys(renamed).length;
      for (const [mine, schema] of Object.entries(own)) {
        const same = [mine, ...Object.keys(all)].find((it) => all[it] === written(schema));
        if (same) renamed[mine] = same;
      }
    }
    for (const [mine, schema] of Object.entries(own)) {
      if (renamed[mine]) continue;
      if (all[mine]) throw new Error(`two schemas call something else \`${mine}\``);
      all[mine] = written(schema);
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: "contract", version: "1" },
    paths: {},
    components: {
      schemas: Object.fromEntries(Object.entries(all).map(([name, it]) => [name, JSON.parse(it)])),
    },
  };
}

/** What an editor completes: of a schema its keys, values and what they are for; of definitions those that are met. */
function wordsOf({ $defs }, roots) {
  const defs = {};
  const visit = (name) => {
    if (name in defs) return;
    defs[name] = {};
    defs[name] = node($defs[name]);
  };
  const node = (schema) => {
    const found = { values: {}, keys: {}, of: [] };
    const add = (it) => {
      const own = it.description ?? "";
      if (it.$ref) found.of.push(it.$ref.slice("#/$defs/".length));
      for (const value of it.enum ?? []) found.values[value] ??= "";
      if (it.const !== undefined) found.values[it.const] = own;
      if (it.type === "boolean") Object.assign(found.values, { true: "", false: "" });
      for (const [key, value] of Object.entries(it.properties ?? {})) {
        if (typeof value === "object" && key !== "$schema") found.keys[key] ??= node(value);
      }
      if (typeof it.additionalProperties === "object") found.each = node(it.additionalProperties);
      if (typeof it.items === "object") found.items = node(it.items);
      for (const one of [...(it.anyOf ?? []), ...(it.oneOf ?? [])]) add(one);
    };
    add(schema);
    for (const name of found.of) visit(name);
    const about = schema.description && { about: schema.description };
    const filled = Object.entries(found).filter(([, it]) => Object.keys(it).length > 0);
    return { ...about, ...Object.fromEntries(filled) };
  };
  for (const name of roots) visit(name);
  return defs;
}

export async function generated() {
  // What has a default may be left out of an answer.
  const write = async (document) => astToString(await openapiTS(document, { defaultNonNullable: false }));
  return {
    "openapi.d.ts": header("schemas/openapi.json") + (await write(read("openapi.json"))),
    "contract.d.ts":
      header("schemas/run.schema.json and schemas/annotation.schema.json") +
      (await write(asComponents({ Run: read("run.schema.json"), Form: read("annotation.schema.json") }))),
    "../editor/words.json": `${JSON.stringify(wordsOf(read("suite.schema.json"), ["rubric", "monitor"]))}\n`,
  };
}

if (import.meta.filename === process.argv[1]) {
  for (const [name, text] of Object.entries(await generated())) writeFileSync(new URL(name, home), text);
}
