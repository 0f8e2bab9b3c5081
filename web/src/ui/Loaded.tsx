import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem, ServerGone } from "../api/client";
import { Button } from "./Button";
import { LoadingNotice, Notice } from "./Notice";
import styles from "./Notice.module.css";

type LoadedProps<T> = {
  query: Pick<UseQueryResult<T>, "data" | "error" | "refetch" | "isFetching">;
  /** What is loaded, as in "Loading runs…". */
  what: string;
  children: (data: T) => ReactNode;
};

/** Draws the data of a query, or a notice while it loads or after it failed. */
export function Loaded<T>({ query, what, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorNotice error={query.error} onRetry={() => query.refetch()} />;
  return <LoadingNotice what={what} />;
}

type Explanation = { title: string; advice: string };

/** What happened and what to do, by HTTP status. */
function explain({ status, title }: Problem): Explanation {
  if (status === 403)
    return { title: "Access denied", advice: "Ask an owner of the project for another role." };
  if (status === 404) {
    return { title: "Not found", advice: "Check the address. It may also have been deleted." };
  }
  if (status === 429) return { title: "Too many requests", advice: "Wait a moment, then try again." };
  if (status < 500) return { title, advice: "Check the address or your input, then try again." };
  return {
    title: "The server reported an error",
    advice: "Try again. If the error stays, send the details below to the person who runs this server.",
  };
}

/** Why a request failed, what to do about it, and the details that a log search needs. */
export function ErrorNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const retry = onRetry && (
    <Button look="main" onClick={onRetry}>
      Try again
    </Button>
  );
  if (error instanceof ServerGone) {
    return (
      <Notice title="The server does not answer" action={retry} tone="fail">
        <p>It may be restarting, or the network is down. This page tries again automatically.</p>
      </Notice>
    );
  }
  if (!(error instanceof Problem)) {
    return (
      <Notice title="This page has an error" action={retry} tone="fail">
        <p>{error.message}</p>
        <p>Reload the page. If the error stays, report it with the text above.</p>
      </Notice>
    );
  }
  const { title, advice } = explain(error);
  const message = error.message.charAt(0).toUpperCase() + error.message.slice(1);
  const isOfUser = error.status === 403 || error.status === 404;
  return (
    <Notice title={title} action={isOfUser ? undefined : retry} tone={isOfUser ? "plain" : "fail"}>
      <p>{/[.!?]$/.test(message) ? message : `${message}.`}</p>
      <p>{advice}</p>
      <p className={styles.details}>{error.details()}</p>
    </Notice>
  );
}
