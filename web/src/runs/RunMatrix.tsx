import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { CSSProperties } from "react";
import { useProject } from "../api/session";
import { percent, percentRange, range3, score3 } from "../chart/figures";
import { Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { type Cell, type Matrix, matrixQuery } from "./queries";
import styles from "./RunPage.module.css";

/** Models by prompts, or any other two factors of the cases. */
export function RunMatrix({ run }: { run: string }) {
  const project = useProject();
  const { rows, columns } = useSearch({ from: "/p/$project/runs/$run" });
  const found = useQuery(matrixQuery(project.id, run, { rows, columns }));
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
            <MatrixTable matrix={it} />
            <p className={styles.soft}>
              Mean score and pass rate with 95 % confidence intervals, and passed cases. A stronger colour
              means a higher score.
            </p>
          </div>
        )
      }
    </Loaded>
  );
}

function MatrixAxes({ matrix }: { matrix: Matrix }) {
  const navigate = useNavigate({ from: "/p/$project/runs/$run" });
  if (matrix.keys.length < 2) return null;
  const options = matrix.keys.map((it) => ({ value: it.key, label: `${it.key} (${it.n_values})` }));
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

function MatrixTable({ matrix }: { matrix: Matrix }) {
  const columns: Column<number>[] = [
    {
      name: "row",
      head: matrix.rows_by ?? "",
      cell: (row) => <MatrixHead of={matrix.rows[row]} by={matrix.rows_by} />,
    },
    ...matrix.columns.map(
      (name, column): Column<number> => ({
        name: `${column}`,
        head: <MatrixHead of={name} by={matrix.columns_by} />,
        cell: (row) => <MatrixCell cell={matrix.cells[row]?.[column]} />,
      }),
    ),
  ];
  return (
    <Table
      caption={[matrix.rows_by, matrix.columns_by].filter(Boolean).join(" by ")}
      columns={columns}
      rows={matrix.rows.map((_, at) => at)}
      keyOf={String}
    />
  );
}

/** The value of a factor; a dash in words. */
function MatrixHead({ of, by }: { of: string | undefined; by: string | null | undefined }) {
  // A bare number, such as that of a prompt, says nothing without its factor.
  if (by && of !== undefined && /^\d+$/.test(of)) return `${by} ${of}`;
  if (of !== "–" || !by) return of;
  return (
    <Term about={`These cases have no ${by}${by === "judge" ? ": checks or people decided them" : ""}.`}>
      no {by}
    </Term>
  );
}

function MatrixCell({ cell }: { cell: Cell | null | undefined }) {
  if (!cell) return <span className={styles.soft}>no case</span>;
  return (
    <span className={styles.cell} style={{ "--share": cell.score ?? 0 } as CSSProperties}>
      <span>
        <b>{score3(cell.score)}</b> {range3(cell.interval)}
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
