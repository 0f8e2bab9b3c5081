import type { ReactNode } from "react";
import styles from "./Table.module.css";

export type Column<Row> = {
  name: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  /** Numbers stand at the end, so that digits are above digits. */
  align?: "end";
  /** Left out where there is little room. */
  wide?: boolean;
  /** Which way rows are sorted by it, where they can be. */
  sorted?: "ascending" | "descending" | "none";
};

type TableProps<Row> = {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
};

/** Rows of one kind. The first column says what a row is about. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <div className={styles.frame}>
      <table className={styles.table}>
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
                {it.head}
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
