import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { may, useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { BookLink } from "../ui/BookLink";
import { Button } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { Select } from "../ui/Field";
import { FormError } from "../ui/Form";
import { count, plural, versionName } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Menu } from "../ui/Menu";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { Tabs } from "../ui/Tabs";
import { DatasetCases } from "./DatasetCases";
import { DatasetChanges } from "./DatasetChanges";
import styles from "./Datasets.module.css";
import { addCommand } from "./DatasetsPage";
import {
  changeDataset,
  type Dataset,
  type DatasetVersion,
  datasetQuery,
  datasetVersionsQuery,
  exportAddress,
  refreshDataset,
} from "./queries";
import type { DatasetSearch } from "./search";

const HERE = "/p/$project/datasets/$dataset";

/** One dataset: the cases of a version, and what changed between versions. */
export function DatasetPage() {
  const project = useProject();
  const { dataset: name } = useParams({ from: HERE });
  const dataset = useQuery(datasetQuery(project.id, name));
  const versions = useQuery(datasetVersionsQuery(project.id, name));
  return (
    <Loaded query={dataset} what="the dataset">
      {(it) => (
        <Loaded query={versions} what="its versions">
          {(all) => <DatasetDetail dataset={it} versions={all} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function DatasetDetail({ dataset, versions }: { dataset: Dataset; versions: DatasetVersion[] }) {
  const project = useProject();
  const search = useSearch({ from: HERE });
  const navigate = useNavigate({ from: HERE });
  const set = (change: Partial<DatasetSearch>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const [newest] = versions;
  const version =
    search.version === undefined ? newest : versions.find(({ number }) => number === search.version);
  return (
    <>
      <PageHead
        up={
          <Link to="/p/$project/datasets" params={{ project: project.name }}>
            Datasets
          </Link>
        }
        title={dataset.name}
        book="how-to/datasets.html"
        about={
          <>
            {dataset.description} {dataset.archived && <Badge>archived</Badge>}
          </>
        }
      >
        {version && (
          <>
            <Select
              label="Version"
              bare
              value={String(version.number)}
              options={versions.map((it, at) => ({
                value: String(it.number),
                label: `${versionName(it.number, it.created)}${at === 0 ? ", newest" : ""}`,
              }))}
              onChange={(event) => {
                const chosen = Number(event.target.value);
                set({ version: chosen === newest?.number ? undefined : chosen, from: undefined });
              }}
            />
            <ExportMenu dataset={dataset.name} version={version.number} />
          </>
        )}
        {may(project, "write") && <ArchiveDatasetButton dataset={dataset} />}
      </PageHead>
      {version ? (
        <>
          <VersionFacts version={version} />
          <Tabs
            label="Views of the dataset"
            tabs={[
              { name: "cases", label: "Cases" },
              { name: "changes", label: "Changes" },
            ]}
            selected={search.view ?? "cases"}
            onSelect={(name) => set({ view: name === "changes" ? name : undefined, case: undefined })}
          >
            {search.view === "changes" ? (
              <DatasetChanges dataset={dataset.name} version={version} versions={versions} onChange={set} />
            ) : (
              <DatasetCases
                dataset={dataset}
                version={version}
                isNewest={version === newest}
                onChange={set}
              />
            )}
          </Tabs>
        </>
      ) : newest ? (
        <Notice
          title={`There is no version ${search.version}`}
          action={
            <Button onClick={() => set({ version: undefined, from: undefined })}>
              Show the newest version
            </Button>
          }
        />
      ) : (
        <NoVersions dataset={dataset} />
      )}
    </>
  );
}

function NoVersions({ dataset }: { dataset: Dataset }) {
  return (
    <Notice title="No cases yet">
      <p>Add the cases of a file, or choose “Add to dataset” on a trace:</p>
      <CodeBlock text={addCommand(dataset.name)} />
      <p>
        <BookLink page="how-to/datasets.html">How to use datasets</BookLink>
      </p>
    </Notice>
  );
}

/** What a version holds, and what it changed. */
function VersionFacts({ version }: { version: DatasetVersion }) {
  const { n_cases, n_dev, n_test, n_added, n_changed, n_removed, note, created_by } = version;
  return (
    <p className={styles.facts}>
      {plural(n_cases, "case")}: {count(n_dev)} dev, {count(n_test)} test. Since the version before:{" "}
      {count(n_added)} added, {count(n_changed)} changed, {count(n_removed)} removed
      {created_by && <> by {created_by}</>}. {note && <q>{note}</q>}
    </p>
  );
}

const FORMATS = [
  { format: "jsonl", label: "JSON Lines" },
  { format: "parquet", label: "Parquet" },
  { format: "suite", label: "Suite with rubrics" },
] as const;

function ExportMenu({ dataset, version }: { dataset: string; version: number }) {
  const project = useProject();
  const { split } = useSearch({ from: HERE });
  return (
    <Menu label="Export" button="Export ▾" align="end" look="plain">
      {(close) =>
        FORMATS.map(({ format, label }) => (
          <a
            key={format}
            role="menuitem"
            href={exportAddress(project.id, dataset, { version, split, format })}
            download
            onClick={close}
          >
            {split ? `${label}, ${split} cases` : label}
          </a>
        ))
      }
    </Menu>
  );
}

function ArchiveDatasetButton({ dataset }: { dataset: Dataset }) {
  const project = useProject();
  const queries = useQueryClient();
  const changing = useMutation({
    mutationFn: () => changeDataset(project.id, dataset.name, { archived: !dataset.archived }),
    onSuccess: () => refreshDataset(queries, project.id, dataset.name),
  });
  return (
    <>
      <Button onClick={() => changing.mutate()} disabled={changing.isPending}>
        {dataset.archived ? "Restore" : "Archive"}
      </Button>
      <FormError error={changing.error} />
    </>
  );
}
