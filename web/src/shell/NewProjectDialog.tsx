import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, unwrap } from "../api/client";
import type { OpenProject } from "../api/session";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Form, useFields } from "../ui/Form";

export function NewProjectDialog({ project, onClose }: { project: OpenProject; onClose: () => void }) {
  const [entered, bind] = useFields({ name: "" });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const add = useMutation({
    mutationFn: () => unwrap(api(project.id).POST("/api/v1/projects", { body: entered })),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ["session"] });
      onClose();
      await navigate({ to: "/p/$project", params: { project: made.name } });
    },
  });
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form asked={add} does="Create">
        <Field
          label="Name"
          hint="Traces, runs, rubrics, members and API tokens belong to one project."
          required
          maxLength={100}
          {...bind("name")}
        />
      </Form>
    </Dialog>
  );
}
