import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Problem } from "../api/client";
import { useProject } from "../api/session";
import { CodeBlock } from "../ui/CodeBlock";
import { Dialog } from "../ui/Dialog";
import { Loaded } from "../ui/Loaded";
import styles from "./Datasets.module.css";
import { type DatasetCaseInFull, datasetCaseQuery } from "./queries";

/** A task without a name has a hash of its text, of which six digits tell tasks apart. */
export const shortTaskOf = (task: string): string => (/^[0-9a-f]{16}$/.test(task) ? task.slice(0, 6) : task);

type DatasetCaseDialogProps = {
  dataset: string;
  caseKey: string;
  /** One version, or two to compare. */
  versions: number[];
  onClose: () => void;
  /** Below the case. */
  children?: ReactNode;
};

/** A case as it is stored in each of these versions. */
export function DatasetCaseDialog({ dataset, caseKey, versions, onClose, children }: DatasetCaseDialogProps) {
  return (
    <Dialog title={`Case ${caseKey}`} onClose={onClose} wide>
      <div className={styles.sides}>
        {versions.map((version) => (
          <section key={version} aria-label={`v${version}`} className={styles.part}>
            <h3>v{version}</h3>
            <CaseInVersion dataset={dataset} caseKey={caseKey} version={version} />
          </section>
        ))}
      </div>
      {children}
    </Dialog>
  );
}

type CaseInVersionProps = { dataset: string; caseKey: string; version: number };

function CaseInVersion({ dataset, caseKey, version }: CaseInVersionProps) {
  const project = useProject();
  const found = useQuery(datasetCaseQuery(project.id, dataset, caseKey, version));
  if (found.error instanceof Problem && found.error.status === 404) {
    return <p>This version does not have the case.</p>;
  }
  return (
    <Loaded query={found} what="the case">
      {(stored) => <CaseRecord stored={stored} />}
    </Loaded>
  );
}

function CaseRecord({ stored: { record, split, task, rubric, trace } }: { stored: DatasetCaseInFull }) {
  const project = useProject();
  return (
    <>
      <p className={styles.soft}>
        {split} · <span title={task}>task {shortTaskOf(task)}</span> ·{" "}
        {rubric ? `rubric ${rubric.name}` : "no rubric"}
        {trace && (
          <>
            {" · "}
            <Link to="/p/$project/traces/$trace" params={{ project: project.name, trace }}>
              trace {trace}
            </Link>
          </>
        )}
      </p>
      {record ? (
        <CodeBlock text={JSON.stringify(record, null, 2)} isWrapped />
      ) : (
        <p>The trace of this case was erased, and its text with it.</p>
      )}
    </>
  );
}
