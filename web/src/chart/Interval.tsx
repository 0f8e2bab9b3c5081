import styles from "./Chart.module.css";
import { estimateText, type Range, type ScaleEnds } from "./figures";
import { linear } from "./scale";

type IntervalProps = {
  mean: number;
  interval?: Range | null;
  /** A second figure, such as the unweighted mean. */
  other?: number | null;
  mark?: number;
  /** The values at the ends of the line; by default 0 and 1. */
  domain?: Range;
  /** The scale of the rubric, where it has one. */
  scale?: ScaleEnds | null;
};

const WIDTH = 200;

/** A figure and its interval, small enough for a table row that also shows the numbers. */
export function Interval({ mean, interval, other, mark, domain = [0, 1], scale }: IntervalProps) {
  const at = linear(domain, [4, WIDTH - 4]);
  return (
    <svg
      className={styles.interval}
      viewBox={`0 0 ${WIDTH} 16`}
      role="img"
      aria-label={estimateText(mean, interval, scale)}
    >
      <line x1={at(domain[0])} x2={at(domain[1])} y1={8} y2={8} className={styles.axis} />
      {mark !== undefined && <line x1={at(mark)} x2={at(mark)} y1={1} y2={15} className={styles.at} />}
      {interval && (
        <line x1={at(interval[0])} x2={at(interval[1])} y1={8} y2={8} className={styles.whisker} />
      )}
      {other != null && <circle cx={at(other)} cy={8} r={3.5} className={styles.other} />}
      <circle cx={at(mean)} cy={8} r={4} className={styles.dot} />
    </svg>
  );
}
