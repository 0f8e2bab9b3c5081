import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { Select } from "../ui/Field";
import { count, versionName } from "../ui/format";
import type { KeyGroup } from "../ui/KeyHelp";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import type { VirtualColumn } from "../ui/VirtualTable";
import { DatasetCaseDialog } from "./DatasetCaseDialog";
import { DatasetCaseTable } from "./DatasetCaseTable";
import styles from "./Datasets.module.css";
import { type DatasetChange, type DatasetVersion, datasetDiffQuery, type VersionPair } from "./queries";
import type { DatasetSearch } from "./search";

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
  return (
    <div className={styles.part}>
      <div className={styles.filter}>
        <Select
          label="Compare with"
          value={String(pair.from)}
          options={[
            ...versions
              .filter(({ number }) => number !== version.number)
              .map(({ number, created }) => ({ value: String(number), label: versionName(number, created) })),
            { value: "0", label: "an empty dataset" },
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
              <DatasetCaseTable
                caption="Changes"
                titleOf={(change) => (change.new ?? change.old)?.title}
                columns={COLUMNS}
                rows={rows}
                total={first.n_added + first.n_changed + first.n_removed}
                query={found}
                onOpen={(key) => onChange({ case: key })}
                describe={({ key, kind, fields }) => [key, kind, ...fields]}
                keys={KEYS}
              />
            </>
          )
        }
      </Loaded>
      {search.case !== undefined && found.data && (
        <DatasetCaseDialog
          dataset={dataset}
          caseKey={search.case}
          versions={versionsWithCase(
            pair,
            rows.find(({ key }) => key === search.case),
          )}
          onClose={() => onChange({ case: undefined })}
        />
      )}
    </div>
  );
}

/** The versions that have a case; both, where its change is not loaded. */
function versionsWithCase({ from, to }: VersionPair, change: DatasetChange | undefined): number[] {
  if (!change) return [from, to].filter((number) => number > 0);
  return [...(change.old ? [from] : []), ...(change.new ? [to] : [])];
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

const COLUMNS: VirtualColumn<DatasetChange>[] = [
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
  { name: "fields", head: "Fields", width: 18, wide: true, cell: ({ fields }) => fields.join(", ") || "–" },
];
