import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useProject } from "../api/session";
import { monitorNamesQuery } from "../monitors/queries";
import { rubricsQuery } from "../rubrics/queries";
import { latestRunsQuery } from "../runs/queries";
import { agentsQuery } from "../traces/queries";
import { Dialog } from "../ui/Dialog";
import { Field, Select } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { plural } from "../ui/format";
import { shortIdOf } from "../ui/ShortId";
import { Tabs } from "../ui/Tabs";
import { type NewTask as Asked, addTask } from "./queries";
import { chosen } from "./taskFiles";

const WAYS = [
  { name: "files", label: "From files" },
  { name: "rubric", label: "A rubric over traces" },
  { name: "verify", label: "Verify a judge" },
] as const;

/** Creates a task in one of three ways. */
export function NewTaskDialog({ onClose }: { onClose: () => void }) {
  const [way, setWay] = useState<(typeof WAYS)[number]["name"]>("files");
  const Way = { files: TaskFromFilesForm, rubric: TaskFromRubricForm, verify: VerifyJudgeForm }[way];
  return (
    <Dialog title="New task" onClose={onClose} wide>
      <Tabs label="Source of the task" tabs={[...WAYS]} selected={way} onSelect={setWay}>
        <Way onClose={onClose} />
      </Tabs>
    </Dialog>
  );
}

/** Creates a task and opens it. */
function useMaking(body: () => Asked | Promise<Asked>, onClose: () => void) {
  const project = useProject();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => addTask(project.id, await body()),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ["tasks", project.id] });
      onClose();
      await navigate({
        to: "/p/$project/annotate/$task/overview",
        params: { project: project.name, task: made.id },
      });
    },
  });
}

function TaskFromFilesForm({ onClose }: { onClose: () => void }) {
  const [files, setFiles] = useState<File[]>([]);
  const making = useMaking(() => chosen(files), onClose);
  return (
    <Form asked={making} does="Create task" doing="Reading…" isIncomplete={files.length === 0}>
      <Field
        label="Configuration and data"
        type="file"
        multiple
        required
        accept=".yaml,.yml,.json,.jsonl,.csv,.tsv,.txt,.md"
        hint={
          files.length > 1
            ? `${plural(files.length, "file")}: ${files.map((it) => it.name).join(", ")}`
            : "A Potato configuration or a Jurist file with an annotation section, together with the data files it names."
        }
        onChange={(it) => setFiles([...(it.target.files ?? [])])}
      />
    </Form>
  );
}

function TaskFromRubricForm({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const [entered, bind] = useFields({ name: "", rubric: "", agent: "", people: "2" });
  const rubrics = useQuery(rubricsQuery(project.id));
  const agents = useQuery(agentsQuery(project.id));
  const making = useMaking(
    () => ({
      name: entered.name,
      rubric: entered.rubric,
      traces: entered.agent ? { agent: entered.agent } : {},
      settings: { annotators_per_item: Number(entered.people) },
    }),
    onClose,
  );
  const named = (all: { name: string }[] | undefined, none: string) => [
    { value: "", label: none },
    ...(all ?? []).map((it) => ({ value: it.name, label: it.name })),
  ];
  return (
    <Form asked={making} does="Create task">
      <Field label="Name" required maxLength={100} {...bind("name")} />
      <Select label="Rubric" required options={named(rubrics.data, "choose…")} {...bind("rubric")} />
      <Select label="Traces of" options={named(agents.data, "any agent")} {...bind("agent")} />
      <Field label="Annotators per item" type="number" min={1} max={50} required {...bind("people")} />
    </Form>
  );
}

function VerifyJudgeForm({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const [entered, bind] = useFields({ name: "", of: "", people: "1" });
  const runs = useQuery(latestRunsQuery(project.id, 50));
  const monitors = useQuery(monitorNamesQuery(project.id));
  const options = [
    { value: "", label: "choose…" },
    ...(runs.data ?? []).map((it) => ({
      value: `run ${it.id}`,
      label: `run ${it.suite ?? "unnamed suite"} ${shortIdOf(it.id)}`,
    })),
    ...(monitors.data ?? []).map((it) => ({ value: `monitor ${it.name}`, label: `monitor ${it.name}` })),
  ];
  const making = useMaking(() => {
    const [kind, ...rest] = entered.of.split(" ");
    const of = rest.join(" ");
    return {
      name: entered.name,
      verify: kind === "run" ? { run: of } : { monitor: of },
      settings: { annotators_per_item: Number(entered.people) },
    };
  }, onClose);
  return (
    <Form asked={making} does="Create task">
      <p>Annotators confirm or correct the answers of a judge, one at a time.</p>
      <Field label="Name" required maxLength={100} {...bind("name")} />
      <Select label="Answers of the judge in" required options={options} {...bind("of")} />
      <Field label="Annotators per item" type="number" min={1} max={50} required {...bind("people")} />
    </Form>
  );
}
