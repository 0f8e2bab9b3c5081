import { type ReactNode, useId } from "react";
import { type Column, Table } from "../ui/Table";
import styles from "./Chart.module.css";
import { ChartFrame } from "./ChartFrame";
import { estimateText, type Range, rangeText, type ScaleEnds, scaleText, scoreText } from "./figures";
import { ScaledScore } from "./ScaledScore";
import { AXIS_WIDTH, ScoreGrid } from "./ScoreGrid";
import { DAY_MS, linear, scoreDomain, stretches } from "./scale";

export type TrendPoint = {
  day: string;
  mean?: number | null;
  interval?: Range | null;
  sequence?: Range | null;
  n: number;
  n_seen: number;
};

export type Series = { name: string; points: TrendPoint[] };

/** An event on a day, such as an alert. */
export type Sign = { time: string; text: string };

type TrendChartProps = {
  title: string;
  series: Series[];
  /** The scale that the rubrics of all series share. */
  scale?: ScaleEnds;
  passMark?: number;
  signs?: Sign[];
  /** Wraps the mark of a day in a link to the traces of that day. */
  linkOf?: LinkOf;
};

/** The day as `2026-11-09`, what the link is called, and the mark to wrap. */
export type LinkOf = (day: string, label: string, mark: ReactNode) => ReactNode;

/** Number of line colours; further lines start with the first one again. */
const N_SERIES = 6;

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [AXIS_WIDTH, 14, 12, 26, 260];

const timeOf = (it: TrendPoint) => Date.parse(it.day);
const dayOf = (it: { day: string }) => it.day.slice(0, 10);
const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** Scores by day: dots with the interval of their day, and the confidence sequence of all days so far. */
export function TrendChart({ title, series, scale, passMark, signs = [], linkOf }: TrendChartProps) {
  const id = useId();
  const all = series.flatMap((it) => it.points);
  // Bands start very wide; they are clipped, because otherwise they would flatten everything else.
  const values = all.flatMap((it) => [...(it.mean == null ? [] : [it.mean]), ...(it.interval ?? [])]);
  const domain = scoreDomain(passMark === undefined ? values : [...values, passMark]);
  const days = all.map(timeOf);
  const span: [number, number] = [Math.min(...days), Math.max(...days)];
  return (
    <ChartFrame
      title={scale ? `${title}; left axis ${scaleText(scale)}, right axis from 0 to 1` : title}
      about={[aboutOf(series, scale), ...signsWithin(signs, span).map(labelOfSign)].join("; ")}
      height={HEIGHT}
      isInteractive={linkOf !== undefined}
      legend={series.map((it, at) => ({ name: it.name, series: (at % N_SERIES) + 1 }))}
      draw={(width) => {
        const end = width - (scale ? LEFT : RIGHT);
        const x = linear(span, [LEFT + 10, end - 10]);
        const y = linear(domain, [HEIGHT - BOTTOM, TOP]);
        return (
          <>
            <ScoreGrid domain={domain} scale={scale} y={y} end={end} />
            <DayLabels span={span} x={x} width={width} />
            <clipPath id={id}>
              <rect x={LEFT} y={TOP} width={Math.max(0, end - LEFT)} height={HEIGHT - TOP - BOTTOM} />
            </clipPath>
            <g clipPath={`url(#${id})`}>
              {series.map((it, at) => (
                <SequenceBand key={it.name} points={it.points} series={(at % N_SERIES) + 1} x={x} y={y} />
              ))}
            </g>
            <AlertMarks signs={signsWithin(signs, span)} x={x} width={width} />
            {series.map((it, at) => (
              <ScoreLine
                key={it.name}
                points={it.points}
                series={(at % N_SERIES) + 1}
                x={x}
                y={y}
                scale={scale}
                linkOf={linkOf}
              />
            ))}
            {passMark !== undefined && (
              <g className={styles.mark}>
                <line x1={LEFT} x2={end} y1={y(passMark)} y2={y(passMark)} />
                <text x={LEFT + 4} y={y(passMark) - 4}>
                  pass mark
                </text>
              </g>
            )}
          </>
        );
      }}
      table={
        <>
          <TrendTable series={series} scale={scale} />
          {signs.length > 0 && (
            <ul>
              {signs.map((it) => (
                <li key={labelOfSign(it)}>{labelOfSign(it)}</li>
              ))}
            </ul>
          )}
        </>
      }
    />
  );
}

const labelOfSign = (it: Sign): string => `${it.time.slice(0, 10)}: ${it.text}`;

/** The alerts of the days that are drawn. */
const signsWithin = (signs: Sign[], span: Range): Sign[] =>
  signs.filter((it) => Date.parse(it.time) >= span[0] && Date.parse(it.time) < span[1] + DAY_MS);

type AlertMarksProps = { signs: Sign[]; x: (it: number) => number; width: number };

/** Room that the word takes, in pixels; of marks that are closer only the oldest is labelled. */
const LABEL_WIDTH = 40;

