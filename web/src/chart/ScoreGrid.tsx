import styles from "./Chart.module.css";
import type { Range, ScaleEnds } from "./figures";
import { linear, ticks } from "./scale";

/** Room of the numbers beside the lines, in pixels. */
export const AXIS_WIDTH = 44;

type ScoreGridProps = {
  domain: Range;
  scale: ScaleEnds | undefined;
  y: (it: number) => number;
  /** The right end of the lines. */
  end: number;
};

/** Lines at round numbers of the scale of the rubrics, with 0 to 1 on the right, or else of 0 to 1. */
export function ScoreGrid({ domain, scale, y, end }: ScoreGridProps) {
  const ends: Range = scale ? [scale.min, scale.max] : [0, 1];
  const toScale = linear([0, 1], ends);
  const toUnit = linear(ends, [0, 1]);
  const [low, high] = [toScale(domain[0]), toScale(domain[1])];
  const shown = ticks(low, high, 6).filter((it) => it >= low - 1e-9 && it <= high + 1e-9);
  return (
    <g className={styles.grid}>
      {shown.map((it) => (
        <g key={it}>
          <line x1={AXIS_WIDTH} x2={end} y1={y(toUnit(it))} y2={y(toUnit(it))} />
          <text x={AXIS_WIDTH - 8} y={y(toUnit(it)) + 4} textAnchor="end">
            {Number(it.toFixed(3))}
          </text>
          {scale && (
            <text x={end + 8} y={y(toUnit(it)) + 4}>
              {Number(toUnit(it).toFixed(3))}
            </text>
          )}
        </g>
      ))}
    </g>
  );
}
