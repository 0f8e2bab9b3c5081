import { ago, moment } from "./format";

/** A time as "5 min ago", with the exact time as a tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
