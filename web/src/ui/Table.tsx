import { type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./Table.module.css";
import { type Explanation, Term } from "./Term";

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
};

/** Whether an element is wider than its place. */
function useScrolling() {
  const frame = useRef<HTMLDivElement>(null);
  const [isScrolling, setScrolling] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const look = () => setScrolling(element.scrollWidth > element.clientWidth);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    for (const inner of element.children) observer.observe(inner);
    return () => observer.disconnect();
  }, []);
  return [frame, isScrolling] as const;
}

/** A table. The first column names the row. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  const [frame, isScrolling] = useScrolling();
  return (
    <div
      ref={frame}
      className={styles.frame}
      // Keys scroll what has the focus; a table that fits needs none.
      {...(isScrolling && { tabIndex: 0, role: "group", "aria-label": caption })}
    >
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
                {it.about ? (
                  <Term about={it.about} entry={it.entry} book={it.book}>
                    {it.head}
                  </Term>
                ) : (
                  it.head
                )}
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
