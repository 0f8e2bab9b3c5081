/// <reference types="vitest/config" />
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The content security policy of the server, so that violations also show up here. */
export function policy(): string {
  const text = readFileSync(new URL("../crates/server/src/serve.rs", import.meta.url), "utf8");
  const found = /let policy = "((?:[^"\\]|\\\s*)*)"/.exec(text)?.[1];
  if (!found) throw new Error('crates/server/src/serve.rs no longer says `let policy = "…"`');
  return found.replace(/\\\s*\n\s*/g, "");
}

/** Beside each text its packed form, which the server sends to whoever takes it. */
function packed(): Plugin {
  return {
    name: "packed",
    apply: "build",
    // Only what is on disk is final.
    writeBundle({ dir = "dist" }, bundle) {
      for (const name of Object.keys(bundle)) {
        const file = join(dir, name);
        if (/\.(js|css|html|svg)$/.test(name))
          writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
      }
    },
  };
}

const SHARED =
  /\/src\/(ui\/|chart\/|runs\/CaseStrip|monitors\/(queries|Monitors|TrendView)\.|money\/(queries|format|BudgetMeter|AlertState|Budget)\.)/;

export default defineConfig({
  plugins: [react(), packed()],
  build: {
    target: "es2022",
    // Everything is a file of its own: the policy allows no `data:` but pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What several pages are made of is one file, rather than thirty that each need an answer.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: "parts", test: SHARED }] } },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8000" } },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing.ts"],
    css: { modules: { classNameStrategy: "non-scoped" } },
    // A busy machine is no failure.
    testTimeout: 60_000,
  },
});
