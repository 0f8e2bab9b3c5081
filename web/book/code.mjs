// Colours of code, as classes: the policy of the server allows no styles in the page.

import { createCssVariablesTheme, createHighlighter } from "shiki";

const LANGUAGES = {
  yaml: "yaml",
  yml: "yaml",
  console: "console",
  sh: "bash",
  bash: "bash",
  json: "json",
  jsonl: "json",
  python: "python",
  javascript: "javascript",
  js: "javascript",
  toml: "toml",
  ini: "ini",
  nginx: "nginx",
};

const CLASSES = {
  "--code-token-keyword": "k",
  "--code-token-string": "s",
  "--code-token-string-expression": "s",
  "--code-token-constant": "n",
  "--code-token-comment": "c",
  "--code-token-function": "f",
  "--code-token-parameter": "p",
  "--code-token-link": "f",
};

export function languageOf(word) {
  return LANGUAGES[word] ?? "text";
}

export function makeHighlighter() {
  const theme = createCssVariablesTheme({ name: "book", variablePrefix: "--code-", fontStyle: false });
  const langs = ["yaml", "bash", "json", "python", "javascript", "toml", "ini", "nginx"];
  return createHighlighter({ themes: [theme], langs });
}

const escapeHtml = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

export function colourCode(code, language, highlighter) {
  if (language === "console") return colourConsole(code, highlighter);
  if (language === "text") return escapeHtml(code);
  return colourTokens(code, language, highlighter);
}

function colourTokens(code, language, highlighter) {
  const { tokens } = highlighter.codeToTokens(code, { lang: language, theme: "book" });
  const colourToken = ({ content, color }) => {
    const name = CLASSES[/var\((--[\w-]+)\)/.exec(color ?? "")?.[1]];
    return name ? `<span class="${name}">${escapeHtml(content)}</span>` : escapeHtml(content);
  };
  return tokens.map((line) => line.map(colourToken).join("")).join("\n");
}

/** Commands in colour, and what they print in grey; the prompt is no part of what is copied. */
function colourConsole(code, highlighter) {
  let isCommand = false;
  const lines = code.split("\n").map((line) => {
    const prompt = /^(\$ |> )(.*)$/.exec(line);
    isCommand = prompt !== null && (prompt[1] === "$ " || isCommand);
    if (!isCommand) return `<span class="o">${escapeHtml(line)}</span>`;
    return `<span class="prompt">${escapeHtml(prompt[1])}</span><span class="command">${colourTokens(prompt[2], "bash", highlighter)}</span>`;
  });
  return lines.join("\n");
}
