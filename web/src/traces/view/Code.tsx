import { memo, useEffect, useState } from "react";
import styles from "./Code.module.css";
import type { Language, Token } from "./highlight";

/** Longer texts are not coloured, because that would block the page. */
const MOST = 60_000;

/** Code with syntax colours when its language is loaded; plain until then. */
export function Code({ text, language, part }: { text: string; language?: Language; part?: string }) {
  const lines = useTokens(text, language);
  return (
    <pre className={styles.code} data-text data-part={part}>
      {lines ? <CodeLines lines={lines} /> : text}
    </pre>
  );
}

export function CodeLines({ lines }: { lines: Token[][] }) {
  return lines.map((line, at) => <CodeLine key={at} line={line} isLast={at + 1 === lines.length} />);
}

/** Drawn again only with other tokens, because files that are edited have many lines. */
const CodeLine = memo(({ line, isLast }: { line: Token[]; isLast: boolean }) => (
  <span>
    <CodeTokens line={line} />
    {!isLast && "\n"}
  </span>
));

export function CodeTokens({ line }: { line: Token[] }) {
  return line.map((it, at) =>
    it.kind ? (
      <span key={at} data-kind={it.kind} className={styles.token}>
        {it.text}
      </span>
    ) : (
      it.text
    ),
  );
}

/** Lines of tokens, or undefined while they load. */
export function useTokens(text: string, language: Language | undefined): Token[][] | undefined {
  const [found, setFound] = useState<{ text: string; lines: Token[][] }>();
  useEffect(() => {
    if (!language || text.length > MOST) return;
    let isWanted = true;
    import("./highlight")
      .then((it) => it.highlighted(text, language))
      .then((lines) => {
        // Used only if the text is unchanged, because quotes refer to positions in it.
        const same = lines.map((line) => line.map((it) => it.text).join("")).join("\n") === text;
        if (isWanted && same) setFound({ text, lines });
      });
    return () => {
      isWanted = false;
    };
  }, [text, language]);
  return found?.text === text ? found.lines : undefined;
}

const BY_ENDING: Record<string, Language> = {
  sh: "bash",
  bash: "bash",
  c: "c",
  h: "c",
  css: "css",
  go: "go",
  java: "java",
  json: "json",
  jsonl: "json",
  py: "python",
  pyi: "python",
  rs: "rust",
  sql: "sql",
  toml: "toml",
  ts: "tsx",
  tsx: "tsx",
  js: "tsx",
  jsx: "tsx",
  mjs: "tsx",
  yaml: "yaml",
  yml: "yaml",
};

export const languageOf = (path: string): Language | undefined =>
  BY_ENDING[path.split(".").pop()?.toLowerCase() ?? ""];

/** Only JSON is detected by its content. */
export const isJson = (text: string): boolean => {
  if (!/^\s*[[{]/.test(text) || text.length > MOST) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
