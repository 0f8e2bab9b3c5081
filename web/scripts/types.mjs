// TypeScript types of the API and of the data contract, from what the server itself says.
// usage: node scripts/types.mjs        writes src/api/*.d.ts; a test compares them
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const schemas = new URL("../../schemas/", import.meta.url);
const home = new URL("../src/api/", import.meta.url);
const header = (from) => `// Generated from ${from} by scripts/types.mjs; do not edit.\n\n`;

const read = (name) => JSON.parse(readFileSync(new URL(name, schemas), "utf8"));

/** A JSON Schema as the components of an API, which is what the generator reads. */
function asComponents(schema, name) {
  const text = JSON.stringify(schema).replaceAll("#/$defs/", "#/components/schemas/");
  const { $defs, $id, $schema, ...whole } = JSON.parse(text);
  return {
    openapi: "3.1.0",
    info: { title: name, version: "1" },
    paths: {},
    components: { schemas: { ...$defs, [name]: whole } },
  };
}

export async function generated() {
  // What has a default may be left out of an answer.
  const write = async (document) => astToString(await openapiTS(document, { defaultNonNullable: false }));
  return {
    "openapi.d.ts": header("schemas/openapi.json") + (await write(read("openapi.json"))),
    "contract.d.ts":
      header("schemas/run.schema.json") + (await write(asComponents(read("run.schema.json"), "Run"))),
    "annotation.d.ts":
      header("schemas/annotation.schema.json") +
      (await write(asComponents(read("annotation.schema.json"), "Form"))),
  };
}

if (import.meta.filename === process.argv[1]) {
  for (const [name, text] of Object.entries(await generated())) writeFileSync(new URL(name, home), text);
}
