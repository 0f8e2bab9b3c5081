import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { type GridPlace, moveInGrid } from "./gridKeys";
import { type KeyGroup, useKeyHelp } from "./KeyHelp";
import { Explained, type Explanation } from "./Term";
import styles from "./VirtualTable.module.css";

/** A column; `about` explains its figures. */
export type VirtualColumn<Row> = Partial<Explanation> & {
  name: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  /** In rem. On narrow screens columns are a third narrower. */
  width: number;
  /** Hidden on narrow screens. */
  wide?: boolean;
};

type VirtualTableProps<Row> = {
  caption: string;
  columns: VirtualColumn<Row>[];
  /** The loaded rows. */
  rows: Row[];
  /** The number of all rows, where some are not loaded yet. */
  total?: number;
  /** A constant function. */
  keyOf: (row: Row) => string | number;
  /** The height of a row before it is measured, in pixels. */
  rowHeight: number;
  /** The last loaded rows are close to the visible ones. */
  onNearEnd?: () => void;
  /** Keys on the current cell: Enter, and others by their name. */
  onKey: (key: string, row: Row, column: number) => boolean;
  /** The current cell in words, for screen readers. */
  describe: (row: Row, column: number) => string;
  /** Help for the keys; a constant. */
  keys: KeyGroup;
};

/** Rows that are drawn above and below the visible ones. */
const SPARE = 6;

/** A table of any length, of which only visible rows are drawn. The first column names the row. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { caption, columns, rows, total = rows.length, keyOf, rowHeight, onNearEnd } = props;
  const pane = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => pane.current,
    estimateSize: () => rowHeight,
    // Measured heights stay with their rows when others are filtered out. A new function measures all again.
    getItemKey: useCallback((at: number) => keyAt(rows, at, keyOf), [rows, keyOf]),
    overscan: SPARE,
    scrollPaddingStart: rowHeight,
  });
  const { current, hasMoved } = useCurrentCell(pane, props, {
    firstVisible: () => virtual.range?.startIndex ?? 0,
    scrollTo: (row) => virtual.scrollToIndex(row),
  });
  const visible = virtual.getVirtualItems();
  const last = visible.at(-1);
  // The end moves when rows are added, and may be near again.
  const nearEnd = last !== undefined && last.index >= rows.length - 2 * SPARE ? rows.length : undefined;
  useEffect(() => {
    if (nearEnd !== undefined) onNearEnd?.();
  }, [nearEnd, onNearEnd]);
  const width = widthOf(columns);
  const narrow = widthOf(columns.filter((column) => !column.wide));
  const row = rows[current.row];
  return (
    <>
      <div
        ref={pane}
        className={styles.pane}
        style={
          {
            "--wide": `${width}rem`,
            "--narrow": `${narrow}rem`,
            "--first": `${columns[0]?.width ?? 0}rem`,
          } as CSSProperties
        }
        tabIndex={0}
        role="group"
        aria-label={`${caption}, scrolling`}
      >
        <table className={styles.table} aria-rowcount={total + 1} aria-colcount={columns.length}>
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            <tr aria-rowindex={1}>
              {columns.map((column) => (
                <th
                  key={column.name}
                  scope="col"
                  data-wide={column.wide || undefined}
                  style={{ inlineSize: `calc(${column.width}rem * var(--scale))` }}
                >
                  <Explained about={column.about} entry={column.entry} book={column.book}>
                    {column.head}
                  </Explained>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <SpacerRow height={visible[0]?.start ?? 0} />
            {visible.map((item) => {
              const one = rows[item.index];
              if (one === undefined) return null;
              return (
                <tr
                  key={item.key}
                  ref={virtual.measureElement}
                  data-index={item.index}
                  aria-rowindex={item.index + 2}
                >
                  {columns.map((column, at) => {
                    const Cell = at === 0 ? "th" : "td";
                    const isCurrent = hasMoved && item.index === current.row && at === current.column;
                    return (
                      <Cell
                        key={column.name}
                        scope={at === 0 ? "row" : undefined}
                        data-wide={column.wide || undefined}
                        aria-current={isCurrent || undefined}
                      >
                        {column.cell(one)}
                      </Cell>
                    );
                  })}
                </tr>
              );
            })}
            <SpacerRow height={virtual.getTotalSize() - (last?.end ?? 0)} />
          </tbody>
        </table>
      </div>
      <p className="visually-hidden" role="status">
        {hasMoved && row !== undefined && props.describe(row, current.column)}
      </p>
    </>
  );
}

const widthOf = (columns: { width: number }[]): number =>
  columns.reduce((sum, column) => sum + column.width, 0);

function keyAt<Row>(rows: Row[], at: number, keyOf: (row: Row) => string | number): string | number {
  const row = rows[at];
  return row === undefined ? at : keyOf(row);
}

/** Takes the place of rows that are not drawn. */
function SpacerRow({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without content cannot get the focus.
    <tr aria-hidden="true" className={styles.spacer}>
      <td style={{ blockSize: height }} />
    </tr>
  );
}

