import { useEffect, useId } from "react";
import { isTyping } from "../ui/KeyHelp";
import { titleOf } from "./answers";
import styles from "./SimpleQuestions.module.css";
import type { AnswerOf, KindOf } from "./types";

type Props<Kind extends "choice" | "likert" | "text" | "pairwise"> = {
  scheme: KindOf<Kind>;
  answer: AnswerOf<Kind>;
  onAnswerChange: (answer: AnswerOf<Kind>) => void;
  /** Whether digits apply to this question. */
  isActive: boolean;
  isMissing: boolean;
};

/** One or several of the labels. Digits select. */
export function Choice({ scheme, answer, onAnswerChange, isActive, isMissing }: Props<"choice">) {
  const id = useId();
  const toggle = (label: string) => {
    const has = answer.labels.includes(label);
    if (!scheme.many) return onAnswerChange({ ...answer, labels: [label] });
    const labels = scheme.labels.filter((it) => (it === label ? !has : answer.labels.includes(it)));
    onAnswerChange({ ...answer, labels });
  };
  useDigits(isActive, (digit) => {
    const label = scheme.labels[digit - 1];
    if (label !== undefined) toggle(label);
  });
  if (scheme.dropdown && !scheme.many) {
    return (
      <QuestionFieldset scheme={scheme} isMissing={isMissing}>
        <select
          className={styles.select}
          aria-label={titleOf(scheme)}
          value={answer.labels[0] ?? ""}
          onChange={(it) => onAnswerChange({ ...answer, labels: it.target.value ? [it.target.value] : [] })}
        >
          <option value="">choose…</option>
          {scheme.labels.map((it) => (
            <option key={it}>{it}</option>
          ))}
        </select>
      </QuestionFieldset>
    );
  }
  return (
    <QuestionFieldset scheme={scheme} isMissing={isMissing}>
      <div className={styles.options}>
        {scheme.labels.map((label, at) => (
          <label key={label} className={styles.option}>
            <input
              type={scheme.many ? "checkbox" : "radio"}
              name={id}
              checked={answer.labels.includes(label)}
              onChange={() => toggle(label)}
            />
            <span>{label}</span>
            {at < 9 && <kbd data-idle={!isActive || undefined}>{at + 1}</kbd>}
          </label>
        ))}
      </div>
    </QuestionFieldset>
  );
}

/** A Likert scale. */
export function Likert({ scheme, answer, onAnswerChange, isActive, isMissing }: Props<"likert">) {
  const id = useId();
  const points = Array.from({ length: scheme.size }, (_, at) => at + 1);
  useDigits(isActive, (digit) => {
    if (points.includes(digit)) onAnswerChange({ ...answer, value: digit });
  });
  return (
    <QuestionFieldset scheme={scheme} isMissing={isMissing}>
      <div className={styles.likert}>
        <span>{scheme.min_label}</span>
        {points.map((it) => (
          <label key={it} className={styles.point}>
            <input
              type="radio"
              name={id}
              checked={answer.value === it}
              onChange={() => onAnswerChange({ ...answer, value: it })}
            />
            {it}
          </label>
        ))}
        <span>{scheme.max_label}</span>
      </div>
    </QuestionFieldset>
  );
}

/** Free text. */
export function FreeText({ scheme, answer, onAnswerChange, isMissing }: Props<"text">) {
  const shared = {
    className: styles.text,
    "aria-label": titleOf(scheme),
    value: answer.text,
    placeholder: scheme.placeholder,
    dir: "auto",
  };
  return (
    <QuestionFieldset scheme={scheme} isMissing={isMissing}>
      {scheme.multiline ? (
        <textarea
          rows={4}
          {...shared}
          onChange={(it) => onAnswerChange({ ...answer, text: it.target.value })}
        />
      ) : (
        <input {...shared} onChange={(it) => onAnswerChange({ ...answer, text: it.target.value })} />
      )}
    </QuestionFieldset>
  );
}

/** Which of two is better; a tie where the task allows it. 1 and 2 select, 0 is a tie. */
export function Pairwise({ scheme, answer, onAnswerChange, isActive, isMissing }: Props<"pairwise">) {
  const id = useId();
  const labels =
    scheme.tie_label === undefined
      ? scheme.labels
      : [scheme.labels[0], scheme.tie_label, ...scheme.labels.slice(1)];
  const keyOf = (label: string | undefined) =>
    label === scheme.tie_label ? 0 : scheme.labels.indexOf(label ?? "") + 1;
  useDigits(isActive, (digit) => {
    const label = digit === 0 ? scheme.tie_label : scheme.labels[digit - 1];
    if (label !== undefined) onAnswerChange({ ...answer, label });
  });
  return (
    <QuestionFieldset scheme={scheme} isMissing={isMissing}>
      <div className={styles.pair}>
        {labels.map((label) => (
          <label key={label} className={styles.point}>
            <input
              type="radio"
              name={id}
              checked={answer.label === label}
              onChange={() => onAnswerChange({ ...answer, label })}
            />
            <span>{label}</span>
            <kbd data-idle={!isActive || undefined}>{keyOf(label)}</kbd>
          </label>
        ))}
      </div>
    </QuestionFieldset>
  );
}

type QuestionFieldsetProps = {
  scheme: { name: string; description?: string; required: boolean };
  isMissing: boolean;
  children: React.ReactNode;
};

function QuestionFieldset({ scheme, isMissing, children }: QuestionFieldsetProps) {
  return (
    <fieldset className={styles.question} data-missing={isMissing || undefined} data-scheme={scheme.name}>
      <legend>
        {titleOf(scheme)}
        {!scheme.required && <span className={styles.optional}> optional</span>}
        {isMissing && <span className={styles.missing}> not answered</span>}
      </legend>
      {children}
    </fieldset>
  );
}

function useDigits(isActive: boolean, onDigit: (digit: number) => void) {
  useEffect(() => {
    if (!isActive) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!/^\d$/.test(event.key) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      onDigit(Number(event.key));
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
