import { type ReactNode, useRef } from "react";
import styles from "./Table.module.css";
import { Explained, type Explanation } from "./Term";
import { useOverflow } from "./useOverflow";

/** A column; `about` explains its figures. */
export type Column<Row> = Partial<Explanation> & {
  name: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  /** Numbers are aligned at the end, so that digits are above digits. */
  align?: "end";
  /** Hidden on narrow screens. */
  wide?: boolean;
  /** The direction in which rows are sorted by this column. */
  sorted?: "ascending" | "descending" | "none";
};

type TableProps<Row> = {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  /** On narrow screens the name of a row is above its cells, each of which has its head in front of it. */
  stacked?: boolean;
};

/** A table. The first column names the row. */
export function Table<Row>({ caption, columns, rows, keyOf, stacked }: TableProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  const isScrolling = useOverflow(frame, "inline");
  return (
    <div
      ref={frame}
      className={styles.frame}
      // Keys scroll what has the focus; a table that fits needs none.
      {...(isScrolling && { tabIndex: 0, role: "group", "aria-label": caption })}
    >
      <table className={styles.table} data-stacked={stacked || undefined}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((it) => (
              <th
                key={it.name}
                scope="col"
                aria-sort={it.sorted}
                data-align={it.align}
                data-wide={it.wide || undefined}
              >
                <Explained about={it.about} entry={it.entry} book={it.book}>
                  {it.head}
                </Explained>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((it, at) => {
                const Cell = at === 0 ? "th" : "td";
                return (
                  <Cell
                    key={it.name}
                    scope={at === 0 ? "row" : undefined}
                    data-align={it.align}
                    data-wide={it.wide || undefined}
                    data-head={stacked && at > 0 && typeof it.head === "string" ? it.head : undefined}
                  >
                    {it.cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
