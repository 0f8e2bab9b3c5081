import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { AddToDataset } from "../datasets/AddToDataset";
import { Button } from "../ui/Button";
import { FormError } from "../ui/Form";
import { plural } from "../ui/format";
import { Menu, MenuItem } from "../ui/Menu";
import { ChooseRubric } from "./ChooseRubric";
import { downloadText, type TraceWithContent, tracesToCsv, tracesToJsonLines } from "./exportTraces";
import { traceContentQuery } from "./queries";
import { SendToAnnotators } from "./SendToAnnotators";
import styles from "./TracesPage.module.css";

type Line = Schemas["ListedTrace"];

/** The maximum number of traces of one trial, task or export. */
export const MOST_SELECTED = 100;

type SelectedTracesProps = {
  /** Ids of the selected traces. */
  traces: string[];
  /** Their rows. */
  lines: Line[];
  onClear: () => void;
};

/** Actions for the selected traces. */
export function SelectedTraces({ traces, lines, onClear }: SelectedTracesProps) {
  const [open, setOpen] = useState<"rubric" | "dataset" | "people">();
  return (
    <section className={styles.chosen} aria-label="Selected traces">
      <b role="status">
        {plural(traces.length, "trace")} selected{traces.length >= MOST_SELECTED && " (maximum)"}
      </b>
      <Button onClick={() => setOpen("rubric")}>Try a rubric…</Button>
      <Button onClick={() => setOpen("dataset")}>Add selected to dataset…</Button>
      <Button onClick={() => setOpen("people")}>Send to annotators…</Button>
      <ExportSelection lines={lines} />
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
      {open === "rubric" && <ChooseRubric traces={traces} onClose={() => setOpen(undefined)} />}
      {open === "dataset" && (
        <AddToDataset source={{ kind: "traces", traces }} onClose={() => setOpen(undefined)} />
      )}
      {open === "people" && <SendToAnnotators traces={traces} onClose={() => setOpen(undefined)} />}
    </section>
  );
}

/** Writes the selected traces into a file. */
function ExportSelection({ lines }: { lines: Line[] }) {
  const project = useProject();
  const queries = useQueryClient();
  const exporting = useMutation({
    mutationFn: async () => {
      const all: TraceWithContent[] = [];
      // One after the other: a hundred requests at once would be refused.
      for (const line of lines) {
        const isStored = line.revision > 0 && line.state !== "erased";
        const trace = isStored ? await queries.fetchQuery(traceContentQuery(project.id, line.id)) : null;
        all.push({ line, trace });
      }
      downloadText("traces.jsonl", "application/x-ndjson", tracesToJsonLines(all));
    },
  });
  return (
    <>
      <Menu
        label="Export the selection"
        button={exporting.isPending ? "Exporting…" : "Export ▾"}
        isUpward
        align="end"
        look="plain"
      >
        {(close) => (
          <>
            <MenuItem
              close={close}
              onChoose={() => downloadText("traces.csv", "text/csv", tracesToCsv(lines))}
            >
              Table (CSV)
            </MenuItem>
            <MenuItem close={close} onChoose={() => exporting.mutate()}>
              Traces with steps (JSON Lines)
            </MenuItem>
          </>
        )}
      </Menu>
      <FormError error={exporting.error} />
    </>
  );
}
