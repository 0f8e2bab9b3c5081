import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { may, useProject } from "../api/session";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
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
  const { data } = useQuery(runLabelsQuery(project.id, run));
  if (!data) return null;
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
              <LabelSign isPassed={label.is_passed} /> <b>{label.author ?? "Local user"}</b>{" "}
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

/** A thumb with its word, so that it can be read without pictures. */
function LabelSign({ isPassed }: { isPassed: boolean }) {
  return (
    <span>
      <span aria-hidden="true">{isPassed ? "👍" : "👎"}</span> {isPassed ? "pass" : "fail"}
    </span>
  );
}

type OwnLabelProps = { run: string; place: number; own: RunLabel | undefined };

function OwnLabel({ run, place, own }: OwnLabelProps) {
  const project = useProject();
  const queries = useQueryClient();
  const [comment, setComment] = useState(own?.comment ?? "");
  const saving = useMutation({
    mutationFn: (is_passed: boolean | null) => putRunLabel(project.id, run, { place, is_passed, comment }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["run-labels", project.id, run] }),
  });
  return (
    <div className={styles.own}>
      <div className={styles.thumbs} role="group" aria-label="Your label">
        <span className={styles.soft}>Your label</span>
        {[true, false].map((isPassed) => {
          const isPressed = own?.is_passed === isPassed;
          return (
            <Button
              key={String(isPassed)}
              aria-pressed={isPressed}
              title={isPressed ? "Remove the label" : undefined}
              disabled={saving.isPending}
              onClick={() => saving.mutate(isPressed ? null : isPassed)}
            >
              <LabelSign isPassed={isPassed} />
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
            onChange={(event) => setComment(event.target.value)}
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
    <p className={styles.agreement}>
      <span role="status">
        {plural(nCases, "case")} labelled by people
        {n > 0 && `; the verdict agrees with ${count(nAgreed)} of ${plural(n, "label")}`}.
      </span>{" "}
      <span className={styles.soft}>Kappa with its interval:</span>{" "}
      <code>{`jurist align --human ${run} --judge ${run}`}</code>
      <CopyButton text={`jurist align --human ${run} --judge ${run}`} look="quiet" />
    </p>
  );
}
