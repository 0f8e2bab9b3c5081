import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useProject } from "../api/session";
import type { AnchorKind } from "../editor/anchors";
import { monitorNamesQuery } from "../monitors/queries";
import { Dialog } from "../ui/Dialog";
import { Select } from "../ui/Field";
import { Form } from "../ui/Form";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import styles from "./TracePage.module.css";

type UseAsAnchorProps = { trace: string; agent: string | null | undefined; onClose: () => void };

/** Opens a monitor's file with the trace added to its anchors, ready to check and apply. */
export function UseAsAnchor({ trace, agent, onClose }: UseAsAnchorProps) {
  const project = useProject();
  const navigate = useNavigate();
  const monitors = useQuery(monitorNamesQuery(project.id));
  const [chosen, setChosen] = useState<string>();
  const [kind, setKind] = useState<AnchorKind>("good");
  const lead = (monitor: string) =>
    navigate({
      to: "/p/$project/monitors/$monitor",
      params: { project: project.name, monitor },
      search: { view: "file", [kind]: trace },
    });
  return (
    <Dialog title="Use as anchor" onClose={onClose}>
      <Loaded query={monitors} what="monitors">
        {(all) => {
          // Monitors that cover its agent come first.
          const sorted = all.toSorted(
            (a, b) => Number(watches(b.agents, agent)) - Number(watches(a.agents, agent)),
          );
          const monitor = chosen ?? sorted[0]?.name;
          if (monitor === undefined) {
            return (
              <Notice title="No monitors yet">
                <p>
                  Anchors are examples for the judges of a{" "}
                  <Link to="/p/$project/new-monitor" params={{ project: project.name }}>
                    monitor
                  </Link>
                  .
                </p>
              </Notice>
            );
          }
          return (
            <Form asked={{ mutate: () => lead(monitor), error: null, isPending: false }} does="Open the file">
              <p>
                The trace becomes an example in the prompt of the judge. You can check the file before you
                apply it.
              </p>
              <Select
                label="Monitor"
                value={monitor}
                options={sorted.map((it) => ({ value: it.name, label: it.name }))}
                onChange={(it) => setChosen(it.target.value)}
              />
              <fieldset className={styles.kinds}>
                <legend>Kind of example</legend>
                {(["good", "bad"] as const).map((it) => (
                  <label key={it}>
                    <input type="radio" name="kind" checked={kind === it} onChange={() => setKind(it)} />
                    {it}
                  </label>
                ))}
              </fieldset>
            </Form>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

const watches = (agents: string[], agent: string | null | undefined): boolean =>
  agent != null && agents.includes(agent);
