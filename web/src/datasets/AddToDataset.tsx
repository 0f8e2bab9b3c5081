import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Problem } from "../api/client";
import { useProject } from "../api/session";
import { verdictsQuery } from "../grades/queries";
import { rubricsQuery, versionQuery } from "../rubrics/queries";
import { traceQuery } from "../traces/queries";
import { Dialog } from "../ui/Dialog";
import { Field, Select } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import {
  buildEntry,
  type CaseSource,
  describeWritten,
  FIRST_NAME,
  failedRubric,
  MOST_TRACES,
  preselectDataset,
  recordOfItem,
} from "./datasetChoice";
import {
  addDatasetVersion,
  type Dataset,
  datasetsQuery,
  refreshDataset,
  type WrittenVersion,
} from "./queries";

type AddToDatasetProps = { source: CaseSource; onClose: () => void };

/** The dataset that was chosen last in a project. */
const lastKey = (project: string): string => `jurist.dataset.${project}`;

/** Adds traces, a task or one of its items to a dataset, existing or new, with the rubric that grades them. */
export function AddToDataset({ source, onClose }: AddToDatasetProps) {
  const project = useProject();
  const datasets = useQuery(datasetsQuery(project.id));
  return (
    <Dialog title={dialogTitle(source)} onClose={onClose}>
      <Loaded query={datasets} what="datasets">
        {(all) => <AddForm source={source} datasets={all} />}
      </Loaded>
    </Dialog>
  );
}

function dialogTitle(source: CaseSource): string {
  switch (source.kind) {
    case "traces":
      return `Add ${plural(source.traces.length, "trace")} to a dataset`;
    case "filter":
      return "Add the matching traces to a dataset";
    case "task":
      return "Add the items of the task to a dataset";
    case "item":
      return "Add the item to a dataset";
  }
}

function AddForm({ source, datasets }: { source: CaseSource; datasets: Dataset[] }) {
  const project = useProject();
  const queries = useQueryClient();
  const rubrics = useQuery(rubricsQuery(project.id));
  const [entered, bind] = useFields({
    dataset: preselectDataset(datasets, localStorage.getItem(lastKey(project.id))),
    name: datasets.length === 0 ? FIRST_NAME : "",
    rubric: "",
    note: "",
  });
  const automatic = useAutomaticRubric(source);
  const isNew = entered.dataset === "";
  /** Items that are stored traces are added as such, so that the case refers to its trace. */
  const asEntrySource = async () => {
    if (source.kind !== "item") return source;
    const { candidate, item } = source;
    try {
      await queries.fetchQuery(traceQuery(project.id, candidate));
      return { kind: "traces" as const, traces: [candidate] };
    } catch (error) {
      if (!(error instanceof Problem && [400, 404].includes(error.status))) throw error;
      return { kind: "record" as const, record: recordOfItem(candidate, item) };
    }
  };
  const adding = useMutation({
    mutationFn: async () => {
      const entry = buildEntry(await asEntrySource(), entered);
      if (!isNew) {
        const name = entered.dataset;
        return { name, written: await addDatasetVersion(project.id, name, entry) };
      }
      // In one request: cases that cannot be taken would leave an empty dataset.
      const name = entered.name.trim();
      return { name, written: await addDatasetVersion(project.id, name, { ...entry, create: true }) };
    },
    onSuccess: async ({ name }) => {
      localStorage.setItem(lastKey(project.id), name);
      await refreshDataset(queries, project.id, name);
    },
  });
  if (adding.data) {
    return <AddedNote {...adding.data} />;
  }
  const open = datasets.filter((dataset) => !dataset.archived);
  return (
    <Form asked={adding} does="Add" doing="Adding…">
      <Select
        label="Dataset"
        options={[
          ...open.map(({ name }) => ({ value: name, label: name })),
          { value: "", label: "a new dataset" },
        ]}
        {...bind("dataset")}
      />
      {isNew && <Field label="Name" required maxLength={100} {...bind("name")} />}
      <Select
        label="Rubric"
        hint="Runs of the dataset grade these cases by it."
        options={[
          { value: "", label: automatic },
          ...(rubrics.data ?? [])
            .filter((rubric) => !rubric.archived)
            .map(({ name }) => ({ value: name, label: name })),
        ]}
        {...bind("rubric")}
      />
      <Field label="Note" maxLength={1000} placeholder="optional" {...bind("note")} />
      {source.kind === "filter" && (
        <p>Traces that match the filter, up to {count(MOST_TRACES)}, in the order of the list.</p>
      )}
      {source.kind === "task" && <p>All items, with the labels on which annotators agreed.</p>}
    </Form>
  );
}

/** The result, which gets the focus: the form with the button that had it is gone. */
function AddedNote({ name, written }: { name: string; written: WrittenVersion }) {
  const project = useProject();
  const note = useRef<HTMLParagraphElement>(null);
  useEffect(() => note.current?.focus(), []);
  const words = describeWritten(written);
  return (
    <p ref={note} role="status" tabIndex={-1}>
      {words.charAt(0).toUpperCase() + words.slice(1)}:{" "}
      <Link to="/p/$project/datasets/$dataset" params={{ project: project.name, dataset: name }}>
        {name} v{written.version}
      </Link>
      .
    </p>
  );
}

/** In words: the rubric that the server takes where none is chosen. */
function useAutomaticRubric(source: CaseSource): string {
  const project = useProject();
  const trace = source.kind === "traces" && source.traces.length === 1 ? source.traces[0] : undefined;
  const verdicts = useQuery({ ...verdictsQuery(project.id, trace ?? ""), enabled: trace !== undefined });
  const failed = failedRubric(verdicts.data?.items ?? []);
  const version = useQuery({ ...versionQuery(project.id, failed ?? ""), enabled: failed !== undefined });
  const rubrics = useQuery(rubricsQuery(project.id));
  if (source.kind === "item") return "none";
  if (source.kind === "task") return "the rubric of the task, if it has one";
  if (trace === undefined) return "the rubric by which each trace failed";
  if (verdicts.data && failed === undefined) return "none: no verdict of the trace is fail";
  const name = rubrics.data?.find((rubric) => rubric.id === version.data?.rubric)?.name;
  return name ? `${name}, by which the trace failed` : "the rubric by which the trace failed";
}
