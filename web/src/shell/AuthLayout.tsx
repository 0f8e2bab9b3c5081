import type { ReactNode } from "react";
import styles from "./AuthLayout.module.css";

type AuthLayoutProps = { title: string; after?: ReactNode; children: ReactNode };

/** Frame of the pages for people who are not signed in. */
export function AuthLayout({ title, after, children }: AuthLayoutProps) {
  return (
    <main className={styles.door}>
      <div className={styles.about}>
        <div className={styles.word}>Jurist</div>
        <p className={styles.motto}>One rubric, every judge.</p>
      </div>
      <div className={styles.form}>
        <h1>{title}</h1>
        {children}
        {after && <p className={styles.after}>{after}</p>}
      </div>
    </main>
  );
}
