// Suggestions at the cursor, by the JSON Schema of files (`words.json` is generated from it).

/** A part of a file: keys of a mapping, entries of a list, values; `of` refers to definitions. */
export type Words = {
  about?: string;
  keys?: Record<string, Words>;
  each?: Words;
  items?: Words;
  values?: Record<string, string>;
  of?: string[];
};
export type Defs = Record<string, Words>;

export type Suggestion = { word: string; insert: string; about?: string };
export type Suggested = {
  /** Where the word at the cursor starts. */
  from: number;
  all: Suggestion[];
};

export function suggestionsAt(text: string, at: number, root: string, defs: Defs): Suggested | undefined {
  const place = placeAt(text, at);
  if (!place) return undefined;
  let here = expand([{ of: [root] }], defs);
  for (const part of place.path) here = step(here, part, defs);
  const [keys, values] = [new Map<string, Suggestion>(), new Map<string, Suggestion>()];
  if (place.key === undefined) {
    for (const it of here) {
      for (const [word, one] of Object.entries(it.keys ?? {})) {
        if (!place.taken.includes(word)) keys.set(word, { word, insert: `${word}: `, about: one.about });
      }
    }
  }
  if (place.key !== undefined || place.isItem) {
    const told = place.key === undefined ? here : step(here, place.key, defs);
    for (const it of told) {
      for (const [word, about] of Object.entries(it.values ?? {})) {
        values.set(word, { word, insert: word, about: about || undefined });
      }
    }
  }
  const begun = text.slice(place.from, at).toLowerCase();
  const all = [...keys.values(), ...values.values()].filter(
    (it) => it.word.toLowerCase().startsWith(begun) && it.word.toLowerCase() !== begun,
  );
  return all.length === 0 ? undefined : { from: place.from, all };
}

/** Words with the definitions they refer to. */
function expand(all: Words[], defs: Defs, seen = new Set<string>()): Words[] {
  return all.flatMap((it) => [
    it,
    ...(it.of ?? []).flatMap((name) => {
      const found = defs[name];
      if (!found || seen.has(name)) return [];
      return expand([found], defs, new Set(seen).add(name));
    }),
  ]);
}

function step(here: Words[], part: string | null, defs: Defs): Words[] {
  const next = here.flatMap((it) => {
    const found = part === null ? it.items : (it.keys?.[part] ?? it.each);
    return found ? [found] : [];
  });
  return expand(next, defs);
}

type Place = {
  /** Keys from the root; `null` is an entry of a list. */
  path: (string | null)[];
  /** Whose value is written; none where a key is. */
  key?: string;
  isItem: boolean;
  from: number;
  /** Keys that the mapping already has. */
  taken: string[];
};

type Entry = { column: number; key: string | null; isOpen: boolean };

/** Dashes and key at the start of a line; `isOpen` where the value is on the next lines. */
function entriesOf(line: string): Entry[] {
  const found: Entry[] = [];
  let at = line.search(/\S|$/);
  while (/^- /.test(line.slice(at)) || line.slice(at) === "-") {
    found.push({ column: at, key: null, isOpen: true });
    const after = line.slice(at + 1).search(/\S|$/);
    at += 1 + after;
  }
  const key = /^(?:"([^"]*)"|'([^']*)'|([^\s#:{}[\],&*"'][^:#]*?))\s*:(?:\s+(.*))?$/.exec(line.slice(at));
  if (key) {
    const value = (key[4] ?? "").replace(/^#.*/, "").trim();
    found.push({ column: at, key: key[1] ?? key[2] ?? key[3] ?? "", isOpen: value === "" });
  }
  return found;
}

