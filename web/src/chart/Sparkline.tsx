import styles from "./Chart.module.css";
import { linear, scoreDomain } from "./scale";

/** The mean of one day. */
type Point = { day: string; mean?: number | null };

/** Scores by day as a small line in a table row. */
export function Sparkline({ points, about }: { points: Point[]; about: string }) {
  const known = points.filter((it) => it.mean != null);
  if (known.length < 2) return <span className={styles.none}>–</span>;
  const days = known.map((it) => Date.parse(it.day));
  const x = linear([Math.min(...days), Math.max(...days)], [3, 117]);
  const y = linear(scoreDomain(known.map((it) => it.mean ?? 0)), [21, 3]);
  const places = known.map((it) => `${x(Date.parse(it.day)).toFixed(1)},${y(it.mean ?? 0).toFixed(1)}`);
  const last = places.at(-1)?.split(",") ?? [];
  return (
    <svg className={styles.spark} viewBox="0 0 120 24" role="img" aria-label={about} data-series={1}>
      <path className={styles.line} d={`M${places.join("L")}`} />
      <circle cx={last[0]} cy={last[1]} r={2.5} className={styles.dot} />
    </svg>
  );
}
