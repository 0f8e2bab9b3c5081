// @vitest-environment node
// Refuses words in texts of the pages that newcomers had to read twice.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const home = dirname(fileURLToPath(import.meta.url));

type WordRule = [word: RegExp, better: string];

/** The rules of all texts that users read, and phrases that stay although a rule matches them. */
function readProseRules(text: string): { rules: WordRule[]; allowed: string[] } {
  const lines = text.split("\n").map((line) => line.trim());
  const written = lines.filter((line) => line !== "" && !line.startsWith("#"));
  return {
    rules: written.flatMap((line): WordRule[] => {
      const [, pattern, advice] = /^(.+?) => (.*)$/.exec(line) ?? [];
      return pattern && advice ? [[new RegExp(`\\b(?:${pattern})\\b`, "i"), advice]] : [];
    }),
    allowed: written.flatMap((line) => /^allow (.+)$/.exec(line)?.[1] ?? []),
  };
}

const PROSE = readProseRules(readFileSync(join(home, "../../scripts/prose.txt"), "utf8"));

/** What the pages refuse besides, and what to say instead. */
const REFUSED: WordRule[] = [
  [/\bwhole rubric\b/i, "overall"],
  [/\bstands? (there|here|below|beneath|among)\b/i, "is"],
  [/\b(judged?|judging) again\b/i, "re-score"],
  [/\bmake it\b/i, "create"],
  [/\btake (it|them|out|away|back)\b/i, "remove, archive, discard"],
  [/\bnobody is\b/i, "there is no"],
  [/\bgoes on\b/i, "continues, is in progress"],
  [/\bfour times in five\b/i, "80 % interval"],
];

/** Phrases in which a refused word is right. */
const ALLOWED = ["it is judged again", ...PROSE.allowed];

/** Strings and texts of elements, without comments, imports and class names. */
function textsOf(source: string): string[] {
  const code = source
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/^import[\s\S]*?;$/gm, "");
  const strings = [...code.matchAll(/"([^"\n]* [^"\n]*)"|`([^`]* [^`]*)`/g)].map((it) => it[1] ?? it[2]);
  const elements = [...code.matchAll(/>([^<>{}]+)</g)].map((it) => it[1]);
  return [...strings, ...elements].map((text) => (text ?? "").replace(/\s+/g, " ").trim());
}

/** A text without allowed phrases, commands and values, which scripts/check_prose.py leaves out as well. */
const checkedPart = (text: string): string =>
  ALLOWED.reduce((left, phrase) => left.replaceAll(phrase, ""), text).replace(
    /`[^`]*`|\$\{[^{}]*\}/g,
    "CODE",
  );

test("texts of the pages use the words of the field", () => {
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).filter(
    (path) => /\.tsx?$/.test(path) && !/\.(d|test)\.tsx?$/.test(path),
  );
  const found = files.flatMap((path) =>
    textsOf(readFileSync(join(home, path), "utf8")).flatMap((text) => {
      const checked = checkedPart(text);
      return [...REFUSED, ...PROSE.rules]
        .filter(([word]) => word.test(checked))
        .map(([, better]) => `${path}: "${text}"; say: ${better}`);
    }),
  );
  expect(found).toEqual([]);
  expect(textsOf('<p>Whoever\n asks</p>; const a = "told by chance";')).toEqual([
    "told by chance",
    "Whoever asks",
  ]);
});

test("the word list of the docs is read as scripts/check_prose.py reads it", () => {
  expect(PROSE.rules.length).toBeGreaterThan(80);
  expect(PROSE.allowed).toContain("agreement by chance");
  const { rules, allowed } = readProseRules(
    "# words\n\nfiles docs/**/*.md\nallow a dial tone\ndial => sample rate\nin order to => to\n",
  );
  expect(allowed).toEqual(["a dial tone"]);
  expect(rules.map(([, better]) => better)).toEqual(["sample rate", "to"]);
  expect(["Turn the Dial", "a dialect"].map((text) => rules.some(([word]) => word.test(text)))).toEqual([
    true,
    false,
  ]);
});
