import type { ReactNode } from "react";
import styles from "./Notice.module.css";

type NoticeProps = { title: string; children?: ReactNode; action?: ReactNode; tone?: "plain" | "fail" };

/** Shown instead of content: nothing yet, no match, not allowed, or an error. */
export function Notice({ title, children, action, tone = "plain" }: NoticeProps) {
  return (
    <div className={styles.state} data-tone={tone} role={tone === "fail" ? "alert" : undefined}>
      <h2>{title}</h2>
      {children && <div className={styles.text}>{children}</div>}
      {action && <div className={styles.action}>{action}</div>}
    </div>
  );
}

/** Shown while data loads; only after a moment, so that fast answers do not flicker. */
export function LoadingNotice({ what }: { what: string }) {
  return (
    <div className={styles.waiting} role="status">
      <span className={styles.lines} aria-hidden="true">
        <span />
        <span />
        <span />
      </span>
      <span className={styles.what}>Loading {what}…</span>
    </div>
  );
}
