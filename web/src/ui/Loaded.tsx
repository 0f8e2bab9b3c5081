import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem, ServerGone } from "../api/client";
import { Button } from "./Button";
import { LoadingNotice, Notice } from "./Notice";

type LoadedProps<T> = {
  query: Pick<UseQueryResult<T>, "data" | "error" | "refetch" | "isFetching">;
  /** What is loaded, as in "Loading runs…". */
  what: string;
  children: (data: T) => ReactNode;
};

/** Draws what was loaded, or why it is not there. */
export function Loaded<T>({ query, what, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorNotice error={query.error} onRetry={() => query.refetch()} />;
  return <LoadingNotice what={what} />;
}

/** Why something is not there, and what can be done about it. */
export function ErrorNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const retry = onRetry && (
    <Button look="main" onClick={onRetry}>
      Try again
    </Button>
  );
  if (error instanceof ServerGone) {
    return (
      <Notice title="The server does not answer" action={retry} tone="fail">
        <p>It may be restarting, or the network is away. This page tries again by itself.</p>
      </Notice>
    );
  }
  if (error instanceof Problem && error.status === 403) {
    return (
      <Notice title="This is not open to you">
        <p>The server says: {error.message}.</p>
        <p>Whoever owns the project can give you another role.</p>
      </Notice>
    );
  }
  if (error instanceof Problem && error.status === 404) {
    return (
      <Notice title="There is nothing here">
        <p>The server says: {error.message}.</p>
      </Notice>
    );
  }
  return (
    <Notice title={error instanceof Problem ? error.title : "Something broke"} action={retry} tone="fail">
      <p>{error.message}</p>
    </Notice>
  );
}
