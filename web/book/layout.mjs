// What stands around the text of a page.

import MarkdownIt from "markdown-it";
import { targetOf } from "./pages.mjs";

const escapeHtml = MarkdownIt().utils.escapeHtml;

export function wrapPage(page, { parts, before, after }) {
  const up = "../".repeat(page.target.split("/").length - 1);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.heading === "Jurist" ? "Jurist" : `${escapeHtml(page.heading)} · Jurist`}</title>
<link rel="icon" href="${up}assets/mark.svg">
<link rel="stylesheet" href="${up}assets/book.css">
<script src="${up}assets/theme.js"></script>
<script type="module" src="${up}assets/book.js"></script>
</head>
<body data-root="${up}">
<a class="skip" href="#content">Skip to the text</a>
<header class="top">
<button type="button" class="menu-button" aria-controls="contents" aria-expanded="false" hidden>Contents</button>
<a class="home" href="${up}index.html"><img src="${up}assets/mark.svg" alt="" width="22" height="22"> Jurist <span>Documentation</span></a>
<div class="search" role="search" hidden>
<input type="search" id="search" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" autocomplete="off" spellcheck="false" aria-label="Search the documentation" placeholder="Search">
<kbd aria-hidden="true">/</kbd>
<ul id="results" role="listbox" aria-label="Results" hidden></ul>
<p class="visually-hidden" role="status" id="search-status"></p>
</div>
<button type="button" class="theme-button" hidden>Dark</button>
</header>
<div class="frame">
<nav id="contents" aria-label="Contents">
${parts.map((part) => renderPart(part, page, up)).join("\n")}
</nav>
<main id="content" tabindex="-1">
<article>
${page.html}</article>
<nav class="turn" aria-label="Previous and next page">
${before ? `<a rel="prev" href="${up}${before.target}"><span>Previous</span>${escapeHtml(before.title)}</a>` : "<span></span>"}
${after ? `<a rel="next" href="${up}${after.target}"><span>Next</span>${escapeHtml(after.title)}</a>` : "<span></span>"}
</nav>
</main>
${renderOutline(page)}
</div>
</body>
</html>
`;
}

function renderPart(part, current, up) {
  const items = part.pages.map((page) => {
    const here = page === current ? ' aria-current="page"' : "";
    return `<li${page.isNested ? ' class="nested"' : ""}><a href="${up}${targetOf(page.source)}"${here}>${escapeHtml(page.title)}</a></li>`;
  });
  const title = part.title ? `<h2>${escapeHtml(part.title)}</h2>\n` : "";
  return `<section>${title}<ul>\n${items.join("\n")}\n</ul></section>`;
}

function renderOutline(page) {
  const headings = page.headings.filter(({ level }) => level === 2 || level === 3);
  const shown = headings.length > 40 ? headings.filter(({ level }) => level === 2) : headings;
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ level, text, anchor }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items.join("\n")}</ul></nav>`;
}
