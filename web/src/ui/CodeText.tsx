import { Fragment } from "react";

/** A sentence in which parts between backticks are code, as messages of the server have them. */
export function CodeText({ text }: { text: string }) {
  return text
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : <Fragment key={at}>{part}</Fragment>));
}
