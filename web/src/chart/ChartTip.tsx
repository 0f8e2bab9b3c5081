import { type FocusEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import styles from "./Chart.module.css";

type Tip = { text: string; left: number; top: number; isAtEnd: boolean };

/**
 * Shows the text of the mark under the pointer or the focus beside it.
 * Marks carry their text in `data-tip`, so that charts of the server work as well.
 */
export function ChartTip({ children }: { children: ReactNode }) {
  const area = useRef<HTMLDivElement>(null);
  const [tip, setTip] = useState<Tip>();
  const show = (event: PointerEvent | FocusEvent) => {
    const mark = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    const text = mark?.getAttribute("data-tip");
    if (!mark || !text || !area.current) return setTip(undefined);
    const [own, all] = [mark.getBoundingClientRect(), area.current.getBoundingClientRect()];
    const left = own.left + own.width / 2 - all.left;
    setTip({ text, left, top: own.top - all.top, isAtEnd: left > all.width / 2 });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only repeats what marks are called.
    <div
      ref={area}
      className={styles.tipArea}
      onPointerOver={show}
      onPointerLeave={() => setTip(undefined)}
      onFocus={show}
      onBlur={() => setTip(undefined)}
    >
      {children}
      {tip && (
        <div
          className={styles.tip}
          data-end={tip.isAtEnd || undefined}
          style={{ insetInlineStart: tip.left, insetBlockStart: tip.top }}
          aria-hidden="true"
        >
          {tip.text}
        </div>
      )}
    </div>
  );
}
