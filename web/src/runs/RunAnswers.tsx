import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type MouseEvent, useCallback, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Contract } from "../api/client";
import { useProject } from "../api/session";
import { scoreText } from "../chart/figures";
import { ScaledScore } from "../chart/ScaledScore";
import { StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { count, plural } from "../ui/format";
import type { KeyGroup } from "../ui/KeyHelp";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { useOverflow } from "../ui/useOverflow";
import { type VirtualColumn, VirtualTable } from "../ui/VirtualTable";
import {
  type AnswerGrid,
  type AnswerHashes,
  answerOf,
  buildAnswerGrid,
  filterGridRows,
  type GridColumn,
  type GridOnly,
  type GridRow,
} from "./answerGrid";
import { type CaseChoice, CaseFilter } from "./CaseFilter";
import { CaseName } from "./CaseName";
import type { CaseOutcome } from "./CaseStrip";
import { describeLabels, groupLabels } from "./labelAgreement";
import {
  ANSWER_PAGE,
  answerHashesQuery,
  answerPageQuery,
  type RunAnswer,
  type RunInFull,
  type RunLabel,
  resultQuery,
  runLabelsQuery,
} from "./queries";
import styles from "./RunAnswers.module.css";
import type { RunSearch } from "./search";

/** The answers of all cases side by side: a row for each case, a column for each prompt and model. */
export function RunAnswers({ run, outcomes }: { run: RunInFull; outcomes: CaseOutcome[] }) {
  const project = useProject();
  const { find = "", only } = useSearch({ from: "/p/$project/runs/$run" });
  const navigate = useNavigate({ from: "/p/$project/runs/$run" });
  const grid = useMemo(() => buildAnswerGrid(outcomes), [outcomes]);
  // All pages of answers are loaded, so only when they are compared.
  const hashes = useQuery({
    ...answerHashesQuery(project.id, run.id, run.ended != null),
    enabled: only === "answers",
  });
  const rows = useMemo(
    () => filterGridRows(grid.rows, { find, only, hashes: hashes.data }),
    [grid, find, only, hashes.data],
  );
  const choices = useMemo(() => choicesOf(grid, hashes.data), [grid, hashes.data]);
  const set = (change: Partial<RunSearch>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const table =
    rows.length === 0 ? (
      <Notice
        title="No matching cases"
        action={<Button onClick={() => set({ find: undefined, only: undefined })}>Show all cases</Button>}
      />
    ) : (
      <AnswerTable run={run} columns={grid.columns} rows={rows} outcomes={outcomes} />
    );
  const hasTrials = outcomes.some((outcome) => outcome.trial != null);
  const isComparing = only === "answers" && hashes.data === undefined;
  return (
    <div className={styles.view}>
      <CaseFilter
        label="Filter answers"
        find={find}
        onFind={(typed) => set({ find: typed })}
        choices={choices}
        chosen={only}
        onChoose={(chosen) => set({ only: chosen })}
      >
        <span className={styles.count} role="status">
          {!isComparing && (
            <>
              {count(rows.length)} of {plural(grid.rows.length, hasTrials ? "row" : "case")}
            </>
          )}
        </span>
      </CaseFilter>
      {only === "answers" ? (
        <Loaded query={hashes} what="all answers">
          {() => table}
        </Loaded>
      ) : (
        table
      )}
    </div>
  );
}

/** Columns can differ only where there are two of them. */
function choicesOf(grid: AnswerGrid, hashes: AnswerHashes | undefined): CaseChoice<GridOnly>[] {
  const countRows = (only: GridOnly) => filterGridRows(grid.rows, { find: "", only, hashes }).length;
  const failed = { name: "failed" as const, label: "Failed or error", n: countRows("failed") };
  if (grid.columns.length < 2) return [failed];
  return [
    failed,
    { name: "verdicts", label: "Verdicts differ", n: countRows("verdicts") },
    { name: "answers", label: "Answers differ", n: hashes && countRows("answers") },
  ];
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
    column === 0 ? row.name : describeCell(row, columns[column - 1], row.cells[column - 1], run.scale);
  const shown: VirtualColumn<GridRow>[] = [
    { name: "case", head: "Case", width: 13, cell: (row) => <CaseName {...row.tagged} /> },
    ...columns.map(
      (column, at): VirtualColumn<GridRow> => ({
        name: `${at}`,
        head: <AnswerColumnHead column={column} />,
        // Four columns fit beside each other on a wide screen, and one beside the name on a phone.
        width: columns.length > 3 ? 16 : 20,
        cell: ({ cells }) => {
          const cell = cells[at];
          if (!cell) return <span className={styles.soft}>no case</span>;
          return (
            <AnswerCell
              run={run}
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

const describeCell = (
  row: GridRow,
  column: GridColumn | undefined,
  cell: CaseOutcome | undefined,
  scale: RunInFull["scale"],
): string =>
  [
    row.name,
    column?.name,
    cell ? cell.status : "no case",
    cell && cell.score !== null && `score ${scoreText(cell.score, scale, 2)}`,
  ]
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
  run: Pick<RunInFull, "id" | "scale">;
  outcome: CaseOutcome;
  nKnown: number;
  labels: RunLabel[];
  isExpanded: boolean;
  onToggle: (place: number) => void;
};

export function AnswerCell({ run, outcome, nKnown, labels, isExpanded, onToggle }: AnswerCellProps) {
  const project = useProject();
  const { place } = outcome;
  const { data, error, isPlaceholderData } = useQuery({
    ...answerPageQuery(project.id, run.id, pageOf(place), nKnown),
    select: (answers) => answers.find((answer) => answer.place === place) ?? null,
  });
  // A page that was loaded before this result arrived does not have its answer yet.
  const answer = data === null && isPlaceholderData ? undefined : data;
  return (
    <div className={styles.cell}>
      <div className={styles.verdict}>
        <StatusBadge status={outcome.status} />{" "}
        <span>
          <ScaledScore mean={outcome.score} scale={run.scale} isMinor digits={2} />
        </span>
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
      <AnswerBody
        run={run.id}
        answer={answer}
        error={error}
        isExpanded={isExpanded}
        onToggle={() => onToggle(place)}
      />
    </div>
  );
}

type AnswerBodyProps = {
  run: string;
  answer: RunAnswer | null | undefined;
  error: Error | null;
  isExpanded: boolean;
  onToggle: () => void;
};

function AnswerBody({ run, answer, error, isExpanded, onToggle }: AnswerBodyProps) {
  if (answer === undefined) {
    return (
      <p className={styles.soft}>
        {error ? `The answer could not be loaded: ${error.message}.` : "Loading…"}
      </p>
    );
  }
  if (answer?.answer == null) return <p className={styles.soft}>The answer is not stored in the run.</p>;
  return isExpanded && answer.is_cut ? (
    <FullAnswer run={run} answer={answer} onToggle={onToggle} />
  ) : (
    <CellText
      text={answer.is_cut ? `${answer.answer}…` : answer.answer}
      isExpanded={isExpanded}
      onToggle={onToggle}
    />
  );
}

type FullAnswerProps = { run: string; answer: RunAnswer; onToggle: () => void };

/** The answer as its result has it. */
function FullAnswer({ run, answer, onToggle }: FullAnswerProps) {
  const project = useProject();
  const { data, error } = useQuery(resultQuery(project.id, run, answer.place));
  const result = data?.result as Contract["CaseResult"] | undefined;
  return (
    <>
      <CellText text={answerOf(result?.material) ?? `${answer.answer}…`} isExpanded onToggle={onToggle} />
      {error && <p className={styles.soft}>The rest could not be loaded: {error.message}.</p>}
    </>
  );
}

type CellTextProps = { text: string; isExpanded: boolean; onToggle: () => void };

/** The first lines of a text, or all of it. */
function CellText({ text, isExpanded, onToggle }: CellTextProps) {
  const paragraph = useRef<HTMLParagraphElement>(null);
  const isCut = useOverflow(paragraph, "block");
  const toggle = (event: MouseEvent<HTMLButtonElement>) => {
    const cell = event.currentTarget.closest("td");
    flushSync(onToggle);
    // The button stands at the end of a long answer: without this, the row that becomes short is out of view.
    if (isExpanded) cell?.scrollIntoView({ block: "nearest" });
  };
  return (
    <>
      <p ref={paragraph} dir="auto" className={styles.text} data-cut={!isExpanded || undefined}>
        {text}
      </p>
      {(isExpanded || isCut) && (
        <Button look="link" tabIndex={-1} aria-expanded={isExpanded} onClick={toggle}>
          {isExpanded ? "Show less" : "Show all"}
        </Button>
      )}
    </>
  );
}
