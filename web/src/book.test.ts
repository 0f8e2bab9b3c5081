// @vitest-environment node
// Every link from the pages into the book leads to a page and a heading that exist.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
// @ts-expect-error a script without types
import { slugOf, withoutComments } from "../book/pages.mjs";

const home = dirname(fileURLToPath(import.meta.url));
const docs = join(home, "../../docs");

/** The anchors of a page, by the rule of the book's generator. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(page, "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const used = new Map();
  return new Set([...text.matchAll(/^#{1,6} (.+)$/gm)].map((match) => slugOf(match[1], used)));
}

type Reference = { file: string; page: string; anchor: string | undefined };

function findReferences(): Reference[] {
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).filter(
    (path) => /\.tsx?$/.test(path) && !/\.(d|test)\.tsx?$/.test(path),
  );
  return files.flatMap((file) => {
    const text = readFileSync(join(home, file), "utf8");
    const pages = [...text.matchAll(/"([\w/-]+)\.html(?:#([\w-]+))?"/g)].map((match) => ({
      file,
      page: match[1] ?? "",
      anchor: match[2],
    }));
    const entries = [...text.matchAll(/\bentry(?:=|: )"([^"]+)"/g)].map((match) => ({
      file,
      page: "glossary",
      anchor: match[1],
    }));
    return [...pages, ...entries];
  });
}

test("links into the book lead to pages and headings that exist", () => {
  const all = findReferences();
  expect(all.length).toBeGreaterThan(20);
  const broken = all.filter(({ page, anchor }) => {
    const source = join(docs, `${page === "index" ? "README" : page}.md`);
    return !existsSync(source) || (anchor !== undefined && !anchorsOf(source).has(anchor));
  });
  expect(broken).toEqual([]);
});

test("comments are no part of a page of the book, and those in code are", () => {
  const code = "```console\n$ head -1 page.md\n<!-- first -->\n```\n";
  const comment = "<!-- not shown:\n```console\n$ true\n```\n-->\n";
  expect(withoutComments(`One.\n\n${comment}Two.\n\n${code}`)).toBe(`One.\n\nTwo.\n\n${code}`);
});
