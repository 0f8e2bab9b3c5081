import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answered, api, type Schemas } from "../api/client";
import { may, useProject } from "../api/session";
import { SourceEditor } from "../editor/SourceEditor";
import { type Monitor, monitorsQuery } from "../monitors/doors";
import { PageHead } from "../shell/Shell";
import { Badge } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { Field } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import { useTell } from "../ui/Toast";
import styles from "./Rubrics.module.css";

type Rubric = Schemas["Rubric"];

export function RubricsPage() {
  const project = useProject();
  const rubrics = useQuery({
    queryKey: ["rubrics", project.id],
    queryFn: () => answered(api(project.id).GET("/api/v1/rubrics")),
  });
  return (
    <>
      <PageHead
        title="Rubrics"
        about="What is asked of answers. Versions never change; every grade names its own."
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
            <State title="No rubrics yet">
              <p>Write one here; applying a monitor makes one as well. Suites carry their own.</p>
            </State>
          ) : (
            <Rubrics rows={all} />
          )
        }
      </Loaded>
    </>
  );
}

function Rubrics({ rows }: { rows: Rubric[] }) {
  const project = useProject();
  const monitors = useQuery(monitorsQuery(project.id));
  const users = (it: Rubric): Monitor[] =>
    monitors.data?.filter((one) => one.version.rubric_version === it.newest) ?? [];
  const columns: Column<Rubric>[] = [
    {
      name: "name",
      head: "Rubric",
      cell: (it) => (
        <>
          <Link
            to="/p/$project/rubrics/$rubric"
            params={{ project: project.name, rubric: it.id }}
            className={styles.name}
          >
            {it.name}
          </Link>{" "}
          {it.archived && <Badge>out of use</Badge>}
        </>
      ),
    },
    { name: "newest", head: "Newest version", cell: (it) => <code>{it.newest ?? "–"}</code>, wide: true },
    {
      name: "monitors",
      head: "Monitors that ask it",
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
    { name: "created", head: "Made", align: "end", cell: (it) => <Time at={it.created} /> },
  ];
  return <Table caption="Rubrics" columns={columns} rows={rows} keyOf={(it) => it.id} />;
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
  const navigate = useNavigate();
  const queries = useQueryClient();
  const tell = useTell();
  const [name, setName] = useState("");
  const [source, setSource] = useState(TEMPLATE);
  const [isTried, setTried] = useState(false);
  const adding = useMutation({
    mutationFn: () =>
      answered(api(project.id).POST("/api/v1/rubrics", { body: { name: name.trim(), source } })),
    onSuccess: async (it) => {
      tell(`${it.name} has its first version.`);
      await queries.invalidateQueries({ queryKey: ["rubrics", project.id] });
      await navigate({ to: "/p/$project/rubrics/$rubric", params: { project: project.name, rubric: it.id } });
    },
  });
  const save = () => {
    setTried(true);
    if (name.trim() !== "") adding.mutate();
  };
  return (
    <>
      <p className={styles.up}>
        <Link to="/p/$project/rubrics" params={{ project: project.name }}>
          Rubrics
        </Link>
      </p>
      <PageHead title="New rubric" about="A file with one rubric, in any dialect." />
      <div className={styles.form}>
        <div className={styles.narrow}>
          <Field
            label="Name"
            value={name}
            required
            maxLength={100}
            fault={isTried && name.trim() === "" ? "It needs a name." : null}
            onChange={(it) => setName(it.target.value)}
          />
        </div>
        <SourceEditor
          label="The rubric's file"
          text={source}
          onTextChange={(it) => {
            setSource(it);
            if (adding.error) adding.reset();
          }}
          error={adding.error}
          onSave={save}
        >
          <div className={styles.line}>
            <Button look="main" onClick={save} disabled={adding.isPending}>
              {adding.isPending ? "Making it…" : "Make it"}
            </Button>
          </div>
        </SourceEditor>
      </div>
    </>
  );
}
