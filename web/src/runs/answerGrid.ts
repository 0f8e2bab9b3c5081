// The cases of a run as a grid: a row for each case, a column for each prompt, target and model.
import type { Contract } from "../api/client";
import { type TaggedName, tagName, tagTaskName } from "./CaseName";
import type { CaseOutcome } from "./CaseStrip";

export type GridColumn = {
  /** Prompt, target and model, as they are in the names of cases. */
  name: string;
  nPassed: number;
  /** Number of cases that have a result in this column. */
  n: number;
};

export type GridRow = {
  /** The name with its tags in brackets. */
  name: string;
  tagged: TaggedName;
  /** One place per column; undefined where the case has no result in it. */
  cells: (CaseOutcome | undefined)[];
};

export type AnswerGrid = { columns: GridColumn[]; rows: GridRow[] };

/** Which rows are shown: with a failed cell, with verdicts that differ, or with answers that differ. */
export type GridOnly = "failed" | "verdicts" | "answers";

/** A table with more columns cannot be read; the cases are listed instead. */
const MOST_COLUMNS = 60;

type Placed = { outcome: CaseOutcome; row: string; column: string };

const joinTags = ({ base, tags }: TaggedName): string => [base, ...tags.map((tag) => `[${tag}]`)].join(" ");

/** A row of a data file and a trial are other rows of the grid, not other columns. */
function placeInGrid(outcome: CaseOutcome): Placed {
  return {
    outcome,
    row: joinTags(tagTaskName(outcome)),
    column: outcome.parts?.variant?.join(" · ") ?? "",
  };
}

export function buildAnswerGrid(outcomes: CaseOutcome[]): AnswerGrid {
  const placed = outcomes.toSorted((a, b) => a.place - b.place).map(placeInGrid);
  const names = [...new Set(placed.map((it) => it.column))];
  const nRows = new Set(placed.map((it) => it.row)).size;
  // A matrix repeats a case in several columns.
  const isMatrix = names.length > 1 && names.length <= MOST_COLUMNS && nRows < placed.length;
  return isMatrix ? buildMatrixGrid(placed, names) : buildListGrid(placed);
}

function buildListGrid(placed: Placed[]): AnswerGrid {
  const rows = placed.map(({ outcome }) => {
    return { name: outcome.case, tagged: tagName(outcome), cells: [outcome] };
  });
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
    const row: GridRow = rows.get(key) ?? {
      name: key,
      tagged: key === name ? tagTaskName(outcome) : { base: key, tags: [] },
      cells: names.map(() => undefined),
    };
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

/** Hashes of the answers of a run by place: equal answers have equal hashes. */
export type AnswerHashes = ReadonlyMap<number, string>;

/** Whether two columns have different answers, whatever their verdicts; a case without an answer has none. */
export const answersDiffer = ({ cells }: GridRow, hashes: AnswerHashes): boolean =>
  new Set(cells.flatMap((cell) => (cell ? (hashes.get(cell.place) ?? []) : []))).size > 1;

type GridFilter = { find: string; only: GridOnly | undefined; hashes?: AnswerHashes };

const NO_HASHES: AnswerHashes = new Map();

export function filterGridRows(rows: GridRow[], { find, only, hashes = NO_HASHES }: GridFilter): GridRow[] {
  const wanted = find.trim().toLowerCase();
  return rows.filter(
    (row) =>
      row.name.toLowerCase().includes(wanted) &&
      (only !== "failed" || row.cells.some(isFailed)) &&
      (only !== "verdicts" || verdictsDiffer(row)) &&
      (only !== "answers" || answersDiffer(row, hashes)),
  );
}

/** The answer of a result, as the server chooses it: the response, the last words of the trace, or the diff. */
export function answerOf(material: Contract["JudgeInput"] | undefined): string | undefined {
  const lastWords = material?.trace?.steps?.findLast(
    ({ role = "assistant", depth = 0, text }) => role === "assistant" && depth === 0 && text,
  )?.text;
  return (material?.response ?? lastWords) || material?.diff || undefined;
}
