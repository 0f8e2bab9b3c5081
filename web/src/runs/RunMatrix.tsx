import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { CSSProperties } from "react";
import { useProject } from "../api/session";
import { percent, percentRange, type Range } from "../chart/figures";
import { ScaledScore } from "../chart/ScaledScore";
import { Select } from "../ui/Field";
import { capitalize } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import type { CaseOutcome } from "./CaseStrip";
import { type Cell, type Matrix, matrixQuery, type RunInFull, resultQuery } from "./queries";
import styles from "./RunPage.module.css";

/** The name of a factor in words; empty without a factor. */
const labelOf = (matrix: Matrix, key: string | null | undefined): string =>
  matrix.keys.find((it) => it.key === key)?.label ?? key ?? "";

type MatrixRun = Pick<RunInFull, "id" | "scale">;
type RunMatrixProps = { run: MatrixRun; outcomes: CaseOutcome[] };

/** Models by prompts, or any other two factors of the cases. */
export function RunMatrix({ run, outcomes }: RunMatrixProps) {
  const project = useProject();
  const { rows, columns } = useSearch({ from: "/p/$project/runs/$run" });
  const found = useQuery(matrixQuery(project.id, run.id, { rows, columns }));
  return (
    <Loaded query={found} what="the matrix">
      {(it) =>
        it.rows.length === 0 ? (
          <Notice title="The cases have no factors to compare">
            <p>A suite with several models or prompts is shown here as a matrix.</p>
          </Notice>
        ) : (
          <div className={styles.view}>
            <MatrixAxes matrix={it} />
            <MatrixTable matrix={it} run={run} outcomes={outcomes} />
            <div className={styles.scale}>
              <span>Colour: mean score from 0</span>
              <span className={styles.ramp} aria-hidden="true" />
              <span>to 1.</span>
              <span>
                Each cell has the mean score (on the scale of the rubrics, where they share one, and from 0 to
                1) and the pass rate with 95 % confidence intervals, and passed cases.
              </span>
            </div>
          </div>
        )
      }
    </Loaded>
  );
}

function MatrixAxes({ matrix }: { matrix: Matrix }) {
  const navigate = useNavigate({ from: "/p/$project/runs/$run" });
  if (matrix.keys.length < 2) return null;
  const options = matrix.keys.map((it) => ({
    value: it.key,
    label: `${capitalize(it.label)} (${it.n_values})`,
  }));
  const set = (axes: { rows?: string; columns?: string }) =>
    navigate({ search: (before) => ({ ...before, ...axes }), replace: true, resetScroll: false });
  return (
    <search className={styles.axes} aria-label="Rows and columns">
      <Select
        label="Rows"
        value={matrix.rows_by ?? ""}
        options={options}
        onChange={(it) => set({ rows: it.target.value, columns: matrix.columns_by ?? undefined })}
      />
      <Select
        label="Columns"
        value={matrix.columns_by ?? ""}
        options={matrix.columns_by ? options : [{ value: "", label: "none" }, ...options]}
        onChange={(it) => set({ rows: matrix.rows_by ?? undefined, columns: it.target.value })}
      />
    </search>
  );
}

type MatrixTableProps = RunMatrixProps & { matrix: Matrix };

export function MatrixTable({ matrix, run, outcomes }: MatrixTableProps) {
  const head = (of: string | undefined, by: string | null | undefined) =>
    by === "prompt" && of !== undefined && /^\d+$/.test(of) ? (
      <PromptHead run={run.id} prompt={of} outcomes={outcomes} />
    ) : (
      <MatrixHead of={of} by={labelOf(matrix, by)} />
    );
  const rowsBy = labelOf(matrix, matrix.rows_by);
  const columnsBy = labelOf(matrix, matrix.columns_by);
  const columns: Column<number>[] = [
    {
      name: "row",
      head: capitalize(rowsBy),
      cell: (row) => head(matrix.rows[row], matrix.rows_by),
    },
    ...matrix.columns.map(
      (name, column): Column<number> => ({
        name: `${column}`,
        head: head(name, matrix.columns_by),
        cell: (row) => <MatrixCell cell={matrix.cells[row]?.[column]} scale={run.scale} />,
      }),
    ),
  ];
  return (
    <Table
      caption={capitalize([rowsBy, columnsBy].filter(Boolean).join(" by "))}
      columns={columns}
      rows={matrix.rows.map((_, at) => at)}
      keyOf={String}
    />
  );
}

/** A prompt by its number, with its text in the first case that has it; rows fill in other values. */
function PromptHead({ run, prompt, outcomes }: { run: string; prompt: string; outcomes: CaseOutcome[] }) {
  const project = useProject();
  const first = outcomes.find((it) => it.parts?.variant?.includes(`prompt ${prompt}`));
  const found = useQuery({
    ...resultQuery(project.id, run, first?.place ?? 0),
    enabled: first !== undefined,
  });
  const text = taskOf(found.data);
  return (
    <span className={styles.heading}>
      <b>prompt {prompt}</b>
      {text && (
        <span className={styles.soft} title={text}>
          {text.length > LONGEST_PROMPT ? `${text.slice(0, LONGEST_PROMPT).trimEnd()}…` : text}
        </span>
      )}
    </span>
  );
}

const LONGEST_PROMPT = 120;

/** The task of a result. */
function taskOf(result: unknown): string | undefined {
  const told = result as { result?: { material?: { task?: unknown } } } | null | undefined;
  const task = told?.result?.material?.task;
  return typeof task === "string" ? task : undefined;
}

/** The value of a factor; a dash in words. */
function MatrixHead({ of, by }: { of: string | undefined; by: string }) {
  // A bare number, such as that of a prompt, says nothing without its factor.
  if (by && of !== undefined && /^\d+$/.test(of)) return `${by} ${of}`;
  if (of !== "–" || !by) return of;
  return (
    <Term about={`These cases have no ${by}${by === "judge" ? ": checks or people decided them" : ""}.`}>
      no {by}
    </Term>
  );
}

type MatrixCellProps = { cell: Cell | null | undefined; scale: RunInFull["scale"] };

function MatrixCell({ cell, scale }: MatrixCellProps) {
  if (!cell) return <span className={styles.soft}>no case</span>;
  return (
    <span className={styles.cell} style={{ "--share": cell.score ?? 0 } as CSSProperties}>
      <span>
        <ScaledScore mean={cell.score} interval={cell.interval as Range | null | undefined} scale={scale} />
      </span>
      <span className={styles.soft}>
        {percent(cell.pass_rate)} {percentRange(cell.pass_interval)} pass
      </span>
      <span className={styles.soft}>
        {cell.passed} of {cell.n}
      </span>
    </span>
  );
}
