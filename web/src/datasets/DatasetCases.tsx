import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { may, useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { Dialog } from "../ui/Dialog";
import { Select } from "../ui/Field";
import { FormError } from "../ui/Form";
import { count, plural } from "../ui/format";
import type { KeyGroup } from "../ui/KeyHelp";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { Notice } from "../ui/Notice";
import { SearchField } from "../ui/SearchField";
import { useToast } from "../ui/Toast";
import { type PagedList, useLoadMore } from "../ui/useLoadMore";
import { type VirtualColumn, VirtualTable } from "../ui/VirtualTable";
import styles from "./Datasets.module.css";
import { addDatasetVersion, datasetCaseQuery, datasetCasesQuery, refreshDataset } from "./queries";
import type { DatasetSearch } from "./search";
import type { Dataset, DatasetCase, DatasetCaseInFull, DatasetVersion } from "./types";

const HERE = "/p/$project/datasets/$dataset";

type DatasetCasesProps = { dataset: Dataset; version: DatasetVersion; isNewest: boolean };

/** The cases of a version, filtered by split and text. */
export function DatasetCases({ dataset, version, isNewest }: DatasetCasesProps) {
  const project = useProject();
  const { split, search, case: open } = useSearch({ from: HERE });
  const navigate = useNavigate({ from: HERE });
  const set = (change: Partial<DatasetSearch>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const filter = { version: version.number, split, search };
  const found = useInfiniteQuery(datasetCasesQuery(project.id, dataset.name, filter));
  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const isFiltered = split !== undefined || search !== undefined;
  const total = isFiltered ? undefined : version.n_cases;
  return (
    <div className={styles.part}>
      <search className={styles.filter} aria-label="Filter cases">
        <SearchField
          search={search ?? ""}
          placeholder="text, key, task or trace"
          onSearch={(text) => set({ search: text || undefined })}
        />
        <Select
          label="Split"
          value={split ?? ""}
          options={[
            { value: "", label: "all cases" },
            { value: "dev", label: `dev (${count(version.n_dev)})` },
            { value: "test", label: `test (${count(version.n_test)})` },
          ]}
          onChange={(event) => {
            const { value } = event.target;
            set({ split: value === "dev" || value === "test" ? value : undefined });
          }}
        />
        <span className={styles.count} role="status">
          {found.data && (
            <>
              {total === undefined && found.hasNextPage && "more than "}
              {plural(total ?? rows.length, "case")}
            </>
          )}
        </span>
      </search>
      <Loaded query={found} what="cases">
        {() =>
          rows.length === 0 ? (
            <Notice
              title={isFiltered ? "No matching cases" : "This version has no cases"}
              action={
                isFiltered && (
                  <Button onClick={() => set({ split: undefined, search: undefined })}>Show all cases</Button>
                )
              }
            />
          ) : (
            <>
              <CaseTable rows={rows} total={total} query={found} onOpen={(key) => set({ case: key })} />
              {found.isError && <MoreButton query={found} />}
            </>
          )
        }
      </Loaded>
      {open !== undefined && (
        <CaseDialog
          dataset={dataset}
          version={version.number}
          caseKey={open}
          mayRemove={isNewest && !dataset.archived && may(project, "write")}
          onClose={() => set({ case: undefined })}
        />
      )}
    </div>
  );
}

const KEYS: KeyGroup = {
  title: "Cases",
  keys: [
    { keys: ["↑", "↓"], does: "next, previous case" },
    { keys: ["Enter"], does: "open the case" },
  ],
};

const keyOfCase = ({ key }: DatasetCase): string => key;

/** The height of a row of two lines, in pixels. */
const ROW_HEIGHT = 56;

type CaseTableProps = {
  rows: DatasetCase[];
  total: number | undefined;
  query: PagedList;
  onOpen: (key: string) => void;
};

function CaseTable({ rows, total, query, onOpen }: CaseTableProps) {
  const project = useProject();
  const loadMore = useLoadMore(query);
  const columns: VirtualColumn<DatasetCase>[] = [
    {
      name: "case",
      head: "Case",
      width: 28,
      cell: (row) => (
        <span className={styles.case}>
          <Button look="link" tabIndex={-1} onClick={() => onOpen(row.key)}>
            <bdi className={styles.title}>{row.title || row.key}</bdi>
          </Button>
          {row.title && <span className={styles.soft}>{row.key}</span>}
          {row.is_erased && <Badge>erased</Badge>}
        </span>
      ),
    },
    { name: "split", head: "Split", width: 5, cell: ({ split }) => <Badge>{split}</Badge> },
    { name: "rubric", head: "Rubric", width: 11, cell: ({ rubric }) => rubric?.name ?? "–" },
    {
      name: "trace",
      head: "Trace",
      width: 14,
      cell: ({ trace }) =>
        trace ? (
          <Link
            to="/p/$project/traces/$trace"
            params={{ project: project.name, trace }}
            tabIndex={-1}
            className={styles.soft}
          >
            {trace}
          </Link>
        ) : (
          "–"
        ),
    },
    {
      name: "task",
      head: "Task",
      width: 11,
      cell: ({ task }) => <span className={styles.soft}>{task}</span>,
    },
    { name: "added", head: "Added in", width: 6, cell: ({ added_in }) => `v${added_in}` },
  ];
  return (
    <VirtualTable
      caption="Cases"
      columns={columns}
      rows={rows}
      total={total}
      keyOf={keyOfCase}
      rowHeight={ROW_HEIGHT}
      onNearEnd={loadMore}
      onKey={(key, row) => {
        if (key !== "Enter") return false;
        onOpen(row.key);
        return true;
      }}
      describe={({ title, key, split, rubric }) =>
        [title || key, split, rubric && `rubric ${rubric.name}`].filter(Boolean).join(", ")
      }
      keys={KEYS}
    />
  );
}

type CaseDialogProps = {
  dataset: Dataset;
  version: number;
  caseKey: string;
  mayRemove: boolean;
  onClose: () => void;
};

/** The record of a case, which can be removed from the newest version. */
function CaseDialog({ dataset, version, caseKey, mayRemove, onClose }: CaseDialogProps) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  const found = useQuery(datasetCaseQuery(project.id, dataset.name, caseKey, version));
  const removing = useMutation({
    mutationFn: () => addDatasetVersion(project.id, dataset.name, { base: version, remove: [caseKey] }),
    onSuccess: async (written) => {
      toast(`Case removed in v${written.version}. It stays in older versions.`);
      onClose();
      await refreshDataset(queries, project.id, dataset.name);
    },
  });
  return (
    <Dialog title={`Case ${caseKey}`} onClose={onClose} wide>
      <Loaded query={found} what="the case">
        {(it) => <CaseRecord of={it} />}
      </Loaded>
      {mayRemove && (
        <>
          <FormError error={removing.error} />
          <Button look="danger" disabled={removing.isPending} onClick={() => removing.mutate()}>
            Remove from the dataset
          </Button>
        </>
      )}
    </Dialog>
  );
}

/** A case as it is stored. */
export function CaseRecord({ of: { record, split, task, rubric } }: { of: DatasetCaseInFull }) {
  return (
    <div className={styles.part}>
      <p className={styles.soft}>
        {split} · task {task} · {rubric ? `rubric ${rubric.name}` : "no rubric"}
      </p>
      {record ? (
        <CodeBlock text={JSON.stringify(record, null, 2)} />
      ) : (
        <p>The trace of this case was erased, and its text with it.</p>
      )}
    </div>
  );
}
