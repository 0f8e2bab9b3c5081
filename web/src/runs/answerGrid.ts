// The cases of a run as a grid: a row for each case, a column for each prompt, target and model.
import { splitCaseName } from "./CaseName";
import type { CaseOutcome } from "./CaseStrip";

export type GridColumn = {
  /** Prompt, target and model, as they are in the names of cases. */
  name: string;
  nPassed: number;
  /** Number of cases that have a result in this column. */
  n: number;
};

export type GridRow = {
  name: string;
  /** One place per column; undefined where the case has no result in it. */
  cells: (CaseOutcome | undefined)[];
};

export type AnswerGrid = { columns: GridColumn[]; rows: GridRow[] };

/** Which rows are shown: with a failed cell, or with verdicts that differ. */
export type GridOnly = "failed" | "differs";

/** More columns than that are not brackets of a matrix, but parts of names. */
const MOST_COLUMNS = 60;

/** A row of a data file and a trial are other cases, not other columns. */
const isOfCase = (tag: string): boolean => /^row \d+$/.test(tag) || /^trial \d+ of \d+$/.test(tag);

type Placed = { outcome: CaseOutcome; row: string; column: string };

function placeInGrid(outcome: CaseOutcome): Placed {
  const { base, tags } = splitCaseName(outcome.case);
  const column = tags.filter((tag) => !isOfCase(tag)).join(" · ");
  const row = [base, ...tags.filter(isOfCase).map((tag) => `[${tag}]`)].join(" ");
  return { outcome, row, column };
}

export function buildAnswerGrid(outcomes: CaseOutcome[]): AnswerGrid {
  const placed = outcomes.toSorted((a, b) => a.place - b.place).map(placeInGrid);
  const names = [...new Set(placed.map((it) => it.column))];
  const nRows = new Set(placed.map((it) => it.row)).size;
  // Brackets of a matrix repeat a case in several columns.
  const isMatrix = names.length > 1 && names.length <= MOST_COLUMNS && nRows < placed.length;
  return isMatrix ? buildMatrixGrid(placed, names) : buildListGrid(placed);
}

function buildListGrid(placed: Placed[]): AnswerGrid {
  const rows = placed.map(({ outcome }) => ({ name: outcome.case, cells: [outcome] }));
  const nPassed = placed.filter(({ outcome }) => outcome.status === "pass").length;
  return { columns: [{ name: "", nPassed, n: placed.length }], rows };
}

function buildMatrixGrid(placed: Placed[], names: string[]): AnswerGrid {
  const columns = names.map((name) => ({ name, nPassed: 0, n: 0 }));
  const at = new Map(names.map((name, nth) => [name, nth]));
  const rows = new Map<string, GridRow>();
  for (const { outcome, row: name, column } of placed) {
    const nth = at.get(column) ?? 0;
    // Two cases with one name: the second gets a row of its own.
    let key = name;
    for (let n = 2; rows.get(key)?.cells[nth]; n += 1) key = `${name} (${n})`;
    const row: GridRow = rows.get(key) ?? { name: key, cells: names.map(() => undefined) };
    row.cells[nth] = outcome;
    rows.set(key, row);
    const head = columns[nth];
    if (!head) continue;
    head.n += 1;
    if (outcome.status === "pass") head.nPassed += 1;
  }
  return { columns, rows: [...rows.values()] };
}

const isFailed = (cell: CaseOutcome | undefined): boolean =>
  cell?.status === "fail" || cell?.status === "error";

/** Whether two columns have different verdicts; a case without a result has none. */
export const verdictsDiffer = ({ cells }: GridRow): boolean =>
  new Set(cells.flatMap((cell) => (cell ? [cell.status] : []))).size > 1;

export function filterGridRows(rows: GridRow[], find: string, only: GridOnly | undefined): GridRow[] {
  const wanted = find.trim().toLowerCase();
  return rows.filter(
    (row) =>
      row.name.toLowerCase().includes(wanted) &&
      (only !== "failed" || row.cells.some(isFailed)) &&
      (only !== "differs" || verdictsDiffer(row)),
  );
}
