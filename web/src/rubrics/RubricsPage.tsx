import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { NewFile } from "../editor/NewFile";
import { type Monitor, monitorNamesQuery } from "../monitors/queries";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import { useToast } from "../ui/Toast";
import { presetsQuery, rubricsQuery } from "./queries";
import { RubricPreview } from "./RubricPreview";
import styles from "./Rubrics.module.css";
import { useVersionName } from "./versions";

type Rubric = Schemas["RubricSummary"];

export function RubricsPage() {
  const project = useProject();
  const rubrics = useQuery(rubricsQuery(project.id));
  return (
    <>
      <PageHead
        title="Rubrics"
        book="tutorials/improve-a-rubric.html"
        about="A rubric defines what is graded and how. Versions never change; every grade names the version it was made with."
      >
        {may(project, "write") && (
          <Link
            to="/p/$project/new-rubric"
            params={{ project: project.name }}
            className={buttonClass}
            data-look="main"
          >
            New rubric
          </Link>
        )}
      </PageHead>
      <Loaded query={rubrics} what="rubrics">
        {(all) =>
          all.length === 0 ? (
            <Notice title="No rubrics yet">
              <p>
                Create one here or start from a preset. Applying a monitor creates one as well. Suites contain
                their own rubrics.
              </p>
            </Notice>
          ) : (
            <RubricTable rows={all} />
          )
        }
      </Loaded>
    </>
  );
}

function RubricTable({ rows }: { rows: Rubric[] }) {
  const project = useProject();
  const monitors = useQuery(monitorNamesQuery(project.id));
  const users = (it: Rubric): Monitor[] =>
    monitors.data?.filter((one) => one.version.rubric_version === it.newest) ?? [];
  const columns: Column<Rubric>[] = [
    {
      name: "name",
      head: "Rubric",
      cell: (it) => (
        <>
          <Link to="/p/$project/rubrics/$rubric" params={{ project: project.name, rubric: it.id }}>
            {it.name}
          </Link>{" "}
          {it.archived && <Badge>archived</Badge>}
        </>
      ),
    },
    { name: "newest", head: "Newest version", cell: (it) => <NewestVersion rubric={it} />, wide: true },
    {
      name: "monitors",
      head: "Used by monitors",
      cell: (it) =>
        users(it).length === 0
          ? "–"
          : users(it).map((one) => (
              <Link
                key={one.id}
                to="/p/$project/monitors/$monitor"
                params={{ project: project.name, monitor: one.name }}
                className={styles.user}
              >
                {one.name}
              </Link>
            )),
    },
    { name: "created", head: "Created", align: "end", cell: (it) => <Time at={it.created} /> },
  ];
  return <Table caption="Rubrics" columns={columns} rows={rows} keyOf={(it) => it.id} />;
}

function NewestVersion({ rubric: { id, newest } }: { rubric: Rubric }) {
  const name = useVersionName(id, newest ?? "");
  return newest ? <span title={newest}>{name ?? "…"}</span> : "–";
}

const TEMPLATE = `threshold: 0.7
criteria:
  - name: correct
    description: What it says agrees with the context.
    scale: binary
    required: true
  - name: tone
    description: How friendly is the reply?
    scale: {likert: {min: 1, max: 5}}
    levels: {1: Rude., 3: Neutral., 5: Warm and personal.}
`;

export function NewRubricPage() {
  const project = useProject();
  const params = { project: project.name };
  const navigate = useNavigate();
  const queries = useQueryClient();
  const toast = useToast();
  const adding = useMutation({
    mutationFn: (body: { name: string; source: string }) =>
      unwrap(api(project.id).POST("/api/v1/rubrics", { body })),
    onSuccess: async (it) => {
      toast(`${it.name} created.`);
      await queries.invalidateQueries({ queryKey: ["rubrics", project.id] });
      await navigate({ to: "/p/$project/rubrics/$rubric", params: { ...params, rubric: it.id } });
    },
  });
  return (
    <NewFile
      title="New rubric"
      about="A file with one rubric, in any supported format."
      book="files.html"
      up={
        <Link to="/p/$project/rubrics" params={params}>
          Rubrics
        </Link>
      }
      kind="rubric"
      label="Rubric file"
      template={TEMPLATE}
      does="Create"
      doing="Creating…"
      saving={adding}
      start={(replace) => <PresetSelect onChoose={replace} />}
      beside={(text, checked) => <RubricPreview name="rubric" source={text} checked={checked} />}
    />
  );
}

/** Presets to start from. */
function PresetSelect({ onChoose }: { onChoose: (source: string) => void }) {
  const project = useProject();
  const presets = useQuery(presetsQuery(project.id));
  const [chosen, setChosen] = useState("");
  const found = presets.data?.find((it) => it.name === chosen);
  return (
    <Select
      label="Start from"
      hint={presets.error ? presets.error.message : (found?.description ?? "Replaces the text below.")}
      value={chosen}
      options={[
        { value: "", label: "an example" },
        ...(presets.data ?? []).map((it) => ({ value: it.name, label: it.name })),
      ]}
      onChange={({ target: { value } }) => {
        setChosen(value);
        onChoose(presets.data?.find((it) => it.name === value)?.source ?? TEMPLATE);
      }}
    />
  );
}
