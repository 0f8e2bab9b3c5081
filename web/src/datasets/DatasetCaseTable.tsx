import { Button } from "../ui/Button";
import { FormError } from "../ui/Form";
import type { KeyGroup } from "../ui/KeyHelp";
import { MoreButton } from "../ui/MoreButton";
import { type PagedList, useLoadMore } from "../ui/useLoadMore";
import { type VirtualColumn, VirtualTable } from "../ui/VirtualTable";
import styles from "./Datasets.module.css";

/** A row of a table of cases. */
export type CaseRow = { key: string };

type DatasetCaseTableProps<Row extends CaseRow> = {
  caption: string;
  /** The beginning of the input of a case; the key, where there is none. */
  titleOf: (row: Row) => string | null | undefined;
  /** The columns after the name of the case. */
  columns: VirtualColumn<Row>[];
  rows: Row[];
  /** The number of all rows, where it is known. */
  total: number | undefined;
  query: PagedList;
  onOpen: (key: string) => void;
  /** The row in words, after its title. */
  describe: (row: Row) => string[];
  keys: KeyGroup;
};

/** The height of a row of two lines, in pixels. */
const ROW_HEIGHT = 56;

const keyOfRow = ({ key }: CaseRow): string => key;

/** Cases of a dataset, loaded page by page; a click or Enter opens one. */
export function DatasetCaseTable<Row extends CaseRow>(props: DatasetCaseTableProps<Row>) {
  const { caption, titleOf, columns, rows, total, query, onOpen, describe, keys } = props;
  const loadMore = useLoadMore(query);
  const name: VirtualColumn<Row> = {
    name: "case",
    head: "Case",
    width: 24,
    cell: (row) => {
      const title = titleOf(row);
      return (
        <span className={styles.case}>
          <Button look="link" tabIndex={-1} onClick={() => onOpen(row.key)}>
            <bdi className={styles.title}>{title || row.key}</bdi>
          </Button>
          {title && <span className={styles.key}>{row.key}</span>}
        </span>
      );
    },
  };
  return (
    <>
      <VirtualTable
        caption={caption}
        columns={[name, ...columns]}
        rows={rows}
        total={total}
        keyOf={keyOfRow}
        rowHeight={ROW_HEIGHT}
        onNearEnd={loadMore}
        onKey={(key, row) => {
          if (key !== "Enter") return false;
          onOpen(row.key);
          return true;
        }}
        describe={(row) => [titleOf(row) || row.key, ...describe(row)].join(", ")}
        keys={keys}
      />
      {query.isError && (
        <>
          <FormError error={query.error} />
          <MoreButton query={query} />
        </>
      )}
    </>
  );
}
