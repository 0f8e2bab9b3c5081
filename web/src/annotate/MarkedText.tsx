import { type CSSProperties, useMemo } from "react";
import { type KeywordMark, keywordLabels, markOf, splitByKeywords } from "./keywords";
import styles from "./MarkedText.module.css";
import type { Keyword } from "./types";

const NO_KEYWORDS: Keyword[] = [];

/** A text in which the keywords of the task are marked. */
export function MarkedText({ text, keywords = NO_KEYWORDS }: { text: string; keywords?: Keyword[] }) {
  const pieces = useMemo(() => splitByKeywords(text, keywords), [text, keywords]);
  return pieces.map((piece, at) =>
    piece.mark ? (
      // The label is no text of its own: positions of quotes count the texts.
      <mark
        key={at}
        className={styles.mark}
        style={toneStyle(piece.mark)}
        title={piece.mark.label}
        data-label={piece.mark.label}
      >
        {piece.text}
      </mark>
    ) : (
      piece.text
    ),
  );
}

/** Which colour stands for which label. */
export function KeywordLegend({ keywords = NO_KEYWORDS }: { keywords?: Keyword[] }) {
  const labels = keywordLabels(keywords);
  if (labels.length === 0) return null;
  return (
    <p className={styles.legend}>
      Marked words:{" "}
      {labels.map((label) => (
        <span key={label} className={styles.mark} style={toneStyle(markOf(label, labels))}>
          {label}
        </span>
      ))}
    </p>
  );
}

const toneStyle = ({ tone }: KeywordMark) => ({ "--tone": `var(--series-${tone})` }) as CSSProperties;
