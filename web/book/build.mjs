// The book: Markdown under docs/, in the order of docs/SUMMARY.md, as a static site in web/dist-book.
// It has no script or style inside a page and asks no other server for anything.
//   node book/build.mjs          builds it
// Broken links, pages that SUMMARY.md lacks and unknown anchors are errors.

import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import MiniSearch from "minisearch";
import { makeHighlighter } from "./code.mjs";
import { wrapPage } from "./layout.mjs";
import { readSummary, readTerms, renderPage } from "./pages.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const web = path.dirname(here);
const docs = path.join(path.dirname(web), "docs");
const out = path.join(web, "dist-book");

const parts = readSummary(docs);
const pages = parts.flatMap((part) => part.pages.map((page) => Object.assign(page, { part: part.title })));
const book = {
  docs,
  sources: new Set(pages.map((page) => page.source)),
  terms: readTerms(docs),
  links: [],
  files: new Map(),
  highlighter: await makeHighlighter(),
};
for (const page of pages) renderPage(page, book);

const faults = [...findMissingPages(), ...findBrokenLinks()];
if (faults.length > 0) {
  for (const fault of faults) console.error(fault);
  process.exit(1);
}
write();

function findMissingPages() {
  const found = readdirSync(docs, { recursive: true }).filter((file) => file.endsWith(".md"));
  const missing = found.filter((file) => file !== "SUMMARY.md" && !book.sources.has(file));
  return missing.map((file) => `docs/${file} is not in docs/SUMMARY.md`);
}

function findBrokenLinks() {
  const anchors = new Map(
    pages.map((page) => [page.source, new Set(page.headings.map((heading) => heading.anchor))]),
  );
  const copied = new Set(book.files.values());
  return book.links.flatMap(({ from, link, source, anchor }) => {
    const place = `docs/${from}: \`${link}\``;
    if (!anchors.has(source))
      return copied.has(path.join(docs, source))
        ? []
        : [`${place} leads to no page of the book and to no file`];
    return anchor && !anchors.get(source).has(anchor)
      ? [`${place}: the page has no heading with this anchor`]
      : [];
  });
}

function write() {
  rmSync(out, { recursive: true, force: true });
  for (const [index, page] of pages.entries())
    save(page.target, wrapPage(page, { parts, before: pages[index - 1], after: pages[index + 1] }));
  for (const [target, file] of book.files) {
    // Pictures of pixels are packed already.
    if (/\.(svg|txt)$/.test(target)) save(target, readFileSync(file));
    else {
      mkdirSync(path.dirname(path.join(out, target)), { recursive: true });
      copyFileSync(file, path.join(out, target));
    }
  }
  save("assets/search.json", JSON.stringify(makeIndex()));
  save("assets/book.css", readStyles());
  save("assets/book.js", readFileSync(path.join(here, "client.js"), "utf8"));
  const library = readFileSync(path.join(web, "node_modules/minisearch/dist/es/index.js"), "utf8");
  save("assets/minisearch.js", library.replace(/^\/\/# sourceMappingURL.*$/m, ""));
  for (const name of ["theme.js", "mark.svg"])
    save(`assets/${name}`, readFileSync(path.join(web, "public", name)));
  const words = pages
    .flatMap((page) => page.sections)
    .reduce((sum, section) => sum + section.text.split(" ").length, 0);
  console.log(`${pages.length} pages, ${book.links.length} links checked, ${words} words, in web/dist-book`);
}

function save(target, text) {
  const file = path.join(out, target);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
}

function makeIndex() {
  const search = new MiniSearch({
    fields: ["heading", "page", "text"],
    storeFields: ["heading", "page", "url", "excerpt"],
  });
  const entries = pages.flatMap((page) =>
    page.sections.map((section) => ({
      heading: section.heading,
      page: page.title,
      text: section.text,
      url: page.target + (section.anchor ? `#${section.anchor}` : ""),
      excerpt: section.text.slice(0, 160),
    })),
  );
  search.addAll(entries.map((entry, id) => ({ id, ...entry })));
  return search;
}

/** The tokens and fonts of the pages, and the book's own rules; fonts are copied beside them. */
function readStyles() {
  const style = (name) => readFileSync(path.join(web, "src/style", name), "utf8");
  const fonts = style("fonts.css").replace(/url\("(@fontsource[^"]+)"\)/g, (_, file) => {
    const name = path.basename(file);
    cpSync(path.join(web, "node_modules", file), path.join(out, "assets", name));
    return `url("${name}")`;
  });
  return [
    fonts,
    style("tokens.css"),
    style("base.css"),
    readFileSync(path.join(here, "book.css"), "utf8"),
  ].join("\n");
}
