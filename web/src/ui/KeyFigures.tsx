import type { ReactNode } from "react";
import styles from "./KeyFigures.module.css";
import { Explained, type Explanation } from "./Term";

/** A figure: its name, its value and an addition beside it. `about` explains it. */
export type Figure = Partial<Explanation> & { name: ReactNode; value: ReactNode; more?: ReactNode };

/** The most important figures of a page, each above its name. */
export function KeyFigures({ all }: { all: Figure[] }) {
  return (
    <dl className={styles.numbers}>
      {all.map((it, at) => (
        <div key={at}>
          <dt>
            <Explained about={it.about} entry={it.entry} book={it.book}>
              {it.name}
            </Explained>
          </dt>
          <dd>
            <b>{it.value}</b> {it.more}
          </dd>
        </div>
      ))}
    </dl>
  );
}
