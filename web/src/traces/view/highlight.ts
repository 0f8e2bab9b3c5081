// Syntax colours. Loaded when there is code, each language on demand.
import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

export type Token = { text: string; kind?: string };

const LANGUAGES = {
  bash: () => import("shiki/dist/langs/bash.mjs"),
  c: () => import("shiki/dist/langs/c.mjs"),
  css: () => import("shiki/dist/langs/css.mjs"),
  go: () => import("shiki/dist/langs/go.mjs"),
  java: () => import("shiki/dist/langs/java.mjs"),
  json: () => import("shiki/dist/langs/json.mjs"),
  python: () => import("shiki/dist/langs/python.mjs"),
  rust: () => import("shiki/dist/langs/rust.mjs"),
  sql: () => import("shiki/dist/langs/sql.mjs"),
  toml: () => import("shiki/dist/langs/toml.mjs"),
  tsx: () => import("shiki/dist/langs/tsx.mjs"),
  yaml: () => import("shiki/dist/langs/yaml.mjs"),
};

export type Language = keyof typeof LANGUAGES;

let core: Promise<HighlighterCore> | undefined;

/** Lines of tokens. Kinds are names of the tokens file, without `--code-`. */
export async function highlighted(text: string, language: Language): Promise<Token[][]> {
  return (await loadColours(language))(text);
}

/** Loads a language; the function that is returned makes lines of tokens at once. */
export async function loadColours(language: Language): Promise<(text: string) => Token[][]> {
  core ??= createHighlighterCore({
    themes: [createCssVariablesTheme({ variablePrefix: "--code-" })],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const highlighter = await core;
  if (!highlighter.getLoadedLanguages().includes(language)) {
    await highlighter.loadLanguage((await LANGUAGES[language]()).default);
  }
  return (text) => {
    const lines = highlighter.codeToTokensBase(text, { lang: language, theme: "css-variables" });
    return lines.map((line) => line.map((it) => ({ text: it.content, kind: KINDS[it.color ?? ""] })));
  };
}

const KINDS: Record<string, string> = {
  "var(--code-token-keyword)": "keyword",
  "var(--code-token-string)": "string",
  "var(--code-token-string-expression)": "string",
  "var(--code-token-constant)": "number",
  "var(--code-token-comment)": "comment",
  "var(--code-token-function)": "name",
  "var(--code-token-parameter)": "type",
};
