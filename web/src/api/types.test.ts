// @vitest-environment node
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error a script without types
import { generated } from "../../scripts/types.mjs";

// The description is long, and other tests run beside this one.
test("the types are those of the server's description", { timeout: 60_000 }, async () => {
  const all: Record<string, string> = await generated();
  for (const [name, text] of Object.entries(all)) {
    const file = new URL(name, import.meta.url);
    if (process.env.JURIST_BLESS) writeFileSync(file, text);
    expect(readFileSync(file, "utf8") === text, `${name} is out of date: npm run types`).toBe(true);
  }
});
