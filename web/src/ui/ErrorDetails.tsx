import type { Problem } from "../api/client";
import { BookLink } from "./BookLink";
import { CopyButton } from "./CopyButton";
import styles from "./ErrorDetails.module.css";

/** What a report of an error needs, with a button that copies it. */
export function ErrorDetails({ text }: { text: string }) {
  return (
    <div className={styles.details}>
      <code>{text}</code>
      <CopyButton text={text} look="tool" />
    </div>
  );
}

/** Whether the server's log has the error under the id of the request. */
export const isLogged = ({ status, request }: Problem): boolean => status >= 500 && request?.id != null;

/** Status, path, time and request id of a failed request, and where the log has more about it. */
export function ProblemDetails({ problem }: { problem: Problem }) {
  return (
    <>
      <ErrorDetails text={problem.details()} />
      {isLogged(problem) && (
        <p className={styles.logged}>
          The log of the server has this error under the request id.{" "}
          <BookLink page="server.html#metrics-and-logs">How to read the log</BookLink>
        </p>
      )}
    </>
  );
}
