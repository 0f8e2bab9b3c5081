import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import type { Contract } from "../api/client";
import { useProject } from "../api/session";
import { StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { count, plural, score } from "../ui/format";
import type { KeyGroup } from "../ui/KeyHelp";
import { Notice } from "../ui/Notice";
import { type VirtualColumn, VirtualTable } from "../ui/VirtualTable";
import {
  type AnswerGrid,
  buildAnswerGrid,
  filterGridRows,
  type GridColumn,
  type GridOnly,
  type GridRow,
  verdictsDiffer,
} from "./answerGrid";
import { CaseName } from "./CaseName";
import type { CaseOutcome } from "./CaseStrip";
import { describeLabels, groupLabels } from "./labelAgreement";
import {
  ANSWER_PAGE,
  answerPageQuery,
  type RunAnswer,
  type RunInFull,
  type RunLabel,
  resultQuery,
  runLabelsQuery,
} from "./queries";
import styles from "./RunAnswers.module.css";

/** The answers of all cases side by side: a row for each case, a column for each prompt and model. */
export function RunAnswers({ run, outcomes }: { run: RunInFull; outcomes: CaseOutcome[] }) {
  const search = useSearch({ from: "/p/$project/runs/$run" });
  const navigate = useNavigate({ from: "/p/$project/runs/$run" });
  const grid = useMemo(() => buildAnswerGrid(outcomes), [outcomes]);
  const rows = useMemo(
    () => filterGridRows(grid.rows, search.find ?? "", search.only),
    [grid, search.find, search.only],
  );
  const set = (change: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  if (outcomes.length === 0) {
    return (
      <Notice title="No case is graded yet">
        <p>Answers appear here as they are graded.</p>
      </Notice>
    );
  }
  return (
    <div className={styles.view}>
      <GridFilter
        grid={grid}
        nShown={rows.length}
        find={search.find ?? ""}
        only={search.only}
        onChange={set}
      />
      {rows.length === 0 ? (
        <Notice
          title="No matching cases"
          action={<Button onClick={() => set({ find: undefined, only: undefined })}>Show all cases</Button>}
        />
      ) : (
        <AnswerTable run={run} columns={grid.columns} rows={rows} outcomes={outcomes} />
      )}
    </div>
  );
}

type GridFilterProps = {
  grid: AnswerGrid;
  nShown: number;
  find: string;
  only: GridOnly | undefined;
  onChange: (change: { find?: string; only?: GridOnly }) => void;
};

function GridFilter({ grid, nShown, find, only, onChange }: GridFilterProps) {
  const nFailed = useMemo(() => filterGridRows(grid.rows, "", "failed").length, [grid]);
  const nDiffer = useMemo(() => grid.rows.filter(verdictsDiffer).length, [grid]);
  const choices: { name: GridOnly; label: string; n: number }[] = [
    { name: "failed", label: "Failed", n: nFailed },
    { name: "differs", label: "Verdicts differ", n: nDiffer },
  ];
  return (
    <search className={styles.filter} aria-label="Filter answers">
      <input
        type="search"
        aria-label="Find a case"
        placeholder="Find a case"
        value={find}
        onChange={(event) => onChange({ find: event.target.value || undefined })}
      />
      {choices.map(({ name, label, n }) => (
        <Button
          key={name}
          look="quiet"
          aria-pressed={only === name}
          disabled={n === 0}
          onClick={() => onChange({ only: only === name ? undefined : name })}
        >
          {label} {count(n)}
        </Button>
      ))}
      <span className={styles.count} role="status">
        {count(nShown)} of {plural(grid.rows.length, "case")}
      </span>
    </search>
  );
}

const KEYS: KeyGroup = {
  title: "Answers",
  keys: [
    { keys: ["↑", "↓", "←", "→"], does: "next, previous case and column" },
    { keys: ["Enter"], does: "show the full answer, or its beginning" },
    { keys: ["o"], does: "open the scorecard" },
  ],
};

const keyOfRow = (row: GridRow): number => row.cells.find((cell) => cell)?.place ?? -1;

/** The height of a row with four lines of an answer, in pixels. */
const ROW_HEIGHT = 130;

const NO_LABELS: RunLabel[] = [];

type AnswerTableProps = {
  run: RunInFull;
  columns: GridColumn[];
  rows: GridRow[];
  outcomes: CaseOutcome[];
};

function AnswerTable({ run, columns, rows, outcomes }: AnswerTableProps) {
  const project = useProject();
  const navigate = useNavigate({ from: "/p/$project/runs/$run" });
  const labels = useQuery(runLabelsQuery(project.id, run.id));
  const ofPlace = useMemo(() => groupLabels(labels.data ?? []), [labels.data]);
  const nKnown = useMemo(() => countByPage(outcomes), [outcomes]);
  const [expanded, setExpanded] = useState<ReadonlySet<number>>(new Set());
  const toggle = useCallback((place: number) => {
    setExpanded((before) => {
      const after = new Set(before);
      if (!after.delete(place)) after.add(place);
      return after;
    });
  }, []);
  const onKey = (key: string, row: GridRow, column: number): boolean => {
    const cell = row.cells[column - 1];
    if (!cell) return false;
    if (key === "Enter") toggle(cell.place);
    else if (key === "o") {
      navigate({ search: (before) => ({ ...before, view: undefined, case: cell.place }) });
    } else return false;
    return true;
  };
  const describe = (row: GridRow, column: number): string =>
    column === 0 ? row.name : describeCell(row, columns[column - 1], row.cells[column - 1]);
  const shown: VirtualColumn<GridRow>[] = [
    { name: "case", head: "Case", width: 14, cell: (row) => <CaseName name={row.name} /> },
    ...columns.map(
      (column, at): VirtualColumn<GridRow> => ({
        name: `${at}`,
        head: <AnswerColumnHead column={column} />,
        width: 22,
        cell: ({ cells }) => {
          const cell = cells[at];
          if (!cell) return <span className={styles.soft}>no case</span>;
          return (
            <AnswerCell
              run={run.id}
              outcome={cell}
              nKnown={nKnown.get(pageOf(cell.place)) ?? 0}
              labels={ofPlace.get(cell.place) ?? NO_LABELS}
              isExpanded={expanded.has(cell.place)}
              onToggle={toggle}
            />
          );
        },
      }),
    ),
  ];
  return (
    <VirtualTable
      caption="Answers"
      columns={shown}
      rows={rows}
      keyOf={keyOfRow}
      rowHeight={ROW_HEIGHT}
      onKey={onKey}
      describe={describe}
      keys={KEYS}
    />
  );
}

const pageOf = (place: number): number => Math.floor(place / ANSWER_PAGE);

/** The number of results on each page of answers; a page is loaded again when it has more. */
function countByPage(outcomes: CaseOutcome[]): Map<number, number> {
  const found = new Map<number, number>();
  for (const { place } of outcomes) found.set(pageOf(place), (found.get(pageOf(place)) ?? 0) + 1);
  return found;
}

const describeCell = (row: GridRow, column: GridColumn | undefined, cell: CaseOutcome | undefined): string =>
  [row.name, column?.name, cell ? `${cell.status}, score ${score(cell.score)}` : "no case"]
    .filter(Boolean)
    .join(", ");

function AnswerColumnHead({ column }: { column: GridColumn }) {
  return (
    <span className={styles.head}>
      <b>{column.name || "Answer"}</b>
      <span>
        {count(column.nPassed)} of {count(column.n)} passed
      </span>
    </span>
  );
}

type AnswerCellProps = {
  run: string;
  outcome: CaseOutcome;
  nKnown: number;
  labels: RunLabel[];
  isExpanded: boolean;
  onToggle: (place: number) => void;
};

/** Longer answers do not fit into a cell. */
const LONG = 240;

function AnswerCell({ run, outcome, nKnown, labels, isExpanded, onToggle }: AnswerCellProps) {
  const project = useProject();
  const { place } = outcome;
  const { data, error } = useQuery({
    ...answerPageQuery(project.id, run, pageOf(place), nKnown),
    select: (answers) => answers.find((answer) => answer.place === place) ?? null,
  });
  const isLong = data?.answer != null && (data.is_cut || data.answer.length > LONG || isTall(data.answer));
  return (
    <div className={styles.cell}>
      <div className={styles.verdict}>
        <StatusBadge status={outcome.status} /> <span>{score(outcome.score)}</span>
        {labels.length > 0 && <span className={styles.soft}>{describeLabels(labels)}</span>}
        {/* Keys of the table open it; a link per cell would make the way past the table long. */}
        <Link
          from="/p/$project/runs/$run"
          search={(before) => ({ ...before, view: undefined, case: place })}
          className={styles.open}
          tabIndex={-1}
        >
          Scorecard
        </Link>
      </div>
      <AnswerBody run={run} answer={data} error={error} isExpanded={isExpanded} />
      {isLong && (
        <Button look="link" tabIndex={-1} aria-expanded={isExpanded} onClick={() => onToggle(place)}>
          {isExpanded ? "Show less" : "Show all"}
        </Button>
      )}
    </div>
  );
}

const isTall = (text: string): boolean => text.split("\n", 5).length > 4;

type AnswerBodyProps = {
  run: string;
  answer: RunAnswer | null | undefined;
  error: Error | null;
  isExpanded: boolean;
};

function AnswerBody({ run, answer, error, isExpanded }: AnswerBodyProps) {
  if (error) return <p className={styles.soft}>The answer could not be loaded: {error.message}.</p>;
  if (answer === undefined) return <p className={styles.soft}>Loading…</p>;
  if (answer?.answer == null) return <p className={styles.soft}>The run holds no answer.</p>;
  if (isExpanded && answer.is_cut) return <FullAnswer run={run} answer={answer} />;
  return <CellText text={answer.is_cut ? `${answer.answer}…` : answer.answer} isExpanded={isExpanded} />;
}

/** The answer as its result has it. */
function FullAnswer({ run, answer }: { run: string; answer: RunAnswer }) {
  const project = useProject();
  const found = useQuery(resultQuery(project.id, run, answer.place));
  const result = found.data?.result as Contract["CaseResult"] | undefined;
  const text = result?.material?.response ?? result?.material?.diff;
  return <CellText text={text || `${answer.answer ?? ""}…`} isExpanded />;
}

function CellText({ text, isExpanded }: { text: string; isExpanded: boolean }) {
  return (
    <p dir="auto" className={styles.text} data-cut={!isExpanded || undefined}>
      {text}
    </p>
  );
}
