// Titles of traces, which are often the whole task.

/** Letters of a title that fit into one line of a heading. */
const TITLE_LENGTH = 72;

/** The first sentence or line of a title, cut at a word where it is still too long. */
export function shortTitle(title: string): string {
  const line = title.trim().split(/\r?\n/, 1)[0] ?? "";
  if (line.length <= TITLE_LENGTH) return line;
  // A sentence of some length says what it is about; `E.g.` does not.
  const sentence = /^.{24,}?[.!?…](?=\s)/u.exec(line)?.[0];
  if (sentence && sentence.length <= TITLE_LENGTH) return sentence;
  const cut = line.slice(0, TITLE_LENGTH);
  const space = cut.lastIndexOf(" ");
  return `${(space > TITLE_LENGTH / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
