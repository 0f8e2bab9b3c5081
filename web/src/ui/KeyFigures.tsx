import type { ReactNode } from "react";
import styles from "./KeyFigures.module.css";

/** A figure: what it is, how much, and what else is said beside it. */
export type Figure = { name: ReactNode; value: ReactNode; more?: ReactNode };

/** A few figures that are read first, each above its name. */
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
