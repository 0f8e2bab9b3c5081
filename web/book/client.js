// Search, copy buttons, the menu on small screens and the theme. Every page can be read without it.

import MiniSearch from "./minisearch.js";

const root = document.body.dataset.root;
const box = document.querySelector(".search");
const field = document.getElementById("search");
const list = document.getElementById("results");
const status = document.getElementById("search-status");
let loading = null;
let chosen = -1;

function loadIndex() {
  const options = { fields: ["heading", "page", "text"], storeFields: ["heading", "page", "url", "excerpt"] };
  loading ??= fetch(`${root}assets/search.json`)
    .then((answer) => answer.text())
    .then((text) => MiniSearch.loadJSON(text, options));
  return loading;
}

async function search() {
  const query = field.value.trim();
  const index = await loadIndex();
  if (query !== field.value.trim()) return;
  const found = query
    ? index
        .search(query, { prefix: true, fuzzy: 0.15, combineWith: "AND", boost: { heading: 4, page: 2 } })
        .slice(0, 12)
    : [];
  list.replaceChildren(...found.map(makeResult));
  list.hidden = query === "";
  field.setAttribute("aria-expanded", String(query !== ""));
  if (query && found.length === 0) {
    const item = document.createElement("li");
    item.className = "none";
    item.textContent = "Nothing found. Try another word.";
    list.append(item);
  }
  status.textContent = query ? `${found.length} results` : "";
  choose(found.length > 0 ? 0 : -1);
}

function makeResult(entry, position) {
  const item = document.createElement("li");
  item.id = `result-${position}`;
  item.setAttribute("role", "option");
  const link = document.createElement("a");
  link.href = root + entry.url;
  link.tabIndex = -1;
  for (const [name, text] of [
    ["where", entry.page === entry.heading ? "" : entry.page],
    ["heading", entry.heading],
    ["excerpt", entry.excerpt],
  ]) {
    if (!text) continue;
    const part = document.createElement("span");
    part.className = name;
    part.textContent = text;
    link.append(part);
  }
  item.append(link);
  return item;
}

function choose(position) {
  const items = [...list.querySelectorAll("[role=option]")];
  chosen = items.length === 0 ? -1 : (position + items.length) % items.length;
  for (const [index, item] of items.entries()) item.setAttribute("aria-selected", String(index === chosen));
  if (chosen >= 0) items[chosen].scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", chosen >= 0 ? `result-${chosen}` : "");
}

function close() {
  list.hidden = true;
  field.setAttribute("aria-expanded", "false");
}

function startSearch() {
  box.hidden = false;
  field.addEventListener("input", search);
  field.addEventListener("focus", () => {
    loadIndex();
    if (field.value) search();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") list.querySelectorAll("[role=option] a")[chosen]?.click();
    else if (event.key === "Escape") {
      close();
      field.blur();
    } else return;
    event.preventDefault();
  });
  list.addEventListener("click", close);
  document.addEventListener("click", (event) => box.contains(event.target) || close());
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

/** Of a terminal only the commands, without their prompt. */
function textToCopy(block) {
  const code = block.querySelector("code");
  if (block.dataset.language !== "console") return code.textContent;
  return [...code.querySelectorAll(".command")].map((command) => command.textContent).join("\n");
}

function addCopyButtons() {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(textToCopy(block));
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 1500);
    });
    block.append(button);
  }
}

function startMenu() {
  const button = document.querySelector(".menu-button");
  document.documentElement.classList.add("scripted");
  button.hidden = false;
  button.addEventListener("click", () => {
    const isOpen = document.body.classList.toggle("menu-open");
    button.setAttribute("aria-expanded", String(isOpen));
  });
  const contents = document.getElementById("contents");
  const here = contents.querySelector("[aria-current]");
  if (here && here.offsetTop > contents.clientHeight)
    contents.scrollTop = here.offsetTop - contents.clientHeight / 2;
}

function startTheme() {
  const button = document.querySelector(".theme-button");
  const current = () =>
    document.documentElement.dataset.theme ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const label = () => {
    button.textContent = current() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use ${current() === "dark" ? "light" : "dark"} colours`);
  };
  button.hidden = false;
  label();
  button.addEventListener("click", () => {
    const theme = current() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("jurist.theme", theme);
    } catch {
      // No storage: the choice holds for this page.
    }
    label();
  });
}

startSearch();
addCopyButtons();
startMenu();
startTheme();
