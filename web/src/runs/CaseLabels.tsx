import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { may, useProject } from "../api/session";
import { StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { TextArea } from "../ui/Field";
import { FormError } from "../ui/Form";
import { count, plural } from "../ui/format";
import { Time } from "../ui/Time";
import styles from "./CaseLabels.module.css";
import type { CaseOutcome } from "./CaseStrip";
import { compareLabels } from "./labelAgreement";
import { putRunLabel, type RunLabel, runLabelsQuery } from "./queries";

/** Labels of people for a case: those of others, and the own one, which can be changed. */
export function CaseLabels({ run, place }: { run: string; place: number }) {
  const project = useProject();
  const { data, error } = useQuery(runLabelsQuery(project.id, run));
  if (!data) return <FormError error={error && new Error(`labels could not be loaded: ${error.message}`)} />;
  const labels = data.filter((label) => label.place === place);
  const others = labels.filter((label) => !label.is_own);
  const mayLabel = may(project, "write");
  if (!mayLabel && others.length === 0) return null;
  return (
    <section className={styles.labels} aria-label="Labels">
      {mayLabel && (
        <OwnLabel key={place} run={run} place={place} own={labels.find((label) => label.is_own)} />
      )}
      {others.length > 0 && (
        <ul className={styles.others}>
          {others.map((label, at) => (
            <li key={at}>
              <StatusBadge status={statusOf(label.is_passed)} /> <b>{label.author ?? "Local user"}</b>{" "}
              <span className={styles.soft}>
                <Time at={label.time} />
              </span>
              {label.comment && <p dir="auto">{label.comment}</p>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const statusOf = (isPassed: boolean): "pass" | "fail" => (isPassed ? "pass" : "fail");

type OwnLabelProps = { run: string; place: number; own: RunLabel | undefined };

function OwnLabel({ run, place, own }: OwnLabelProps) {
  const project = useProject();
  const queries = useQueryClient();
  // The stored comment, unless it is being changed: the server may have removed a secret from it.
  const [typed, setTyped] = useState<string>();
  const comment = typed ?? own?.comment ?? "";
  const saving = useMutation({
    mutationFn: (is_passed: boolean | null) => putRunLabel(project.id, run, { place, is_passed, comment }),
    onMutate: () => typed,
    onSuccess: async (_, __, sent) => {
      await queries.invalidateQueries({ queryKey: ["run-labels", project.id, run] });
      // What was typed in the meantime is not saved yet.
      setTyped((now) => (now === sent ? undefined : now));
    },
  });
  return (
    <div className={styles.own}>
      <div className={styles.choices} role="group" aria-label="Your label">
        <span className={styles.soft}>Your label</span>
        {[true, false].map((isPassed) => {
          const isPressed = own?.is_passed === isPassed;
          return (
            <Button
              key={String(isPassed)}
              aria-pressed={isPressed}
              title={isPressed ? "Remove the label" : undefined}
              // A disabled button would lose the focus.
              aria-disabled={saving.isPending}
              onClick={() => !saving.isPending && saving.mutate(isPressed ? null : isPassed)}
            >
              <span aria-hidden="true">{isPassed ? "✓" : "✕"}</span> {statusOf(isPassed)}
            </Button>
          );
        })}
      </div>
      {own && (
        <div className={styles.comment}>
          <TextArea
            label="Comment"
            rows={2}
            maxLength={2000}
            dir="auto"
            value={comment}
            onChange={(event) => setTyped(event.target.value)}
          />
          <Button
            disabled={saving.isPending || comment.trim() === own.comment}
            onClick={() => saving.mutate(own.is_passed)}
          >
            Save comment
          </Button>
        </div>
      )}
      <FormError error={saving.error} />
    </div>
  );
}

/** How far the verdicts of a run agree with the labels of people. */
export function LabelAgreementNote({ run, outcomes }: { run: string; outcomes: CaseOutcome[] }) {
  const project = useProject();
  const { data } = useQuery(runLabelsQuery(project.id, run));
  if (!data || data.length === 0) return null;
  const { n, nAgreed, nCases } = compareLabels(data, outcomes);
  return (
    <div className={styles.agreement}>
      <p role="status">
        {plural(nCases, "case")} labelled by people
        {n > 0 && `; the verdict agrees with ${count(nAgreed)} of ${plural(n, "label")}`}.
      </p>
      <details>
        <summary>Measure the agreement</summary>
        <p className={styles.soft}>This command prints Cohen’s kappa with its 95 % confidence interval.</p>
        <CodeBlock text={`jurist align --human ${run} --judge ${run}`} />
      </details>
    </div>
  );
}
