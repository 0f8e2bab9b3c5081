import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { addItems, addTask, tasksQuery } from "../annotate/queries";
import { useProject } from "../api/session";
import { rubricsQuery } from "../rubrics/queries";
import { Dialog } from "../ui/Dialog";
import { Field, Select } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { plural } from "../ui/format";

type SendToAnnotatorsProps = { traces: string[]; onClose: () => void };

/** Adds traces to an annotation task, existing or new. */
export function SendToAnnotators({ traces, onClose }: SendToAnnotatorsProps) {
  const project = useProject();
  const queries = useQueryClient();
  const [entered, bind] = useFields({ task: "", name: "", rubric: "", people: "1" });
  const found = useQuery(tasksQuery(project.id));
  const rubrics = useQuery(rubricsQuery(project.id));
  const open = (found.data?.items ?? []).filter((it) => it.state === "open" && it.may.manage);
  const sending = useMutation({
    mutationFn: async () => {
      if (entered.task !== "") {
        const { n_new, n_there } = await addItems(project.id, entered.task, { traces });
        const name = open.find((it) => it.id === entered.task)?.name ?? entered.task;
        return { id: entered.task, name, n_new, n_there };
      }
      const { name, rubric, people } = entered;
      const settings = { annotators_per_item: Number(people) };
      const made = await addTask(project.id, { name, rubric, traces, settings });
      return { id: made.id, name: made.name, n_new: traces.length, n_there: 0 };
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["tasks", project.id] }),
  });
  const title = `Send ${plural(traces.length, "trace")} to annotators`;
  if (sending.data) {
    const { id, name, n_new, n_there } = sending.data;
    return (
      <Dialog title={title} onClose={onClose}>
        <p role="status">
          {n_new > 0 ? `${plural(n_new, "trace")} added to ` : "All of these traces are already in "}
          <Link to="/p/$project/annotate/$task/overview" params={{ project: project.name, task: id }}>
            {name}
          </Link>
          {n_new > 0 && n_there > 0 && `; ${plural(n_there, "trace")} already there`}.
        </p>
      </Dialog>
    );
  }
  const isNew = entered.task === "";
  return (
    <Dialog title={title} onClose={onClose}>
      <Form asked={sending} does="Send" doing="Sending…">
        <Select
          label="Task"
          options={[
            { value: "", label: "a new task" },
            ...open.map((it) => ({ value: it.id, label: it.name })),
          ]}
          {...bind("task")}
        />
        {isNew && (
          <>
            <Field label="Name" required maxLength={100} {...bind("name")} />
            <Select
              label="Rubric"
              required
              hint={rubrics.data?.length === 0 && "No rubrics yet. Create one under Rubrics."}
              options={[
                { value: "", label: "choose…" },
                ...(rubrics.data ?? [])
                  .filter((it) => !it.archived)
                  .map((it) => ({ value: it.name, label: it.name })),
              ]}
              {...bind("rubric")}
            />
            <Field label="Annotators per item" type="number" min={1} max={50} required {...bind("people")} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
