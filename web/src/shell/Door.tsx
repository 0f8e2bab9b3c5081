import type { ReactNode } from "react";
import { ServerGone } from "../api/client";
import styles from "./Door.module.css";

type DoorProps = { title: string; onSubmit?: () => void; after?: ReactNode; children: ReactNode };

/** A page for those who are not in yet. */
export function Door({ title, onSubmit, after, children }: DoorProps) {
  return (
    <main className={styles.door}>
      <div className={styles.about}>
        <div className={styles.word}>Jurist</div>
        <p className={styles.motto}>One rubric, every judge.</p>
      </div>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <h1>{title}</h1>
        {children}
        {after && <p className={styles.after}>{after}</p>}
      </form>
    </main>
  );
}

export function Fault({ error }: { error: Error | null }) {
  if (!error) return null;
  const text =
    error instanceof ServerGone ? "The server does not answer. Try again in a moment." : error.message;
  return (
    <p role="alert" className={styles.fault}>
      {text.charAt(0).toUpperCase() + text.slice(1)}
    </p>
  );
}
