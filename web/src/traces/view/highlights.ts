// Marks in rendered texts (CSS Custom Highlight API).

/** A text node and its offset in the text of its region. */
type Placed = { node: Text; start: number };

/** Elements that form one text; `data-part` names it. */
const REGION = "[data-text]";

export type Quote = { part?: string; quote: string; start?: number; end?: number };

/** Marks every occurrence of a text; those in the current step differently. */
export function markFound(root: HTMLElement, wanted: string, step: number | undefined) {
  const needle = wanted.trim().toLowerCase();
  const [all, now]: Range[][] = [[], []];
  if (needle !== "") {
    for (const region of root.querySelectorAll<HTMLElement>(REGION)) {
      const isNow = region.closest("[data-step]")?.getAttribute("data-step") === String(step);
      const { text, nodes } = textOf(region);
      const low = text.toLowerCase();
      for (let at = low.indexOf(needle); at >= 0; at = low.indexOf(needle, at + needle.length)) {
        const range = rangeOf(nodes, at, at + needle.length);
        if (range) (isNow ? now : all)?.push(range);
      }
    }
  }
  set("jurist-find", all ?? []);
  set("jurist-find-now", now ?? []);
}

/** Most characters of a text that are searched for a pattern. */
const MOST_SEARCHED = 50_000;

/** Marks every match of a pattern, such as the keywords of an annotation task. */
export function markPattern(root: HTMLElement, pattern: RegExp | undefined) {
  const ranges: Range[] = [];
  const regions = pattern ? root.querySelectorAll<HTMLElement>(REGION) : [];
  for (const region of regions) {
    const { text, nodes } = textOf(region);
    for (const match of pattern ? text.slice(0, MOST_SEARCHED).matchAll(pattern) : []) {
      const range = rangeOf(nodes, match.index, match.index + match[0].length);
      if (range) ranges.push(range);
    }
  }
  set("jurist-keyword", ranges);
}

/** Marks quotes in the texts. */
export function markQuotes(root: HTMLElement, quotes: Quote[]) {
  set(
    "jurist-quote",
    quotes.flatMap((it) => rangesOf(root, it)),
  );
}

/** The ranges of a quote; none while its step is not drawn. */
export function rangesOf(root: HTMLElement, quote: Quote): Range[] {
  return [...regionsOf(root, quote.part)].flatMap((region) => {
    const { text, nodes } = textOf(region);
    const [from, to] =
      quote.start !== undefined && quote.end !== undefined
        ? [charOf(text, quote.start), charOf(text, quote.end)]
        : [text.indexOf(quote.quote), text.indexOf(quote.quote) + quote.quote.length];
    // A folded text may end before the quote.
    if (from < 0 || from >= text.length) return [];
    return rangeOf(nodes, from, to) ?? [];
  });
}

/** The elements of a part: the part itself, or else every text of its step. */
function regionsOf(root: HTMLElement, part: string | undefined): NodeListOf<HTMLElement> {
  if (!part) return root.querySelectorAll(REGION);
  const own = root.querySelectorAll<HTMLElement>(`[data-part="${CSS.escape(part)}"]`);
  const step = /^trace\.(\d+)\./.exec(part)?.[1];
  return own.length > 0 || !step ? own : root.querySelectorAll(`[data-step="${step}"] ${REGION}`);
}

/** The selected text with its position; evidence counts bytes, as the server does. */
export function selectedQuote(root: HTMLElement): Quote | undefined {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  if (!root.contains(range.commonAncestorContainer)) return undefined;
  const quote = selection.toString().trim();
  if (quote === "") return undefined;
  const region = elementOf(range.startContainer)?.closest<HTMLElement>("[data-part]");
  const part = region?.dataset.part;
  if (!region || !part || !region.contains(range.endContainer)) return { quote };
  const { text, nodes } = textOf(region);
  const from = offsetOf(nodes, range.startContainer, range.startOffset);
  const at = from === undefined ? -1 : text.indexOf(quote, from);
  if (at < 0) return { part, quote };
  return { part, quote, start: bytes(text.slice(0, at)), end: bytes(text.slice(0, at + quote.length)) };
}

const bytes = (text: string): number => new TextEncoder().encode(text).length;

/** The character at which so many bytes have passed. */
function charOf(text: string, n: number): number {
  const head = new TextEncoder().encode(text).slice(0, n);
  return new TextDecoder().decode(head).length;
}

const elementOf = (node: Node): Element | null => (node instanceof Element ? node : node.parentElement);

function textOf(region: HTMLElement): { text: string; nodes: Placed[] } {
  const walker = document.createTreeWalker(region, NodeFilter.SHOW_TEXT);
  const nodes: Placed[] = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node: node as Text, start: text.length });
    text += (node as Text).data;
  }
  return { text, nodes };
}

function offsetOf(nodes: Placed[], container: Node, offset: number): number | undefined {
  const exact = nodes.find((it) => it.node === container);
  if (exact) return exact.start + offset;
  return nodes.find((it) => container.contains(it.node))?.start;
}

function rangeOf(nodes: Placed[], start: number, end: number): Range | undefined {
  const at = (offset: number, isEnd: boolean) =>
    nodes.findLast((it) => (isEnd ? it.start < offset : it.start <= offset));
  const [from, to] = [at(start, false), at(end, true)];
  if (!from || !to) return undefined;
  const range = document.createRange();
  range.setStart(from.node, Math.min(start - from.start, from.node.length));
  range.setEnd(to.node, Math.min(end - to.start, to.node.length));
  return range;
}

function set(name: string, ranges: Range[]) {
  // Older browsers draw no marks; everything else works.
  if (typeof Highlight === "undefined" || !CSS.highlights) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}
