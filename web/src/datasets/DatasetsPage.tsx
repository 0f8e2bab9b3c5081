import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { may, useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { BookLink } from "../ui/BookLink";
import { Button } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { Dialog } from "../ui/Dialog";
import { SPLIT } from "../ui/explanations";
import { Field } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { count, versionName } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import styles from "./Datasets.module.css";
import { addDataset, type Dataset, datasetsQuery } from "./queries";

/** Versioned sets of cases. */
export function DatasetsPage() {
  const project = useProject();
  const { archived = false } = useSearch({ from: "/p/$project/datasets" });
  const navigate = useNavigate({ from: "/p/$project/datasets" });
  const datasets = useQuery(datasetsQuery(project.id, archived));
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHead
        title="Datasets"
        book="how-to/datasets.html"
        about="Versioned sets of cases, from files, traces and annotation tasks. A case stays in its split, dev or test."
      >
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={archived}
            onChange={(event) =>
              navigate({ search: { archived: event.target.checked || undefined }, replace: true })
            }
          />
          Show archived
        </label>
        {may(project, "write") && (
          <Button look="main" onClick={() => setAdding(true)}>
            New dataset
          </Button>
        )}
      </PageHead>
      <Loaded query={datasets} what="datasets">
        {(all) => (all.length === 0 ? <NoDatasets /> : <DatasetTable all={all} />)}
      </Loaded>
      {isAdding && <NewDatasetDialog onClose={() => setAdding(false)} />}
    </>
  );
}

/** The command that adds the cases of a file. */
export const addCommand = (name: string): string =>
  `jurist dataset add ${name} cases.jsonl --server ${location.origin}`;

function NoDatasets() {
  return (
    <Notice title="No datasets yet">
      <p>Add the cases of a file; the dataset is created if it does not exist:</p>
      <CodeBlock text={addCommand("support")} />
      <p>
        Or choose “Add to dataset” on a trace, an annotation task or a dispute, or add traces from their list.{" "}
        <BookLink page="how-to/datasets.html">How to use datasets</BookLink>
      </p>
    </Notice>
  );
}

function DatasetTable({ all }: { all: Dataset[] }) {
  const project = useProject();
  const columns: Column<Dataset>[] = [
    {
      name: "name",
      head: "Dataset",
      cell: ({ name, description, archived }) => (
        <>
          <Link to="/p/$project/datasets/$dataset" params={{ project: project.name, dataset: name }}>
            {name}
          </Link>{" "}
          {archived && <Badge>archived</Badge>}
          {description && <div className={styles.soft}>{description}</div>}
        </>
      ),
    },
    {
      name: "version",
      head: "Newest version",
      cell: ({ newest }) => (newest ? versionName(newest.number, newest.created) : "–"),
    },
    {
      name: "cases",
      head: "Cases",
      about: "Number of cases of the newest version.",
      entry: "dataset",
      align: "end",
      cell: ({ newest }) => count(newest?.n_cases ?? 0),
    },
    {
      name: "split",
      head: "Dev, test",
      ...SPLIT,
      align: "end",
      cell: ({ newest }) => (newest ? `${count(newest.n_dev)}, ${count(newest.n_test)}` : "–"),
      wide: true,
    },
    {
      name: "changed",
      head: "Changed",
      align: "end",
      cell: ({ newest, created }) => <Time at={newest?.created ?? created} />,
      wide: true,
    },
  ];
  return <Table caption="Datasets" columns={columns} rows={all} keyOf={({ id }) => id} />;
}

function NewDatasetDialog({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [entered, bind] = useFields({ name: "", description: "", share: "20" });
  const adding = useMutation({
    mutationFn: () =>
      addDataset(project.id, {
        name: entered.name.trim(),
        description: entered.description.trim() || undefined,
        test_share: Number(entered.share) / 100,
      }),
    onSuccess: async ({ name }) => {
      await queries.invalidateQueries({ queryKey: ["datasets", project.id] });
      onClose();
      await navigate({
        to: "/p/$project/datasets/$dataset",
        params: { project: project.name, dataset: name },
      });
    },
  });
  return (
    <Dialog title="New dataset" onClose={onClose}>
      <Form asked={adding} does="Create dataset" doing="Creating…">
        <Field label="Name" required maxLength={100} {...bind("name")} />
        <Field label="Description" maxLength={1000} {...bind("description")} />
        <Field
          label="Test cases, in percent"
          type="number"
          min={0}
          max={100}
          step="any"
          required
          hint="Cases of one task are always in the same split. The share cannot be changed later."
          {...bind("share")}
        />
      </Form>
    </Dialog>
  );
}
