import type { ReactNode } from "react";
import styles from "./KeyFigures.module.css";

/** A figure: its name, its value and an addition beside it. */
export type Figure = { name: ReactNode; value: ReactNode; more?: ReactNode };

/** The most important figures of a page, each above its name. */
export function KeyFigures({ all }: { all: Figure[] }) {
  return (
    <dl className={styles.numbers}>
      {all.map((it, at) => (
        <div key={at}>
          <dt>{it.name}</dt>
          <dd>
            <b>{it.value}</b> {it.more}
          </dd>
        </div>
      ))}
    </dl>
  );
}
