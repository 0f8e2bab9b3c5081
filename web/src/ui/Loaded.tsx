import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem, ServerGone } from "../api/client";
import { Button } from "./Button";
import { CodeText } from "./CodeText";
import { ErrorDetails, ProblemDetails } from "./ErrorDetails";
import { capitalize } from "./format";
import { LoadingNotice, Notice } from "./Notice";

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
function explain(problem: Problem): Explanation {
  const { status, title } = problem;
  if (status === 401)
    return { title: "You are signed out", advice: "Sign in again. What you entered on this page is lost." };
  if (status === 403)
    return { title: "Access denied", advice: "Ask an owner of the project for another role." };
  if (status === 404) {
    return { title: "Not found", advice: "Check the address. It may also have been deleted." };
  }
  if (status === 409 || status === 412) {
    return { title, advice: "Another user changed it in the meantime. Reload the page, then try again." };
  }
  if (status === 429) return { title: "Too many requests", advice: "Wait a moment, then try again." };
  if (status === 504)
    return {
      title: "The server took too long",
      advice: "Choose a shorter time range or a filter, then try again.",
    };
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
  if (!(error instanceof Problem)) return <PageErrorNotice error={error} onRetry={onRetry} />;
  const { title, advice } = explain(error);
  const message = capitalize(error.message);
  const isOfUser = error.status === 403 || error.status === 404;
  return (
    <Notice title={title} action={isOfUser ? undefined : retry} tone={isOfUser ? "plain" : "fail"}>
      <p>
        <CodeText text={/[.!?]$/.test(message) ? message : `${message}.`} />
      </p>
      <p>{advice}</p>
      <ProblemDetails problem={error} />
    </Notice>
  );
}

/** The browser could not load a part of the pages: most often the server was updated while the page was open. */
const isPartMissing = (error: Error): boolean =>
  /dynamically imported module|importing a module script failed/i.test(error.message);

/** An error in the pages themselves. */
export function PageErrorNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const isUpdated = isPartMissing(error);
  const again = (
    <Button look="main" onClick={onRetry ?? (() => location.reload())}>
      {onRetry ? "Try again" : "Reload the page"}
    </Button>
  );
  const text = [error.message, location.pathname, new Date().toISOString()].join(" · ");
  return (
    <Notice
      title={isUpdated ? "This page could not be loaded" : "This page has an error"}
      action={again}
      tone="fail"
    >
      <p>
        {isUpdated
          ? "The server was probably updated while the page was open. Reload the page."
          : "Reload the page. If the error stays, report it with the details below."}
      </p>
      <ErrorDetails text={text} />
    </Notice>
  );
}
