// Where keys lead in a table with a current cell.

/** A cell of a table, from 0; the heads of rows are column 0. */
export type GridPlace = { row: number; column: number };

/** Rows that Page Up and Page Down move by. */
const PAGE = 8;

/** Where a key leads from a cell; undefined for keys that do not move. Only some columns may be shown. */
export function moveInGrid(
  { row, column: current }: GridPlace,
  key: string,
  { nRows, columns }: { nRows: number; columns: number[] },
): GridPlace | undefined {
  // A column that is hidden now counts as the first one.
  const column = Math.max(0, columns.indexOf(current));
  const to: Record<string, GridPlace> = {
    ArrowDown: { row: row + 1, column },
    ArrowUp: { row: row - 1, column },
    ArrowRight: { row, column: column + 1 },
    ArrowLeft: { row, column: column - 1 },
    PageDown: { row: row + PAGE, column },
    PageUp: { row: row - PAGE, column },
    Home: { row: 0, column },
    End: { row: nRows - 1, column },
  };
  const next = to[key];
  if (!next) return undefined;
  const within = (value: number, n: number) => Math.max(0, Math.min(n - 1, value));
  return { row: within(next.row, nRows), column: columns[within(next.column, columns.length)] ?? 0 };
}
