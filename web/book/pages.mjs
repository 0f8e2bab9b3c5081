// Reads the Markdown of the book and turns it into HTML: links, headings, code with colours, terms of the glossary.

import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import MarkdownIt from "markdown-it";
import { colourCode, languageOf } from "./code.mjs";

const escapeHtml = MarkdownIt().utils.escapeHtml;

/** The order of the book: parts with pages, from `docs/SUMMARY.md`. */
export function readSummary(docs) {
  const parts = [];
  for (const line of readFileSync(path.join(docs, "SUMMARY.md"), "utf8").split("\n")) {
    const part = /^## (.+)$/.exec(line);
    const page = /^( *)- \[(.+)\]\((.+\.md)\)$/.exec(line);
    if (part) parts.push({ title: part[1], pages: [] });
    else if (page) {
      if (parts.length === 0) parts.push({ title: null, pages: [] });
      parts.at(-1).pages.push({ title: page[2], source: page[3], isNested: page[1].length > 0 });
    } else if (line.trim() && !line.startsWith("# ")) {
      throw new Error(
        `docs/SUMMARY.md: cannot read \`${line}\`; write \`## Part\` or \`- [Title](page.md)\``,
      );
    }
  }
  return parts;
}

/** Where a page goes. Pages outside `docs/` go to `project/`. */
export function targetOf(source) {
  if (source === "README.md") return "index.html";
  const target = source.replace(/\.md$/, ".html");
  return target.startsWith("../") ? `project/${target.slice(3).toLowerCase()}` : target;
}

/** The anchor that GitHub gives a heading. */
export function slugOf(text, used) {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\- _]/gu, "")
    .replace(/ /g, "-");
  const count = used.get(plain) ?? 0;
  used.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}

