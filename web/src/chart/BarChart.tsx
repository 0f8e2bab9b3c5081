import type { ReactNode } from "react";
import styles from "./Chart.module.css";
import { ChartFrame } from "./ChartFrame";
import { linear, ticks } from "./scale";

export type Bar = { name: string; label: string; value: number; tip: string };

type BarChartProps = {
  title: string;
  about: string;
  bars: Bar[];
  say: (value: number) => string;
  table: ReactNode;
};

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [64, 8, 10, 24, 190];

/** One bar for each day. */
export function BarChart({ title, about, bars, say, table }: BarChartProps) {
  const marks = ticks(0, Math.max(...bars.map((it) => it.value), 0), 3);
  return (
    <ChartFrame
      title={title}
      about={about}
      height={HEIGHT}
      draw={(width) => {
        const slot = (width - LEFT - RIGHT) / bars.length;
        const y = linear([0, marks.at(-1) || 1], [HEIGHT - BOTTOM, TOP]);
        const every = Math.max(1, Math.ceil(bars.length / Math.max(1, Math.floor(width / 70))));
        return (
          <>
            <g className={styles.grid}>
              {marks.map((it) => (
                <g key={it}>
                  <line x1={LEFT} x2={width - RIGHT} y1={y(it)} y2={y(it)} />
                  <text x={LEFT - 8} y={y(it) + 4} textAnchor="end">
                    {say(it)}
                  </text>
                </g>
              ))}
              {bars.map((it, at) =>
                at % every === 0 ? (
                  <text key={it.name} x={LEFT + (at + 0.5) * slot} y={HEIGHT - 6} textAnchor="middle">
                    {it.label}
                  </text>
                ) : null,
              )}
            </g>
            {bars.map((it, at) => (
              <g key={it.name} className={styles.bar} data-tip={it.tip}>
                <rect
                  x={LEFT + at * slot}
                  y={TOP}
                  width={slot}
                  height={HEIGHT - TOP - BOTTOM}
                  className={styles.reach}
                />
                <rect
                  x={LEFT + at * slot + Math.min(slot * 0.15, 6)}
                  y={y(it.value)}
                  width={slot - 2 * Math.min(slot * 0.15, 6)}
                  height={HEIGHT - BOTTOM - y(it.value)}
                />
              </g>
            ))}
          </>
        );
      }}
      table={table}
    />
  );
}
