import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useProject } from "../api/session";
import { agentsQuery } from "../traces/queries";
import { Dialog } from "../ui/Dialog";
import { Field, Select, TextArea } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { plural } from "../ui/format";
import { Tabs } from "../ui/Tabs";
import { useToast } from "../ui/Toast";
import { addItems, type MoreItems } from "./queries";
import { rowsOf } from "./taskFiles";
import type { TaskInFull } from "./types";

type WayProps = { task: TaskInFull; onClose: () => void };

const WAYS = [
  { name: "rows", label: "Rows of data" },
  { name: "traces", label: "Stored traces" },
] as const;

/** Adds items to a task; existing items are not changed. */
export function AddItemsDialog({ task, onClose }: WayProps) {
  const [way, setWay] = useState<(typeof WAYS)[number]["name"]>("rows");
  const Way = { rows: AddRowsForm, traces: AddTracesForm }[way];
  return (
    <Dialog title="Add items" onClose={onClose} wide>
      <Tabs label="Source of the items" tabs={[...WAYS]} selected={way} onSelect={setWay}>
        <Way task={task} onClose={onClose} />
      </Tabs>
    </Dialog>
  );
}

function useAdding({ task, onClose }: WayProps, body: () => MoreItems) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: async () => addItems(project.id, task.id, body()),
    onSuccess: async ({ n_new, n_there }) => {
      await queries.invalidateQueries({ queryKey: ["task", project.id, task.id] });
      const there = n_there > 0 ? `; ${n_there} already there` : "";
      toast(`${plural(n_new, "item")} added${there}.`);
      onClose();
    },
  });
}

function AddRowsForm(props: WayProps) {
  const [text, setText] = useState("");
  const adding = useAdding(props, () => ({ rows: rowsOf(text) }));
  return (
    <Form asked={adding} does="Add items" doing="Adding…" isIncomplete={text.trim() === ""}>
      <Field
        label="File"
        type="file"
        accept=".jsonl,.ndjson,.json"
        hint="JSON Lines or a JSON list, with the same keys as the data of the task."
        onChange={async (it) => setText((await it.target.files?.[0]?.text()) ?? "")}
      />
      <TextArea
        label="Or paste rows"
        rows={8}
        value={text}
        spellCheck={false}
        placeholder={'{"id": "a", "text": "…"}\n{"id": "b", "text": "…"}'}
        onChange={(it) => setText(it.target.value)}
      />
    </Form>
  );
}

function AddTracesForm(props: WayProps) {
  const project = useProject();
  const [entered, bind] = useFields({ agent: "", limit: "50" });
  const agents = useQuery(agentsQuery(project.id));
  const adding = useAdding(props, () => ({
    traces: { agent: entered.agent || undefined, limit: Number(entered.limit) },
  }));
  const options = [
    { value: "", label: "any agent" },
    ...(agents.data ?? []).map((it) => ({ value: it.name, label: it.name })),
  ];
  return (
    <Form asked={adding} does="Add items" doing="Adding…">
      <Select label="Traces of" options={options} {...bind("agent")} />
      <Field label="Number of newest traces" type="number" min={1} max={10000} required {...bind("limit")} />
    </Form>
  );
}