/** Terms of the glossary: what to look for, where it is explained, and its first sentence. */
export function readTerms(docs) {
  const file = path.join(docs, "glossary.md");
  if (!existsSync(file)) return [];
  const found = readFileSync(file, "utf8").matchAll(/^## (.+)\n\n(.+)$/gm);
  return [...found].map(([, name, meaning]) => ({
    name: name.toLowerCase(),
    anchor: slugOf(name, new Map()),
    meaning: meaning.replace(/[`*]/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"),
  }));
}

// Nouns that are verbs as well: linked only where an article or the like comes first.
const AMBIGUOUS = new Set([
  "monitor",
  "target",
  "score",
  "run",
  "case",
  "check",
  "judge",
  "grade",
  "label",
  "trace",
  "scale",
  "suite",
  "gate",
]);

function patternOf(term) {
  const word = term.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const before = AMBIGUOUS.has(term.name) ? "(?<=\\b(?:a|an|the|each|every|this|of|one|several) )" : "\\b";
  return new RegExp(`${before}${word}(?:s|es)?\\b`, "i");
}

function linkTerms(tokens, terms, glossary) {
  const open = terms.map((term) => ({ ...term, pattern: patternOf(term) }));
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "inline" || tokens[index - 1]?.type === "heading_open") continue;
    let depth = 0;
    const children = [];
    for (const child of token.children) {
      if (child.type === "link_open") depth += 1;
      if (child.type === "link_close") depth -= 1;
      if (child.type !== "text" || depth > 0) children.push(child);
      else children.push(...linkText(child, open, glossary));
    }
    token.children = children;
  }
}

function linkText(token, open, glossary) {
  let first = null;
  for (const term of open) {
    const match = term.pattern.exec(token.content);
    if (match && (first === null || match.index < first.match.index)) first = { term, match };
  }
  if (first === null) return [token];
  open.splice(open.indexOf(first.term), 1);
  const { term, match } = first;
  const make = (content) => Object.assign(Object.create(Object.getPrototypeOf(token)), token, { content });
  const link = make(
    `<a class="term" href="${glossary}#${term.anchor}" title="${escapeHtml(term.meaning)}">${escapeHtml(match[0])}</a>`,
  );
  link.type = "html_inline";
  const after = token.content.slice(match.index + match[0].length);
  return [make(token.content.slice(0, match.index)), link, ...linkText(make(after), open, glossary)];
}

/** Makes a renderer for one page; `book` collects links, files and faults of all pages. */
export function renderPage(page, book) {
  const text = withoutComments(readFileSync(path.join(book.docs, page.source), "utf8"));
  const md = new MarkdownIt({ html: false, linkify: false, typographer: false });
  md.renderer.rules.fence = (tokens, index) => renderCode(tokens[index], book);
  md.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>';
  md.renderer.rules.table_close = () => "</table></div>";
  const tokens = md.parse(text, {});
  page.headings = markHeadings(tokens);
  page.target = targetOf(page.source);
  const up = "../".repeat(page.target.split("/").length - 1);
  if (page.source !== "glossary.md" && !page.source.startsWith("../") && page.source !== "cli.md")
    linkTerms(tokens, book.terms, `${up}glossary.html`);
  mapLinks(tokens, page, book, up);
  markAlerts(tokens);
  alignByClass(tokens);
  page.html = md.renderer.render(tokens, md.options, {});
  page.sections = listSections(tokens, page);
  page.heading = page.headings.find((heading) => heading.level === 1)?.text ?? page.title;
  return page;
}

/** Comments outside of code have what `scripts/check-book` needs to run the commands of a page. */
export function withoutComments(text) {
  const codeOrComment = /^ *(```+)[\s\S]*?^ *\1 *$|<!--[\s\S]*?-->\n?/gm;
  return text.replace(codeOrComment, (found) => (found.startsWith("<!--") ? "" : found));
}

function plainText(inline) {
  return inline.children
    .map((child) => {
      if (child.type === "html_inline") return child.content.replace(/<a class="anchor.*|<[^>]*>/g, "");
      return child.type === "softbreak" ? " " : child.content;
    })
    .join("");
}

function markHeadings(tokens) {
  const [used, headings] = [new Map(), []];
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "heading_open") continue;
    const text = plainText(tokens[index + 1]);
    const anchor = slugOf(text, used);
    token.attrSet("id", anchor);
    const level = Number(token.tag.slice(1));
    headings.push({ level, text, anchor });
    if (level === 1) continue;
    const link = Object.assign(Object.create(Object.getPrototypeOf(token)), token, {
      type: "html_inline",
      tag: "",
      nesting: 0,
      attrs: null,
      children: null,
      content: `<a class="anchor" href="#${anchor}" aria-label="Link to this section: ${escapeHtml(text)}">#</a>`,
    });
    tokens[index + 1].children.push(link);
  }
  return headings;
}

function mapLinks(tokens, page, book, up) {
  for (const token of tokens) {
    for (const child of token.children ?? []) {
      const name = child.type === "link_open" ? "href" : child.type === "image" ? "src" : null;
      if (name) child.attrSet(name, mapLink(child.attrGet(name), page, book, up));
    }
  }
}

function mapLink(link, page, book, up) {
  if (/^(https?:|mailto:)/.test(link)) return link;
  const [file, anchor] = link.split("#");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  const source = file === "" ? page.source : path.posix.join(path.posix.dirname(page.source), file);
  book.links.push({ from: page.source, link, source, anchor });
  if (file === "") return hash;
  if (book.sources.has(source)) return `${up}${targetOf(source)}${hash}`;
  const onDisk = path.join(book.docs, source);
  if (!existsSync(onDisk) || statSync(onDisk).isDirectory()) return link;
  // Files of the repository come with the book; text, so that every browser shows them.
  const isPicture = /\.(png|svg)$/.test(source);
  const target = source.startsWith("../")
    ? `files/${source.slice(3)}.txt`
    : isPicture
      ? source
      : `files/${source}.txt`;
  book.files.set(target, onDisk);
  return `${up}${target}`;
}

/** The policy of the server allows no `style` attributes, which markdown-it aligns columns with. */
function alignByClass(tokens) {
  for (const token of tokens) {
    const align = /text-align:(\w+)/.exec(token.attrGet?.("style") ?? "")?.[1];
    if (align) token.attrs = [["class", `align-${align}`]];
  }
}

/** `> [!NOTE]` as GitHub has it. */
function markAlerts(tokens) {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "blockquote_open" || tokens[index + 2]?.type !== "inline") continue;
    const inline = tokens[index + 2];
    const kind = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$/.exec(inline.children[0]?.content ?? "")?.[1];
    if (!kind) continue;
    token.attrSet("class", `alert ${kind.toLowerCase()}`);
    inline.children[0].content = kind[0] + kind.slice(1).toLowerCase();
    inline.children[0].type = "html_inline";
    inline.children[0].content = `<strong class="alert-title">${inline.children[0].content}</strong>`;
  }
}

function renderCode(token, book) {
  const words = token.info.trim().split(/\s+/);
  const code = token.content.replace(/\n$/, "");
  const file = words.find((word) => word.startsWith("file="))?.slice(5);
  const language = languageOf(words[0]);
  const caption = file ? `<div class="file">${escapeHtml(file)}</div>` : "";
  const html = colourCode(code, language, book.highlighter);
  return `<div class="code" data-language="${escapeHtml(words[0] ?? "")}">${caption}<pre tabindex="0"><code>${html}</code></pre></div>\n`;
}

/** One entry for the search index per heading. */
function listSections(tokens, page) {
  const sections = [];
  let current = null;
  let headings = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const heading = page.headings[headings];
      headings += 1;
      current = { heading: heading.text, anchor: heading.level === 1 ? "" : heading.anchor, text: [] };
      sections.push(current);
    } else if (token.type === "inline" && tokens[index - 1]?.type !== "heading_open") {
      current?.text.push(plainText(token));
    } else if (token.type === "fence") current?.text.push(token.content);
  }
  return sections.map((section) => ({ ...section, text: section.text.join(" ").replace(/\s+/g, " ") }));
}
