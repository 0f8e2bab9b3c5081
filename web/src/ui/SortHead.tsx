import styles from "./SortHead.module.css";
import { type Explanation, Term } from "./Term";

export type Sorted = "ascending" | "descending" | "none";

type SortHeadProps = { label: string; sorted: Sorted; onSort: () => void; help?: Explanation };

/** The head of a column that rows can be sorted by, and beside it the explanation of the column. */
export function SortHead({ label, sorted, onSort, help }: SortHeadProps) {
  return (
    <>
      <button type="button" className={styles.sort} onClick={onSort}>
        {label} <span aria-hidden="true">{{ ascending: "▲", descending: "▼", none: "↕" }[sorted]}</span>
      </button>
      {help && (
        <>
          {" "}
          <Term {...help}>
            <span aria-hidden="true">?</span>
            <span className="visually-hidden">Explain {label.toLowerCase()}</span>
          </Term>
        </>
      )}
    </>
  );
}
