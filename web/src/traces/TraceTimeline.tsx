import { type CSSProperties, useMemo, useState } from "react";
import { useMoney } from "../money/useMoney";
import { Badge } from "../ui/Badge";
import { BookLink } from "../ui/BookLink";
import { Button } from "../ui/Button";
import { count, duration, plural } from "../ui/format";
import { Term } from "../ui/Term";
import styles from "./TraceTimeline.module.css";
import { type Timeline, type TimelineRow, timelineOf, visibleRows } from "./view/timeline";
import type { Trace } from "./view/traceParts";

/** Rows that are drawn at first; traces of thousands of steps exist. */
const FIRST_ROWS = 200;

type TraceTimelineProps = { trace: Trace; step: number | undefined; onStep: (step: number) => void };

/** The steps as a tree beside a waterfall, with latency, tokens and cost of each. */
export function TraceTimeline({ trace, step, onStep }: TraceTimelineProps) {
  const timeline = useMemo(() => timelineOf(trace), [trace]);
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [isAll, setAll] = useState(false);
  const rows = visibleRows(timeline.rows, collapsed);
  const shown = isAll ? rows : rows.slice(0, FIRST_ROWS);
  const toggle = (key: string) =>
    setCollapsed((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  return (
    <section className={styles.timeline} aria-label="Timeline">
      <TimelineNote timeline={timeline} />
      <div className={styles.frame}>
        <table className={styles.table}>
          <caption className="visually-hidden">Steps with their time, tokens and cost</caption>
          <TimelineHead timeline={timeline} />
          <tbody>
            {shown.map((row) => (
              <TimelineLine
                key={row.key}
                row={row}
                timeline={timeline}
                isCurrent={row.step === step}
                isCollapsed={collapsed.has(row.key)}
                onToggle={() => toggle(row.key)}
                onStep={onStep}
              />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length && (
        <Button onClick={() => setAll(true)}>Show all {plural(rows.length, "row")}</Button>
      )}
    </section>
  );
}

/** What the trace does not say, and where such data comes from. */
function TimelineNote({ timeline: { rows, hasDurations, hasTokens } }: { timeline: Timeline }) {
  if (rows.some((row) => row.isBetween)) {
    return (
      <p className={styles.note}>
        This trace has times but no durations. The latency is the time since the previous message.
      </p>
    );
  }
  if (hasDurations || hasTokens) return null;
  return (
    <p className={styles.note}>
      The steps of this trace have no times, durations or tokens.{" "}
      <BookLink page="how-to/opentelemetry.html">OpenTelemetry spans</BookLink> have them.
    </p>
  );
}

function TimelineHead({ timeline: { totalMs, hasDurations, hasTokens, hasCosts } }: { timeline: Timeline }) {
  return (
    <thead>
      <tr>
        <th scope="col">Step</th>
        {hasDurations && (
          <th scope="col" className={styles.lane}>
            {totalMs === undefined ? (
              <Term about="How long the step took, as a bar. The longest bar is the longest step.">
                Duration
              </Term>
            ) : (
              <TimeAxis totalMs={totalMs} />
            )}
          </th>
        )}
        {hasDurations && (
          <th scope="col" data-align="end">
            <Term about="How long the model call or the tool took.">Latency</Term>
          </th>
        )}
        {hasTokens && (
          <th scope="col" data-align="end" data-wide>
            <Term about="Input and output tokens of the model call. Each call counts the whole conversation so far as input.">
              Tokens
            </Term>
          </th>
        )}
        {hasCosts && (
          <th scope="col" data-align="end">
            <Term about="Cost of the model call, where its span has one.">Cost</Term>
          </th>
        )}
      </tr>
    </thead>
  );
}

function TimeAxis({ totalMs }: { totalMs: number }) {
  return (
    <span className={styles.axis}>
      <span>0</span>
      <span>{duration(totalMs / 2)}</span>
      <span>{duration(totalMs)}</span>
    </span>
  );
}

type TimelineLineProps = {
  row: TimelineRow;
  timeline: Timeline;
  isCurrent: boolean;
  isCollapsed: boolean;
  onToggle: () => void;
  onStep: (step: number) => void;
};

function TimelineLine({ row, timeline, isCurrent, isCollapsed, onToggle, onStep }: TimelineLineProps) {
  const money = useMoney();
  const { hasDurations, hasTokens, hasCosts } = timeline;
  const isCounted = (row.tokens?.input ?? 0) + (row.tokens?.output ?? 0) > 0;
  return (
    <tr data-current={isCurrent || undefined}>
      <th scope="row">
        <span className={styles.name} style={{ "--level": Math.min(row.level, 6) } as CSSProperties}>
          {row.hasChildren ? (
            <button
              type="button"
              className={styles.toggle}
              aria-expanded={!isCollapsed}
              aria-label={`Parts of step ${row.step}`}
              onClick={onToggle}
            >
              {isCollapsed ? "▸" : "▾"}
            </button>
          ) : (
            <span className={styles.leaf} aria-hidden="true" />
          )}
          <button type="button" className={styles.open} onClick={() => onStep(row.step)}>
            <span className={styles.kind} data-kind={row.kind}>
              {row.name}
            </span>{" "}
            <span className={styles.about} dir="auto" title={row.about}>
              {row.about}
            </span>
          </button>
          {row.isFailed && <Badge tone="fail">✕ failed</Badge>}
        </span>
      </th>
      {hasDurations && (
        <td className={styles.lane}>
          <TimelineBar row={row} timeline={timeline} />
        </td>
      )}
      {hasDurations && <td data-align="end">{duration(row.durationMs)}</td>}
      {hasTokens && (
        <td data-align="end" data-wide>
          {isCounted ? `${count(row.tokens?.input ?? 0)} → ${count(row.tokens?.output ?? 0)}` : "–"}
        </td>
      )}
      {hasCosts && <td data-align="end">{money(row.cost)}</td>}
    </tr>
  );
}

/** The smallest bar that can be seen, as a share of the axis. */
const THINNEST = 0.004;

function TimelineBar({ row, timeline }: { row: TimelineRow; timeline: Timeline }) {
  // Without recorded times all bars begin at the left edge.
  const longest =
    timeline.totalMs ?? timeline.rows.reduce((most, it) => Math.max(most, it.durationMs ?? 0), 1);
  const start = timeline.totalMs === undefined ? 0 : row.startMs;
  if (start === undefined || row.durationMs === undefined) return null;
  const width = Math.max(row.durationMs / longest, THINNEST);
  const style = {
    "--start": `${Math.min(start / longest, 1 - THINNEST) * 100}%`,
    "--width": `${Math.min(width, 1) * 100}%`,
  } as CSSProperties;
  const from = timeline.totalMs === undefined ? "" : `, from ${duration(start)}`;
  return (
    <span
      className={styles.bar}
      style={style}
      data-kind={row.kind}
      data-failed={row.isFailed || undefined}
      title={`${row.name}: ${duration(row.durationMs)}${from}`}
    />
  );
}
