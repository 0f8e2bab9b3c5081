import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../api/client";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { useTell } from "../ui/Toast";

export function NewPassword({ onClose }: { onClose: () => void }) {
  const [old, setOld] = useState("");
  const [fresh, setFresh] = useState("");
  const tell = useTell();
  const change = useMutation({
    mutationFn: () => answered(api(null).PUT("/api/v1/session/password", { body: { old, new: fresh } })),
    onSuccess: () => {
      tell("The password is changed, and every other session has ended.");
      onClose();
    },
  });
  return (
    <Dialog title="Another password" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <Field
          label="Password until now"
          type="password"
          autoComplete="current-password"
          required
          fault={change.error?.message}
          value={old}
          onChange={(it) => setOld(it.target.value)}
        />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least ten letters."
          required
          minLength={10}
          value={fresh}
          onChange={(it) => setFresh(it.target.value)}
        />
        <Button type="submit" look="main" disabled={change.isPending}>
          Change it
        </Button>
      </form>
    </Dialog>
  );
}
