import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useId } from "react";
import { Button } from "../ui/Button";
import { plural } from "../ui/format";
import { isTyping, type KeyGroup, useKeyHelp } from "../ui/KeyHelp";
import { isMarked, kindsOf, runningScore, words } from "./answers";
import styles from "./StepMarks.module.css";
import type { AnswerOf, KindOf, Marked } from "./types";

type StepMarksProps = {
  scheme: KindOf<"trajectory">;
  n: number;
  marked: Marked;
  onMarkedChange: (marked: Marked) => void;
  isMissing: boolean;
};

/** The mark of one step: correct or not, the kind of error and its severity. */
export function StepMarks({ scheme, n, marked, onMarkedChange, isMissing }: StepMarksProps) {
  const id = useId();
  const isWrong = marked.mark !== undefined && marked.mark !== scheme.marks[0];
  return (
    <div className={styles.marks} data-wrong={isWrong || undefined} data-missing={isMissing || undefined}>
      <div role="radiogroup" aria-label={`Step ${n}`} className={styles.line}>
        {scheme.marks.map((mark, at) => (
          <label key={mark} className={styles.mark} data-first={at === 0 || undefined}>
            <input
              type="radio"
              name={`${id}-mark`}
              checked={marked.mark === mark}
              onChange={() => onMarkedChange(at === 0 ? { mark } : { ...marked, mark })}
            />
            {mark}
          </label>
        ))}
        {isMissing && (
          <span className={styles.missing}>{marked.mark ? "choose the kind of error" : "not marked"}</span>
        )}
      </div>
      {isWrong && (
        <div className={styles.more}>
          {scheme.errors.length > 0 && (
            <label>
              Kind of error
              <select
                value={marked.error ?? ""}
                onChange={(it) => onMarkedChange({ ...marked, error: it.target.value || undefined })}
              >
                <option value="">choose…</option>
                {scheme.errors.map((group) => (
                  <optgroup key={group.category} label={words(group.category)}>
                    {kindsOf(group, scheme.errors).map((it) => (
                      <option key={it.value} value={it.value}>
                        {it.label}
                      </option>
                    ))}
                  </optgroup>
                ))}
              </select>
            </label>
          )}
          {scheme.severities.length > 0 && (
            <fieldset>
              <legend>Severity</legend>
              {scheme.severities.map((it) => (
                <label key={it.name} className={styles.mark}>
                  <input
                    type="radio"
                    name={`${id}-severity`}
                    checked={marked.severity === it.name}
                    onChange={() => onMarkedChange({ ...marked, severity: it.name })}
                  />
                  {words(it.name)}
                </label>
              ))}
            </fieldset>
          )}
          <label className={styles.rationale}>
            Why
            <textarea
              rows={2}
              dir="auto"
              value={marked.rationale ?? ""}
              onKeyDown={leaveOnEscape}
              onChange={(it) => onMarkedChange({ ...marked, rationale: it.target.value })}
            />
          </label>
        </div>
      )}
    </div>
  );
}

/** Escape goes from a text field back to the steps, where digits mark and `j` moves on. */
function leaveOnEscape(event: ReactKeyboardEvent<HTMLElement>) {
  if (event.key !== "Escape") return;
  const steps = event.currentTarget.closest<HTMLElement>('[role="group"][tabindex]');
  if (steps) steps.focus({ preventScroll: true });
  else event.currentTarget.blur();
}

type StepsSummaryProps = {
  scheme: KindOf<"trajectory">;
  answer: AnswerOf<"trajectory">;
  onStepShow: (n: number) => void;
};

/** Progress, wrong steps, and the score when every step is marked. */
export function StepsSummary({ scheme, answer, onStepShow }: StepsSummaryProps) {
  const open = scheme.steps.filter((n) => !isMarked(scheme, answer.steps[n]));
  const wrong = scheme.steps.filter(
    (n) => answer.steps[n]?.mark && answer.steps[n]?.mark !== scheme.marks[0],
  );
  const score = runningScore(scheme, answer.steps);
  return (
    <div className={styles.summary}>
      <p>
        {plural(scheme.steps.length - open.length, "step")} of {scheme.steps.length} marked.{" "}
        {open[0] !== undefined && (
          <Button look="link" onClick={() => onStepShow(open[0] as number)}>
            Go to step {open[0]}
          </Button>
        )}
      </p>
      {wrong.length > 0 && (
        <ol className={styles.wrong}>
          {wrong.map((n) => (
            <li key={n}>
              <Button look="link" onClick={() => onStepShow(n)}>
                Step {n}
              </Button>{" "}
              {words(
                [answer.steps[n]?.severity, answer.steps[n]?.error ?? answer.steps[n]?.mark]
                  .filter(Boolean)
                  .join(" · "),
              )}
            </li>
          ))}
        </ol>
      )}
      <p className={styles.score}>
        {score === undefined ? (
          <span>The score is shown once every step is marked.</span>
        ) : (
          <>
            Score <output>{score}</output> <span>of {scheme.initial}</span>
          </>
        )}
      </p>
    </div>
  );
}

const KEYS: KeyGroup = {
  title: "Marking steps",
  keys: [
    { keys: ["1", "2", "…"], does: "mark the current step" },
    { keys: ["j", "k"], does: "next, previous step that can be marked" },
    { keys: ["Esc"], does: "leave the text field" },
    { keys: ["u"], does: "go to the first step that is not marked" },
  ],
};

type MarkKeys = {
  isActive: boolean;
  scheme: KindOf<"trajectory"> | undefined;
  answer: AnswerOf<"trajectory"> | undefined;
  step: number | undefined;
  onMark: (n: number, mark: string) => void;
  onStepShow: (n: number) => void;
};

export function useMarkKeys({ isActive, scheme, answer, step, onMark, onStepShow }: MarkKeys) {
  useKeyHelp(scheme && KEYS);
  useEffect(() => {
    if (!isActive || !scheme) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open]")) return;
      const mark = /^[1-9]$/.test(event.key) ? scheme.marks[Number(event.key) - 1] : undefined;
      if (mark && step !== undefined && scheme.steps.includes(step)) onMark(step, mark);
      else if (event.key === "u") {
        const open = scheme.steps.find((n) => !isMarked(scheme, answer?.steps[n]));
        if (open !== undefined) onStepShow(open);
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
