import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answered, api } from "../api/client";
import type { OpenProject } from "../api/session";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";

export function NewProject({ project, onClose }: { project: OpenProject; onClose: () => void }) {
  const [name, setName] = useState("");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const add = useMutation({
    mutationFn: () => answered(api(project.id).POST("/api/v1/projects", { body: { name } })),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ["session"] });
      onClose();
      await navigate({ to: "/p/$project", params: { project: made.name } });
    },
  });
  return (
    <Dialog title="New project" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <Field
          label="Name"
          hint="Everything belongs to a project: traces, runs, people, tokens."
          fault={add.error?.message}
          required
          maxLength={100}
          value={name}
          onChange={(it) => setName(it.target.value)}
        />
        <Button type="submit" look="main" disabled={add.isPending}>
          Make it
        </Button>
      </form>
    </Dialog>
  );
}
