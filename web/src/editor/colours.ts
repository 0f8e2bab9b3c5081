// Syntax colours of a file while it is written.
import { useEffect, useMemo, useState } from "react";
import type { Token } from "../traces/view/highlight";
import { useDebounced } from "../ui/useDebounced";

/** Longer files have no colours. */
export const MOST_COLOURED = 200_000;

/** Longer files get colours when typing pauses: 10 KB take 10 to 50 ms, so each key would be felt. */
const MOST_AT_ONCE = 10_000;

type Colour = (text: string) => Token[][];

/** The tokens of each line of a YAML file; undefined without colours. */
export function useColouredLines(written: string): Token[][] | undefined {
  // A textarea shows all ends of lines alike.
  const text = written.replace(/\r\n?/g, "\n");
  const isColoured = text.length <= MOST_COLOURED;
  const colour = useYamlColour(isColoured);
  const paused = useDebounced(text);
  const source = text.length <= MOST_AT_ONCE ? text : paused;
  const coloured = useMemo(
    () => (isColoured && source.length <= MOST_COLOURED ? colour?.(source) : undefined),
    [colour, source, isColoured],
  );
  return useMemo(() => coloured && fitTokens(text, coloured), [text, coloured]);
}

function useYamlColour(isWanted: boolean): Colour | undefined {
  const [colour, setColour] = useState<Colour>();
  useEffect(() => {
    if (!isWanted) return;
    let isMounted = true;
    import("../traces/view/highlight")
      .then((it) => it.loadColours("yaml"))
      .then(
        (loaded) => isMounted && setColour(() => loaded),
        () => {
          // Without colours the file can be edited as before.
        },
      );
    return () => {
      isMounted = false;
    };
  }, [isWanted]);
  return colour;
}

/**
 * Tokens for each line of a text, from the tokens of an earlier text.
 * Lines that changed since then have no colours yet, so that the layer never shows an old text.
 */
export function fitTokens(text: string, coloured: Token[][]): Token[][] {
  const lines = text.split("\n");
  const shift = coloured.length - lines.length;
  const fits = (at: number, tokens: Token[] | undefined): tokens is Token[] =>
    tokens !== undefined && tokens.map((token) => token.text).join("") === lines[at];
  let head = 0;
  while (head < lines.length && fits(head, coloured[head])) head += 1;
  let tail = lines.length;
  while (tail > head && fits(tail - 1, coloured[tail - 1 + shift])) tail -= 1;
  return lines.map((line, at) => {
    const tokens = at < head ? coloured[at] : at >= tail ? coloured[at + shift] : undefined;
    return tokens ?? [{ text: line }];
  });
}