const isNothing = (line: string): boolean => /^\s*(#.*)?$/.test(line);
const isBlock = (line: string): boolean => /:\s+[|>][+-]?\d?\s*(#.*)?$|^\s*- [|>][+-]?\s*$/.test(line);

/** The position of the cursor; undefined inside a text or a comment. */
function placeAt(text: string, at: number): Place | undefined {
  const begin = text.lastIndexOf("\n", at - 1) + 1;
  const before = text.slice(begin, at);
  const above = text.slice(0, begin).split("\n").slice(0, -1);
  const below = text.slice(at).split("\n").slice(1);
  const dashes = entriesOf(`${before}x`).filter((it) => it.key === null);
  const last = dashes.at(-1);
  const gap = last ? before.slice(last.column + 1).search(/\S|$/) : before.search(/\S|$/);
  const column = last ? last.column + 1 + gap : gap;
  const flow = flowOf(before.slice(column));
  if (!flow) return undefined;
  const path: Place["path"] = dashes.map(() => null);
  let limit: { column: number; isItem: boolean } = dashes[0]
    ? { column: dashes[0].column, isItem: true }
    : { column, isItem: false };
  for (const line of above.toReversed()) {
    if (isNothing(line)) continue;
    const entries = entriesOf(line);
    // Inside a block scalar.
    if (isBlock(line) && line.search(/\S/) < limit.column) return undefined;
    for (const it of entries.toReversed()) {
      const isParent =
        it.column < limit.column ||
        (limit.isItem && it.key !== null && it.isOpen && it.column === limit.column);
      if (!isParent) continue;
      path.unshift(it.key);
      limit = { column: it.column, isItem: it.key === null };
    }
  }
  const taken = flow.isInside ? flow.taken : siblings(above, below, column, last);
  return {
    path: [...path, ...flow.path],
    key: flow.key,
    isItem: flow.isList || (last !== undefined && !flow.isInside),
    from: begin + column + flow.from,
    taken,
  };
}

/** Keys of the mapping at this column. */
function siblings(above: string[], below: string[], column: number, dash: Entry | undefined): string[] {
  const found: string[] = [];
  const collect = (lines: string[]) => {
    for (const line of lines) {
      if (isNothing(line)) continue;
      const entries = entriesOf(line);
      const own = entries.find((it) => it.column === column && it.key !== null);
      if (own?.key) found.push(own.key);
      // A dash starts another entry, less indentation another mapping.
      if (line.search(/\S/) < column) return;
    }
  };
  if (!dash) collect(above.toReversed());
  collect(below.map((it) => it.replace(/^(\s*)- /, (_, indent) => `${indent}\u0000 `)));
  return found;
}

type Flow = {
  path: (string | null)[];
  key?: string;
  isList: boolean;
  /** Whether a brace or bracket is open. */
  isInside: boolean;
  from: number;
  taken: string[];
};

/** The position inside flow style such as `key: {a: 1, b: [`. */
function flowOf(content: string): Flow | undefined {
  type Open = { path: (string | null)[]; key?: string; isList: boolean; taken: string[] };
  const stack: Open[] = [{ path: [], isList: false, taken: [] }];
  let from = 0;
  for (let at = 0; at < content.length; at += 1) {
    const letter = content[at];
    const top = stack.at(-1);
    if (!top) return undefined;
    if (letter === "#" && (at === 0 || content[at - 1] === " ")) return undefined;
    if ((letter === '"' || letter === "'") && content.slice(from, at).trim() === "") {
      const end = content.indexOf(letter, at + 1);
      if (end < 0) return undefined;
      at = end;
    } else if (letter === ":" && /^(\s|$)/.test(content.slice(at + 1)) && top.key === undefined) {
      top.key = content
        .slice(from, at)
        .trim()
        .replace(/^["']|["']$/g, "");
      top.taken.push(top.key);
      from = at + 1;
    } else if ((letter === "{" || letter === "[") && content.slice(from, at).trim() === "") {
      const own = top.key !== undefined ? [top.key] : top.isList ? [null] : [];
      stack.push({ path: [...top.path, ...own], isList: letter === "[", taken: [] });
      from = at + 1;
    } else if (letter === "}" || letter === "]") {
      stack.pop();
      from = at + 1;
    } else if (letter === "," && stack.length > 1) {
      top.key = undefined;
      from = at + 1;
    }
  }
  const top = stack.at(-1);
  if (!top) return undefined;
  while (content[from] === " ") from += 1;
  const path = top.isList ? [...top.path, null] : top.path;
  const { key, isList, taken } = top;
  return { path, key, isList, isInside: stack.length > 1, from, taken };
}
