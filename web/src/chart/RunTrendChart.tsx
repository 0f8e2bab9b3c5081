import type { ReactNode } from "react";
import styles from "./Chart.module.css";
import { ChartFrame } from "./ChartFrame";
import { estimateText, type Range, type ScaleEnds, scaleText, scoreText } from "./figures";
import { AXIS_WIDTH, ScoreGrid } from "./ScoreGrid";
import { linear, scoreDomain, stretches } from "./scale";

/** A run in the order in which runs were made. */
export type RunPoint = {
  id: string;
  /** What the run is called below the axis. */
  name: string;
  mean?: number | null;
  interval?: Range | null;
  /** A difference to the run before that is significant at 95 %. */
  change?: { direction: "worse" | "better"; text: string };
};

type RunTrendChartProps = {
  title: string;
  points: RunPoint[];
  /** The scale that the scores of all runs share. */
  scale?: ScaleEnds;
  /** Wraps the mark of a run in a link. */
  linkOf: (point: RunPoint, label: string, mark: ReactNode) => ReactNode;
  table: ReactNode;
};

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [AXIS_WIDTH, 14, 26, 26, 240];
/** Room of a name below the axis, in pixels. */
const NAME_WIDTH = 84;

const labelOfPoint = (point: RunPoint, scale: ScaleEnds | undefined): string =>
  `${point.name}: ${estimateText(point.mean, point.interval, scale)}${point.change ? `; ${point.change.text}` : ""}`;

/** A figure of run after run with intervals of 95 %; triangles mark significant changes. */
export function RunTrendChart({ title, points, scale, linkOf, table }: RunTrendChartProps) {
  const known = points.filter((point) => point.mean != null);
  const changes = points.filter((point) => point.change);
  const [first, last] = [known[0], known.at(-1)];
  const about = [
    first && last
      ? `${title}: ${scoreText(first.mean, scale)} in the first and ${scoreText(last.mean, scale)} in the last of ${known.length} runs`
      : `${title}: no run has a value`,
    ...changes.map((point) => labelOfPoint(point, scale)),
  ].join("; ");
  const domain = scoreDomain(known.flatMap((point) => [point.mean ?? 0, ...(point.interval ?? [])]));
  return (
    <ChartFrame
      title={scale ? `${title}; left axis ${scaleText(scale)}, right axis from 0 to 1` : title}
      about={about}
      height={HEIGHT}
      isInteractive
      draw={(width) => {
        const end = width - (scale ? LEFT : RIGHT);
        const x = linear([0, Math.max(1, points.length - 1)], [LEFT + 14, end - 14]);
        const y = linear(domain, [HEIGHT - BOTTOM, TOP]);
        const placed = points.map((point, at) => ({ point, at: points.length === 1 ? width / 2 : x(at) }));
        return (
          <>
            <ScoreGrid domain={domain} scale={scale} y={y} end={end} />
            <RunNames placed={placed} width={width} />
            <g data-series={1}>
              {stretches(placed, ({ point }) => point.mean != null).map((line, nth) => (
                <path
                  key={nth}
                  className={styles.line}
                  d={`M${line.map(({ point, at }) => `${at.toFixed(1)},${y(point.mean ?? 0).toFixed(1)}`).join("L")}`}
                />
              ))}
              {placed.map(({ point, at }) => (
                <RunMark key={point.id} point={point} at={at} y={y} scale={scale} linkOf={linkOf} />
              ))}
            </g>
          </>
        );
      }}
      table={table}
    />
  );
}

type RunNamesProps = { placed: { point: RunPoint; at: number }[]; width: number };

/** Names of runs below the axis, as many as fit. */
function RunNames({ placed, width }: RunNamesProps) {
  const every = Math.max(1, Math.ceil(placed.length / Math.max(1, Math.floor(width / NAME_WIDTH))));
  return (
    <g className={styles.grid}>
      {placed.map(({ point, at }, nth) =>
        nth % every === 0 ? (
          <text
            key={point.id}
            x={Math.min(Math.max(at, NAME_WIDTH / 2), width - NAME_WIDTH / 2)}
            y={HEIGHT - 8}
            textAnchor="middle"
          >
            {point.name}
          </text>
        ) : null,
      )}
    </g>
  );
}

type RunMarkProps = {
  point: RunPoint;
  at: number;
  y: (value: number) => number;
  scale: ScaleEnds | undefined;
  linkOf: RunTrendChartProps["linkOf"];
};

function RunMark({ point, at, y, scale, linkOf }: RunMarkProps) {
  if (point.mean == null) return null;
  const { change, interval } = point;
  const label = labelOfPoint(point, scale);
  return (
    <g className={styles.point} data-tip={label}>
      {linkOf(
        point,
        label,
        <>
          {interval && <line x1={at} x2={at} y1={y(interval[0])} y2={y(interval[1])} />}
          {change && (
            <g className={styles.change} data-direction={change.direction}>
              <line x1={at} x2={at} y1={TOP - 8} y2={HEIGHT - BOTTOM} />
              {/* The triangle points to where the figure went, so that it is readable without colours. */}
              <path
                d={
                  change.direction === "worse"
                    ? `M${at - 6},${TOP - 18}h12l-6,10z`
                    : `M${at - 6},${TOP - 8}h12l-6,-10z`
                }
              />
            </g>
          )}
          <circle cx={at} cy={y(point.mean)} r={3.5} />
          <circle cx={at} cy={y(point.mean)} r={9} className={styles.reach} />
        </>,
      )}
    </g>
  );
}
