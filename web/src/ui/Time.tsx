import { ago, moment } from "./format";

/** How long ago, and exactly when to whoever points at it. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
