// Words that the page marks in the texts of an item. Pure functions.
import type { Keyword } from "./types";

/** A part of a text; one with a mark is a keyword. */
export type TextPiece = { text: string; mark?: KeywordMark };

/** A mark with its label and the number of its colour, from 1. */
export type KeywordMark = { label?: string; tone: number };

/** Most marks in one text, and most characters that are searched: more of them make the page slow. */
const MOST_MARKS = 1000;
const MOST_CHARACTERS = 50_000;

/** Number of colours for labels; further labels share them. */
const TONES = 6;

const LETTER = "[\\p{L}\\p{M}\\p{N}_]";
/** A letter of a `*`. Hundreds of classes by property take seconds to compile, so this one lists what ends a word. */
const STAR_LETTER = "[^\\s!-/:-@\\[-^`{-~\\u2000-\\u206f\\u3000-\\u303f]";
/** Longer runs of letters are not searched: the time for a `*` in them grows with the square of their length. */
const SHORT_WORD = `(?!${STAR_LETTER}{80})`;

const escapeSyntax = (text: string): string => text.replace(/[\\^$.+?()[\]{}|/]/g, "\\$&");

function wordPattern(word: string): string {
  const parts = word.trim().split(/\s+/);
  const patterns = parts.map((part) => part.split(/\*+/).map(escapeSyntax).join(`${STAR_LETTER}*`));
  return patterns.join(`\\s{1,20}${SHORT_WORD}`);
}

/** Phrases come before the words in them. */
const byLength = (keywords: Keyword[]): Keyword[] =>
  [...keywords].sort((a, b) => b.word.length - a.word.length);

/** Finds whole words in any case, with one group for each keyword from the longest to the shortest. */
export function keywordPattern(keywords: Keyword[]): RegExp | undefined {
  if (keywords.length === 0) return undefined;
  const groups = byLength(keywords).map((it) => `(${wordPattern(it.word)})`);
  return new RegExp(`(?<!${LETTER})${SHORT_WORD}(?:${groups.join("|")})(?!${LETTER})`, "giu");
}

/** The labels of keywords, in the order of the task. */
export function keywordLabels(keywords: Keyword[]): string[] {
  return [...new Set(keywords.flatMap((it) => it.label ?? []))];
}

/** The mark of a label; keywords without a label have the last colour. */
export function markOf(label: string | undefined, labels: string[]): KeywordMark {
  const at = label === undefined ? TONES - 1 : labels.indexOf(label);
  return { label, tone: (at % TONES) + 1 };
}

/** A text in pieces, of which the keywords are marked. */
export function splitByKeywords(text: string, keywords: Keyword[]): TextPiece[] {
  const pattern = keywordPattern(keywords);
  if (!pattern) return [{ text }];
  const [sorted, labels] = [byLength(keywords), keywordLabels(keywords)];
  const pieces: TextPiece[] = [];
  let [end, nMarks] = [0, 0];
  for (const match of text.slice(0, MOST_CHARACTERS).matchAll(pattern)) {
    if (nMarks === MOST_MARKS) break;
    nMarks += 1;
    const keyword = sorted[match.findIndex((group, at) => at > 0 && group !== undefined) - 1];
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) });
    pieces.push({ text: match[0], mark: markOf(keyword?.label, labels) });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}
