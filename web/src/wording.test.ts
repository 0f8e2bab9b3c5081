// @vitest-environment node
// Refuses words in texts of the pages that newcomers had to read twice.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const home = dirname(fileURLToPath(import.meta.url));

type WordRule = [word: RegExp, better: string];

/** What the pages refuse in addition to the words of scripts/prose.txt, which scripts/check-prose refuses everywhere. */
const REFUSED: WordRule[] = [
  [/\bwhole rubric\b/i, "overall"],
  [/\bstands? (there|here|below|beneath|among)\b/i, "is"],
  [/\b(judged?|judging) again\b/i, "re-score"],
  [/\bmake it\b/i, "create"],
  [/\btake (it|them|out|away|back)\b/i, "remove, archive, discard"],
  [/\bnobody is\b/i, "there is no"],
  [/\bgoes on\b/i, "continues, is in progress"],
  [/^one by one$/i, "annotators"],
  [/^that is$/i, "result"],
];

/** Phrases in which a refused word is right. */
const ALLOWED = ["it is judged again"];

/** Attributes and properties whose strings are shown: one word is a text in them, and elsewhere the name of a thing. */
const SHOWN =
  /\b(?:label|title|head|caption|button|hint|placeholder|does|doing|aria-label)(?:=|: )"([^"\n ]+)"/g;

/** Strings and texts of elements, without comments, imports and class names. */
function textsOf(source: string): string[] {
  const code = source
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/^import[\s\S]*?;$/gm, "");
  const strings = [...code.matchAll(/"([^"\n]* [^"\n]*)"|`([^`]* [^`]*)`/g)].map((it) => it[1] ?? it[2]);
  const words = [...code.matchAll(SHOWN)].map((it) => it[1]);
  const elements = [...code.matchAll(/(?:(?<!=)>|\})([^<>{}=;]+)(?=[<{])/g)].map((it) => it[1]);
  return [...strings, ...words, ...elements].map((text) => (text ?? "").replace(/\s+/g, " ").trim());
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
      return REFUSED.filter(([word]) => word.test(checked)).map(
        ([, better]) => `${path}: "${text}"; say: ${better}`,
      );
    }),
  );
  expect(found).toEqual([]);
  expect(textsOf('<p>Whoever\n asks</p>; const a = "told by chance";')).toEqual([
    "told by chance",
    "Whoever asks",
  ]);
  const words = textsOf('const tab = { name: "dial", label: "Dial" };\n<h2>Dial</h2>; <p>{n} broke</p>;');
  expect(words.filter((text) => /dial/i.test(text))).toEqual(["Dial", "Dial"]);
  expect(words).toContain("broke");
});
