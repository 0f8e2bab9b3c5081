import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { percent, range3, score3 } from "../chart/figures";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { type Column, Table } from "../ui/Table";
import { type Cell, type Matrix, matrixQuery } from "./doors";
import styles from "./RunPage.module.css";

/** Models against prompts, or whatever else the suite varies. */
export function MatrixView({ run }: { run: string }) {
  const project = useProject();
  const found = useQuery(matrixQuery(project.id, run));
  return (
    <Loaded query={found} what="the matrix">
      {(it) =>
        it.rows.length === 0 ? (
          <State title="The suite varies nothing">
            <p>A suite that tries several models or prompts is shown here, one against the other.</p>
          </State>
        ) : (
          <Cells matrix={it} />
        )
      }
    </Loaded>
  );
}

function Cells({ matrix }: { matrix: Matrix }) {
  const columns: Column<number>[] = [
    { name: "row", head: "", cell: (row) => matrix.rows[row] },
    ...matrix.columns.map(
      (name, column): Column<number> => ({
        name: `${column}`,
        head: name,
        cell: (row) => <One cell={matrix.cells[row]?.[column]} />,
      }),
    ),
  ];
  return (
    <Table
      caption="What the suite varies, one against the other"
      columns={columns}
      rows={matrix.rows.map((_, at) => at)}
      keyOf={String}
    />
  );
}

function One({ cell }: { cell: Cell | null | undefined }) {
  if (!cell || cell.n === 0) return <span className={styles.soft}>not tried</span>;
  return (
    <span className={styles.cell} style={{ "--share": cell.score ?? 0 } as React.CSSProperties}>
      <b>{score3(cell.score)}</b> {range3(cell.interval)}
      <span className={styles.soft}>
        {cell.passed} of {cell.n} pass, {percent(cell.passed / cell.n)}
      </span>
    </span>
  );
}