type RowScroller = {
  /** The index of the first row in view. */
  firstVisible: () => number;
  scrollTo: (row: number) => void;
};

/** The cell that keys act on, and the keys while the table has the focus. A click makes its cell the current one. */
function useCurrentCell<Row>(
  pane: React.RefObject<HTMLDivElement | null>,
  { rows, columns, onKey, keys }: VirtualTableProps<Row>,
  { firstVisible, scrollTo }: RowScroller,
) {
  const [chosen, setChosen] = useState<GridPlace>();
  const isByKey = useRef(false);
  // A filter may have left fewer rows.
  const current = {
    row: Math.min(chosen?.row ?? 0, Math.max(0, rows.length - 1)),
    column: Math.min(chosen?.column ?? 0, columns.length - 1),
  };
  useKeyHelp(keys);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new cell is scrolled to once it is drawn as current.
  useEffect(() => {
    // A clicked cell is in view; moving it would take the pointer off it.
    if (!isByKey.current) return;
    isByKey.current = false;
    const cell = pane.current?.querySelector('[aria-current="true"]');
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen, pane]);
  useEffect(() => {
    const element = pane.current;
    if (!element) return;
    const onKeyDown = (event: KeyboardEvent) => {
      // Buttons and links inside have keys of their own.
      if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
      const next = moveInGrid(current, event.key, { nRows: rows.length, columns: shownColumns(element) });
      const row = rows[current.row];
      if (next) {
        isByKey.current = true;
        setChosen(next);
        scrollTo(next.row);
      } else if (row === undefined || !onKey(event.key, row, current.column)) return;
      event.preventDefault();
    };
    // Focus by keyboard marks the cell where keys start: the first one in view.
    const onFocus = () => {
      if (chosen === undefined && element.matches(":focus-visible"))
        setChosen({ row: firstVisible(), column: 0 });
    };
    const onClick = (event: MouseEvent) => {
      const place = placeOfCell(event.target);
      if (place) setChosen(place);
    };
    element.addEventListener("keydown", onKeyDown);
    element.addEventListener("focus", onFocus);
    element.addEventListener("click", onClick);
    return () => {
      element.removeEventListener("keydown", onKeyDown);
      element.removeEventListener("focus", onFocus);
      element.removeEventListener("click", onClick);
    };
  });
  return { current, hasMoved: chosen !== undefined };
}

/** Columns that are not hidden; narrow screens have no room for all. */
function shownColumns(pane: HTMLElement): number[] {
  const heads = [...pane.querySelectorAll<HTMLElement>("thead th")];
  return heads.flatMap((head, at) => (head.getClientRects().length > 0 ? [at] : []));
}

/** The place of the cell that contains an element; undefined outside of rows. */
function placeOfCell(target: EventTarget | null): GridPlace | undefined {
  const cell = target instanceof Element ? target.closest<HTMLTableCellElement>("th, td") : null;
  const row = cell?.closest<HTMLTableRowElement>("tr[data-index]");
  return cell && row ? { row: Number(row.dataset.index), column: cell.cellIndex } : undefined;
}
