import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Contract } from "../api/client";
import { may, useProject } from "../api/session";
import { Button } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { Dialog } from "../ui/Dialog";
import { FormError } from "../ui/Form";
import { useToast } from "../ui/Toast";
import { type RunInFull, rerunCases } from "./queries";
import { rerunCommand } from "./rerunCommand";

type RerunCaseProps = { run: RunInFull; result: Contract["CaseResult"] };

/** Runs a case again: here if the server has the files of the run, else by a command to copy. */
export function RerunCase({ run, result }: RerunCaseProps) {
  const project = useProject();
  const [isOpen, setOpen] = useState(false);
  // Only runs that were submitted to the server have a number of units.
  if (run.n_units != null && may(project, "write")) return <RerunHere run={run.id} name={result.case} />;
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        Re-run…
      </Button>
      {isOpen && (
        <Dialog title="Re-run the case" onClose={() => setOpen(false)}>
          <p>
            {run.n_units == null
              ? "The server does not have the files of this run. Run the command in the folder of the suite:"
              : "Your role cannot start runs on the server. Run the command in the folder of the suite:"}
          </p>
          <CodeBlock text={rerunCommand(result.case, result.origin)} />
        </Dialog>
      )}
    </>
  );
}

function RerunHere({ run, name }: { run: string; name: string }) {
  const project = useProject();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const starting = useMutation({
    mutationFn: () => rerunCases(project.id, run, [name]),
    onSuccess: async ({ id }) => {
      toast("A run with this case was started.");
      await queries.invalidateQueries({ queryKey: ["runs", project.id] });
      await navigate({ to: "/p/$project/runs/$run", params: { project: project.name, run: id } });
    },
  });
  return (
    <>
      <Button look="quiet" disabled={starting.isPending} onClick={() => starting.mutate()}>
        {starting.isPending ? "Starting…" : "Re-run"}
      </Button>
      <FormError error={starting.error} />
    </>
  );
}
