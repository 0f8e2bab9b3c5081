// TypeScript types of the API and of the data contract, from what the server itself says.
// usage: node scripts/types.mjs        writes src/api/*.d.ts; a test compares them
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

export async function generated() {
  // What has a default may be left out of an answer.
  const write = async (document) => astToString(await openapiTS(document, { defaultNonNullable: false }));
  return {
    "openapi.d.ts": header("schemas/openapi.json") + (await write(read("openapi.json"))),
    "contract.d.ts":
      header("schemas/run.schema.json and schemas/annotation.schema.json") +
      (await write(asComponents({ Run: read("run.schema.json"), Form: read("annotation.schema.json") }))),
  };
}

if (import.meta.filename === process.argv[1]) {
  for (const [name, text] of Object.entries(await generated())) writeFileSync(new URL(name, home), text);
}
