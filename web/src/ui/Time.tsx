import { ago, moment, shortMoment } from "./format";

/** A time as "5 min ago", with the exact time as a tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}

/** A time that may lie ahead as "20 Nov, 11:08", with the year as a tooltip. */
export function PlannedTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {shortMoment(at)}
    </time>
  );
}