function AlertMarks({ signs, x, width }: AlertMarksProps) {
  const placeOfSign = (sign: Sign) => x(Math.floor(Date.parse(sign.time) / DAY_MS) * DAY_MS);
  return (
    <g className={styles.sign}>
      {signs.map((it, nth) => {
        const at = placeOfSign(it);
        const before = signs[nth + 1];
        const isLabelled = !before || Math.abs(placeOfSign(before) - at) > LABEL_WIDTH;
        return (
          <g key={labelOfSign(it)} data-tip={labelOfSign(it)}>
            <line x1={at} x2={at} y1={TOP} y2={HEIGHT - BOTTOM} />
            <path d={`M${at - 6},${TOP - 10}h12l-6,10z`} />
            {isLabelled && (
              <text
                x={at < width / 2 ? at + 9 : at - 9}
                y={TOP - 2}
                textAnchor={at < width / 2 ? "start" : "end"}
              >
                alert
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

function DayLabels({ span, x, width }: { span: Range; x: (it: number) => number; width: number }) {
  const nDays = Math.round((span[1] - span[0]) / DAY_MS) + 1;
  const every = Math.max(1, Math.ceil(nDays / Math.max(1, Math.floor(width / 90))));
  const shown = Array.from({ length: nDays }, (_, at) => span[0] + at * DAY_MS).filter(
    (_, at) => at % every === 0,
  );
  return (
    <g className={styles.grid}>
      {shown.map((it) => (
        <text key={it} x={x(it)} y={HEIGHT - 8} textAnchor="middle">
          {SHORT.format(it)}
        </text>
      ))}
    </g>
  );
}

type ScoreLineProps = {
  points: TrendPoint[];
  series: number;
  x: (it: number) => number;
  y: (it: number) => number;
  scale?: ScaleEnds;
  linkOf?: LinkOf;
};

const placeOf =
  ({ x, y }: ScoreLineProps) =>
  (it: TrendPoint, value: number): string =>
    `${x(timeOf(it)).toFixed(1)},${y(value).toFixed(1)}`;

function SequenceBand(props: ScoreLineProps) {
  const place = placeOf(props);
  return (
    <g data-series={props.series}>
      {stretches(props.points, (it) => it.sequence != null).map((band, at) => {
        const high = band.map((it) => place(it, it.sequence?.[1] ?? 0));
        const low = band.map((it) => place(it, it.sequence?.[0] ?? 0)).reverse();
        return <path key={at} className={styles.band} d={`M${[...high, ...low].join("L")}Z`} />;
      })}
    </g>
  );
}

function ScoreLine(props: ScoreLineProps) {
  const { points, series, x, y, scale, linkOf = (_day, _label, mark) => mark } = props;
  const place = placeOf(props);
  return (
    <g data-series={series}>
      {stretches(points, (it) => it.mean != null).map((line, at) => (
        <path
          key={at}
          className={styles.line}
          d={`M${line.map((it) => place(it, it.mean ?? 0)).join("L")}`}
        />
      ))}
      {points.map((it) => {
        if (it.mean == null) return null;
        const at = x(timeOf(it));
        const label = `${dayOf(it)}: ${estimateText(it.mean, it.interval, scale)}, ${it.n} of ${it.n_seen} scored`;
        return (
          <g key={it.day} className={styles.point} data-tip={label}>
            {linkOf(
              dayOf(it),
              label,
              <>
                {it.interval && <line x1={at} x2={at} y1={y(it.interval[0])} y2={y(it.interval[1])} />}
                <circle cx={at} cy={y(it.mean)} r={3} />
                <circle cx={at} cy={y(it.mean)} r={9} className={styles.reach} />
              </>,
            )}
          </g>
        );
      })}
    </g>
  );
}

function aboutOf(series: Series[], scale: ScaleEnds | undefined): string {
  const descriptions = series.map(({ name, points }) => {
    const known = points.filter((it) => it.mean != null);
    const [first, last] = [known[0], known.at(-1)];
    if (!first || !last) return `${name}: no day has an estimate`;
    const text = (it: TrendPoint) => `${scoreText(it.mean, scale)} on ${dayOf(it)}`;
    return `${name}: ${text(first)}, ${text(last)}`;
  });
  return descriptions.join("; ");
}

type TrendTableProps = Pick<TrendChartProps, "series" | "scale">;

function TrendTable({ series, scale }: TrendTableProps) {
  const rows = series
    .flatMap((it) => it.points.map((point) => ({ ...point, series: it.name })))
    .sort((a, b) => b.day.localeCompare(a.day));
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    { name: "day", head: "Day", cell: dayOf },
    ...(series.length > 1 ? [{ name: "series", head: "Series", cell: (it: Row) => it.series }] : []),
    {
      name: "n",
      head: "Scored",
      about: "Traces with a score, of all traces that finished on the day.",
      entry: "sample-rate",
      align: "end",
      cell: (it) => `${it.n} of ${it.n_seen}`,
    },
    {
      name: "mean",
      head: "Score",
      about:
        "Estimated score of all traffic of the day alone; on the scale of the rubric, where it has one, and from 0 (worst) to 1 (best).",
      entry: "score",
      align: "end",
      cell: (it) => (it.mean == null ? "no estimate" : <ScaledScore mean={it.mean} scale={scale} isMinor />),
    },
    {
      name: "interval",
      head: "95 % interval of the day",
      about:
        "95 % confidence interval of the score of the day; on the scale of the rubric, where it has one, and from 0 to 1.",
      entry: "confidence-interval",
      align: "end",
      cell: (it) => rangeText(it.interval, scale) || "–",
    },
    {
      name: "sequence",
      head: "Confidence sequence",
      about:
        "Range for the mean of all days so far. It stays valid however often you look at it, and is the band of the chart.",
      entry: "confidence-sequence",
      align: "end",
      cell: (it) => rangeText(it.sequence, scale) || "–",
    },
  ];
  return (
    <Table caption="Scores by day" columns={columns} rows={rows} keyOf={(it) => `${it.day} ${it.series}`} />
  );
}
