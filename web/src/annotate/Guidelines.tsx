import { useState } from "react";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { said, titleOf } from "./answers";
import styles from "./Guidelines.module.css";
import type { Criterion, Scheme } from "./types";

type GuidelinesProps = {
  /** What the owner of the task wrote. */
  text: string | undefined;
  schemes: Scheme[];
};

/** A button that opens the guidelines: what the owner wrote, and what each criterion and answer means. */
export function Guidelines({ text, schemes }: GuidelinesProps) {
  const [isOpen, setOpen] = useState(false);
  const rubrics = schemes.flatMap((it) => (it.kind === "rubric" ? [it] : []));
  if (!text && rubrics.length === 0) return null;
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        Guidelines
      </Button>
      {isOpen && (
        <Dialog title="Guidelines" onClose={() => setOpen(false)} wide>
          <div className={styles.guidelines}>
            {text && (
              <p className={styles.text} dir="auto">
                {text}
              </p>
            )}
            {rubrics.map((scheme) => (
              <section key={scheme.name} aria-label={titleOf(scheme)}>
                {schemes.length > 1 && <h3>{titleOf(scheme)}</h3>}
                {scheme.criteria.map((it) => (
                  <CriterionGuide key={it.name} criterion={it} />
                ))}
              </section>
            ))}
          </div>
        </Dialog>
      )}
    </>
  );
}

/** What a criterion means, and each of its answers. */
function CriterionGuide({ criterion: { label, description, points } }: { criterion: Criterion }) {
  const explained = points.filter((it) => it.text || it.label);
  return (
    <div className={styles.criterion}>
      <h4>{label}</h4>
      {description && <p dir="auto">{description}</p>}
      {explained.length > 0 && (
        <dl>
          {explained.map((it) => (
            <div key={String(it.value)}>
              <dt>
                {said(it.value)}
                {it.label && it.label !== said(it.value) && ` ${it.label}`}
              </dt>
              <dd dir="auto">{it.text}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
