import { useMutation } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { useToast } from "../ui/Toast";

export function ChangePasswordDialog({ onClose }: { onClose: () => void }) {
  const [entered, bind] = useFields({ old: "", new: "" });
  const toast = useToast();
  const change = useMutation({
    mutationFn: () => unwrap(api(null).PUT("/api/v1/session/password", { body: entered })),
    onSuccess: () => {
      toast("Password changed. All other sessions are signed out.");
      onClose();
    },
  });
  return (
    <Dialog title="Change password" onClose={onClose}>
      <Form asked={change} does="Change password">
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          {...bind("old")}
        />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least ten characters."
          required
          minLength={10}
          {...bind("new")}
        />
      </Form>
    </Dialog>
  );
}
