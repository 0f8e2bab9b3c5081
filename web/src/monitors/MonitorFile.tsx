import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { api, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { type AnchorKind, withAnchor } from "../editor/anchors";
import { useFileCheck } from "../editor/fileCheck";
import { SourceEditor } from "../editor/SourceEditor";
import { Code } from "../traces/view/Code";
import { Button } from "../ui/Button";
import { moment } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { useToast } from "../ui/Toast";
import styles from "./Monitors.module.css";
import { type Monitor, monitorQuery, monitorVersionsQuery } from "./queries";
import { useVersionNames } from "./versions";

/** Applies a file under a name; problems of the file are in `error`. */
export function useApplyMonitor(onDone: (monitor: Monitor) => void) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: ({ name, source }: { name: string; source: string }) =>
      unwrap(
        api(project.id).PUT("/api/v1/monitors/{name}", { params: { path: { name } }, body: { source } }),
      ),
    onSuccess: ({ is_changed, is_new_rubric, monitor }) => {
      toast(
        !is_changed
          ? `${monitor.name}: no change.`
          : is_new_rubric
            ? `${monitor.name}: new rubric version.`
            : `${monitor.name}: new monitor version, same rubric version.`,
      );
      queries.setQueryData(monitorQuery(project.id, monitor.name).queryKey, monitor);
      queries.invalidateQueries({ queryKey: ["monitors", project.id] });
      queries.invalidateQueries({ queryKey: ["monitor-versions", project.id, monitor.name] });
      onDone(monitor);
    },
  });
}

/** The editor of the monitor file, and its earlier versions. */
export function MonitorFile({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const mayWrite = may(project, "write");
  const anchor = useAnchor(monitor);
  const [text, setText] = useState(anchor?.source ?? monitor.version.source);
  const checked = useFileCheck("monitor", text);
  const applying = useApplyMonitor((it) => setText(it.version.source));
  // Another person may apply a file while nothing was changed here.
  const [base, setBase] = useState(monitor.version.source);
  useEffect(() => {
    if (text === base) setText(monitor.version.source);
    setBase(monitor.version.source);
  }, [monitor.version.source, text, base]);
  const isChanged = text !== monitor.version.source;
  return (
    <>
      <section className={styles.form}>
        {anchor && <AnchorNote anchor={anchor} monitor={monitor} isChanged={isChanged} />}
        <SourceEditor
          label="Monitor file"
          kind="monitor"
          problems={checked.data?.problems}
          text={text}
          onTextChange={(it) => {
            setText(it);
            if (applying.error) applying.reset();
          }}
          error={applying.error}
          onSave={() => isChanged && applying.mutate({ name: monitor.name, source: text })}
          readOnly={!mayWrite}
        >
          {mayWrite ? (
            <div className={styles.line}>
              <Button
                look="main"
                onClick={() => applying.mutate({ name: monitor.name, source: text })}
                disabled={!isChanged || applying.isPending}
              >
                {applying.isPending ? "Applying…" : "Apply"}
              </Button>
              {isChanged && (
                <Button
                  onClick={() => {
                    setText(monitor.version.source);
                    applying.reset();
                  }}
                >
                  Discard changes
                </Button>
              )}
              <span className={styles.soft}>
                A change of the rubric or its anchors starts a new series of estimates. A change of sample
                rate, filter or judges does not.
              </span>
            </div>
          ) : (
            <p className={styles.soft}>You need a role with the permission write to change this file.</p>
          )}
        </SourceEditor>
      </section>
      <MonitorVersions monitor={monitor} />
    </>
  );
}

type Anchor = { kind: AnchorKind; trace: string; source: string | undefined };
type AnchorNoteProps = { anchor: Anchor; monitor: Monitor; isChanged: boolean };

/** Whether the trace in the address is now an anchor. */
function AnchorNote({ anchor: { kind, trace, source }, monitor, isChanged }: AnchorNoteProps) {
  const id = <code>{trace}</code>;
  if (source === undefined) {
    return <p role="status">The anchors in this file have an unusual layout. Add {id} by hand.</p>;
  }
  if (source === monitor.version.source) return <p role="status">{id} is one of its anchors.</p>;
  if (!isChanged) return null;
  return (
    <p role="status">
      {id} is now one of the {kind} anchors below. Apply the file to save it.
    </p>
  );
}

/** The file with the trace in the address added to its anchors. */
function useAnchor({ version }: Monitor): Anchor | undefined {
  const { good, bad } = useSearch({ from: "/p/$project/monitors/$monitor" });
  const [kind, trace]: [AnchorKind, string | undefined] = good ? ["good", good] : ["bad", bad];
  return trace === undefined ? undefined : { kind, trace, source: withAnchor(version.source, kind, trace) };
}

function MonitorVersions({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const versions = useQuery(monitorVersionsQuery(project.id, monitor.name));
  const versionOf = useVersionNames(monitor.name);
  return (
    <section className={styles.part}>
      <h2>Versions</h2>
      <Loaded query={versions} what="versions">
        {(all) => (
          <>
            {all.map((it) => (
              <details key={it.id} className={styles.old}>
                <summary>
                  {moment(it.created)}{" "}
                  <span className={styles.soft} title={it.rubric_version}>
                    rubric {versionOf(it.rubric_version)}
                    {it.id === monitor.version.id && " · current"}
                  </span>
                </summary>
                <Code text={it.source} language="yaml" />
              </details>
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
}
