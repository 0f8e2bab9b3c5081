import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { may, useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { SPLIT } from "../ui/explanations";
import { Select } from "../ui/Field";
import { FormError } from "../ui/Form";
import { count, plural } from "../ui/format";
import type { KeyGroup } from "../ui/KeyHelp";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { SearchField } from "../ui/SearchField";
import { useToast } from "../ui/Toast";
import type { VirtualColumn } from "../ui/VirtualTable";
import { DatasetCaseDialog, shortTaskOf } from "./DatasetCaseDialog";
import { DatasetCaseTable } from "./DatasetCaseTable";
import styles from "./Datasets.module.css";
import {
  addDatasetVersion,
  type Dataset,
  type DatasetCase,
  type DatasetVersion,
  datasetCasesQuery,
  refreshDataset,
} from "./queries";
import type { DatasetSearch } from "./search";

type DatasetCasesProps = {
  dataset: Dataset;
  version: DatasetVersion;
  isNewest: boolean;
  onChange: (change: Partial<DatasetSearch>) => void;
};

/** The cases of a version, filtered by split and text. */
export function DatasetCases({ dataset, version, isNewest, onChange }: DatasetCasesProps) {
  const project = useProject();
  const { split, search, case: open } = useSearch({ from: "/p/$project/datasets/$dataset" });
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
          onSearch={(text) => onChange({ search: text || undefined })}
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
            onChange({ split: value === "dev" || value === "test" ? value : undefined });
          }}
        />
        <span className={styles.count} role="status">
          {found.data && !found.isPlaceholderData && (
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
                  <Button onClick={() => onChange({ split: undefined, search: undefined })}>
                    Show all cases
                  </Button>
                )
              }
            />
          ) : (
            <DatasetCaseTable
              caption="Cases"
              titleOf={({ title }) => title}
              columns={columnsOf(project.name)}
              rows={rows}
              total={total}
              query={found}
              onOpen={(key) => onChange({ case: key })}
              describe={({ split: ofCase, rubric }) => [ofCase, ...(rubric ? [`rubric ${rubric.name}`] : [])]}
              keys={KEYS}
            />
          )
        }
      </Loaded>
      {open !== undefined && (
        <DatasetCaseDialog
          dataset={dataset.name}
          caseKey={open}
          versions={[version.number]}
          onClose={() => onChange({ case: undefined })}
        >
          {isNewest && !dataset.archived && may(project, "write") && (
            <RemoveCaseButton
              dataset={dataset.name}
              version={version.number}
              caseKey={open}
              // An address with a version would show the removed case.
              onRemoved={() => onChange({ case: undefined, version: undefined, from: undefined })}
            />
          )}
        </DatasetCaseDialog>
      )}
    </div>
  );
}

const KEYS: KeyGroup = {
  title: "Cases",
  keys: [
    { keys: ["↑", "↓"], does: "next, previous case" },
    { keys: ["Enter"], does: "open the case, with a link to its trace" },
  ],
};

const columnsOf = (project: string): VirtualColumn<DatasetCase>[] => [
  {
    name: "split",
    head: "Split",
    ...SPLIT,
    width: 8,
    cell: ({ split, is_erased }) => (
      <>
        <Badge>{split}</Badge> {is_erased && <Badge>erased</Badge>}
      </>
    ),
  },
  { name: "rubric", head: "Rubric", width: 11, wide: true, cell: ({ rubric }) => rubric?.name ?? "–" },
  {
    name: "trace",
    head: "Trace",
    width: 14,
    wide: true,
    cell: ({ trace }) =>
      trace ? (
        // By keyboard, the trace is linked in the dialog of the case.
        <Link
          to="/p/$project/traces/$trace"
          params={{ project, trace }}
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
    about: "Cases of one task are always in the same split.",
    entry: "dataset",
    width: 11,
    wide: true,
    cell: ({ task }) => (
      <span className={styles.soft} title={task}>
        {shortTaskOf(task)}
      </span>
    ),
  },
  {
    name: "added",
    head: "Added in",
    about: "The first version that has the case in this form.",
    entry: "dataset",
    width: 7,
    wide: true,
    cell: ({ added_in }) => `v${added_in}`,
  },
];

type RemoveCaseButtonProps = { dataset: string; version: number; caseKey: string; onRemoved: () => void };

/** Writes a version without the case. */
function RemoveCaseButton({ dataset, version, caseKey, onRemoved }: RemoveCaseButtonProps) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  const removing = useMutation({
    mutationFn: () => addDatasetVersion(project.id, dataset, { base: version, remove: [caseKey] }),
    onSuccess: async (written) => {
      toast(`Case removed in v${written.version}. It stays in older versions.`);
      onRemoved();
      await refreshDataset(queries, project.id, dataset);
    },
  });
  return (
    <>
      <FormError error={removing.error} />
      <Button look="danger" disabled={removing.isPending} onClick={() => removing.mutate()}>
        {removing.isPending ? "Removing…" : "Remove from the dataset"}
      </Button>
    </>
  );
}
