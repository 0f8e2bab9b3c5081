import type { ReactNode } from "react";
import styles from "./Badge.module.css";

export type Status = "pass" | "fail" | "error" | "deferred";

const SIGNS: Record<Status, string> = { pass: "✓", fail: "✕", error: "!", deferred: "–" };

/** A word that stands out a little. */
export function Badge({
  tone = "plain",
  children,
}: {
  tone?: Status | "plain" | "accent";
  children: ReactNode;
}) {
  return (
    <span className={styles.badge} data-tone={tone}>
      {children}
    </span>
  );
}

/** What a verdict says: a sign and a word, so that no colour has to be seen. */
export function StatusBadge({ status }: { status: Status }) {
  return (
    <Badge tone={status}>
      <span aria-hidden="true" className={styles.sign}>
        {SIGNS[status]}
      </span>
      {status}
    </Badge>
  );
}
