import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Select } from "../ui/Field";
import { count, versionName } from "../ui/format";
import type { KeyGroup } from "../ui/KeyHelp";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { Notice } from "../ui/Notice";
import { type PagedList, useLoadMore } from "../ui/useLoadMore";
import { type VirtualColumn, VirtualTable } from "../ui/VirtualTable";
import { CaseRecord } from "./DatasetCases";
import styles from "./Datasets.module.css";
import { datasetCaseQuery, datasetDiffQuery, type VersionPair } from "./queries";
import type { DatasetSearch } from "./search";
import type { DatasetChange, DatasetVersion } from "./types";

type DatasetChangesProps = {
  dataset: string;
  version: DatasetVersion;
  versions: DatasetVersion[];
  onChange: (change: Partial<DatasetSearch>) => void;
};

/** What changed from one version to another. */
export function DatasetChanges({ dataset, version, versions, onChange }: DatasetChangesProps) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/datasets/$dataset" });
  const pair = { from: search.from ?? version.number - 1, to: version.number };
  const found = useInfiniteQuery(datasetDiffQuery(project.id, dataset, pair));
  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const open = rows.find((row) => row.key === search.case);
  return (
    <div className={styles.part}>
      <div className={styles.filter}>
        <Select
          label="Compare with"
          value={String(pair.from)}
          options={[
            ...versions
              .filter((it) => it.number !== version.number)
              .map((it) => ({ value: String(it.number), label: versionName(it.number, it.created) })),
            { value: "0", label: "nothing" },
          ]}
          onChange={(event) => onChange({ from: Number(event.target.value), case: undefined })}
        />
      </div>
      <Loaded query={found} what="the changes">
        {({ pages: [first] }) =>
          rows.length === 0 || !first ? (
            <Notice title="No differences">
              <p>Both versions have the same cases.</p>
            </Notice>
          ) : (
            <>
              <p role="status">
                {count(first.n_added)} added, {count(first.n_changed)} changed, {count(first.n_removed)}{" "}
                removed
              </p>
              <ChangeRows
                rows={rows}
                total={first.n_added + first.n_changed + first.n_removed}
                query={found}
                onOpen={(key) => onChange({ case: key })}
              />
              {found.isError && <MoreButton query={found} />}
            </>
          )
        }
      </Loaded>
      {open && (
        <ChangeDialog
          dataset={dataset}
          pair={pair}
          change={open}
          onClose={() => onChange({ case: undefined })}
        />
      )}
    </div>
  );
}

const KEYS: KeyGroup = {
  title: "Changes",
  keys: [
    { keys: ["↑", "↓"], does: "next, previous change" },
    { keys: ["Enter"], does: "show both versions of the case" },
  ],
};

const TONES = { added: "pass", changed: "accent", removed: "fail" } as const;
const SIGNS = { added: "+", changed: "~", removed: "−" } as const;

const keyOfChange = ({ key }: DatasetChange): string => key;

/** The height of a row of two lines, in pixels. */
const ROW_HEIGHT = 56;

type ChangeRowsProps = {
  rows: DatasetChange[];
  total: number;
  query: PagedList;
  onOpen: (key: string) => void;
};

function ChangeRows({ rows, total, query, onOpen }: ChangeRowsProps) {
  const loadMore = useLoadMore(query);
  const columns: VirtualColumn<DatasetChange>[] = [
    {
      name: "case",
      head: "Case",
      width: 28,
      cell: (change) => {
        const title = (change.new ?? change.old)?.title;
        return (
          <span className={styles.case}>
            <Button look="link" tabIndex={-1} onClick={() => onOpen(change.key)}>
              <bdi className={styles.title}>{title || change.key}</bdi>
            </Button>
            {title && <span className={styles.soft}>{change.key}</span>}
          </span>
        );
      },
    },
    {
      name: "kind",
      head: "Change",
      width: 8,
      cell: ({ kind }) => (
        <Badge tone={TONES[kind]}>
          <span aria-hidden="true">{SIGNS[kind]}</span> {kind}
        </Badge>
      ),
    },
    { name: "fields", head: "Fields", width: 18, cell: ({ fields }) => fields.join(", ") || "–" },
  ];
  return (
    <VirtualTable
      caption="Changes"
      columns={columns}
      rows={rows}
      total={total}
      keyOf={keyOfChange}
      rowHeight={ROW_HEIGHT}
      onNearEnd={loadMore}
      onKey={(key, row) => {
        if (key !== "Enter") return false;
        onOpen(row.key);
        return true;
      }}
      describe={({ key, kind, fields }) => [key, kind, ...fields].join(", ")}
      keys={KEYS}
    />
  );
}

type ChangeDialogProps = { dataset: string; pair: VersionPair; change: DatasetChange; onClose: () => void };

/** A case in both versions. */
function ChangeDialog({ dataset, pair, change, onClose }: ChangeDialogProps) {
  return (
    <Dialog title={`Case ${change.key}`} onClose={onClose} wide>
      <div className={styles.sides}>
        {change.old && <CaseSide dataset={dataset} caseKey={change.key} version={pair.from} />}
        {change.new && <CaseSide dataset={dataset} caseKey={change.key} version={pair.to} />}
      </div>
    </Dialog>
  );
}

function CaseSide({ dataset, caseKey, version }: { dataset: string; caseKey: string; version: number }) {
  const project = useProject();
  const found = useQuery(datasetCaseQuery(project.id, dataset, caseKey, version));
  return (
    <section aria-label={`v${version}`} className={styles.part}>
      <h3>v{version}</h3>
      <Loaded query={found} what="the case">
        {(it) => <CaseRecord of={it} />}
      </Loaded>
    </section>
  );
}
