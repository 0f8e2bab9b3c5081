import type { ReactNode } from "react";
import styles from "./Badge.module.css";

export type Status = "pass" | "fail" | "error" | "deferred";

const SIGNS: Record<Status, string> = { pass: "✓", fail: "✕", error: "!", deferred: "–" };

/** A short label with a background. */
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

/** A verdict as a sign and a word, so that it can be read without colours. */
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
