import { type ReactNode, useId, useLayoutEffect, useRef, useState } from "react";
import styles from "./Chart.module.css";
import { ChartTip } from "./ChartTip";

type ChartFrameProps = {
  title: string;
  /** What it shows, in a sentence, for people who cannot see it. */
  about: string;
  legend?: { name: ReactNode; series: number }[];
  height: number;
  /** Marks are links, so that it is no mere picture. */
  isInteractive?: boolean;
  draw: (width: number) => ReactNode;
  /** The same as numbers. */
  table: ReactNode;
};

/** A chart with its title, a description for screen readers and its numbers as a table. */
export function ChartFrame({ title, about, legend, height, isInteractive, draw, table }: ChartFrameProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const id = useId();
  useLayoutEffect(() => {
    const it = box.current;
    if (!it) return;
    setWidth(it.clientWidth);
    if (typeof ResizeObserver === "undefined") return;
    const watch = new ResizeObserver(() => setWidth(it.clientWidth));
    watch.observe(it);
    return () => watch.disconnect();
  }, []);
  return (
    <figure className={styles.figure} aria-labelledby={id}>
      <figcaption id={id} className={styles.caption}>
        {title}
        {legend && legend.length > 0 && (
          <span className={styles.legend}>
            {legend.map((it, at) => (
              <span key={at} data-series={it.series}>
                {it.name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <ChartTip>
        <div ref={box} className={styles.box} style={{ blockSize: `${height / 16}rem` }}>
          {width > 0 && (
            <svg
              role={isInteractive ? "group" : "img"}
              aria-label={about}
              width={width}
              height={height}
              viewBox={`0 0 ${width} ${height}`}
              className={styles.svg}
            >
              {draw(width)}
            </svg>
          )}
        </div>
      </ChartTip>
      <details className={styles.table}>
        <summary>Show as table</summary>
        {table}
      </details>
    </figure>
  );
}
