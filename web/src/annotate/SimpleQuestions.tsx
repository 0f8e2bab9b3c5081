import { type KeyboardEvent, useEffect, useId } from "react";
import { isTyping } from "../ui/KeyHelp";
import { limitFault, limitHint, MOST_BUTTONS, titleOf } from "./answers";
import { KeyHint } from "./KeyHint";
import { RangeInput } from "./RangeInput";
import styles from "./SimpleQuestions.module.css";
import type { AnswerOf, KindOf } from "./types";

type Props<Kind extends "choice" | "likert" | "slider" | "text" | "pairwise"> = {
  scheme: KindOf<Kind>;
  answer: AnswerOf<Kind>;
  onAnswerChange: (answer: AnswerOf<Kind>) => void;
  /** Whether digits apply to this question. */
  isActive: boolean;
  isMissing: boolean;
  /** Moves to the question above or below. */
  onMove?: (by: 1 | -1) => void;
};

/** One or several of the labels. Digits select. */
export function Choice({ scheme, answer, onAnswerChange, isActive, isMissing, onMove }: Props<"choice">) {
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
      <QuestionFieldset scheme={scheme} isMissing={isMissing} onMove={onMove}>
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
  const limits = { hint: limitHint(scheme), fault: limitFault(scheme, { [scheme.name]: answer }) };
  return (
    <QuestionFieldset scheme={scheme} isMissing={isMissing} onMove={onMove} {...limits}>
      <div className={styles.options}>
        {scheme.labels.map((label, at) => (
          <label key={label} className={styles.option}>
            <input
              type={scheme.many ? "checkbox" : "radio"}
              name={id}
              checked={answer.labels.includes(label)}
              aria-keyshortcuts={at < 9 ? String(at + 1) : undefined}
              onChange={() => toggle(label)}
            />
            <span>{label}</span>
            {at < 9 && <KeyHint of={at + 1} isIdle={!isActive} />}
          </label>
        ))}
      </div>
    </QuestionFieldset>
  );
}

type NumberButtonsProps = {
  points: number[];
  value: number | undefined;
  minLabel?: string;
  maxLabel?: string;
  onChange: (value: number) => void;
};

function NumberButtons({ points, value, minLabel, maxLabel, onChange }: NumberButtonsProps) {
  const id = useId();
  return (
    <div className={styles.likert}>
      <span>{minLabel}</span>
      {points.map((it) => (
        <label key={it} className={styles.point}>
          <input
            type="radio"
            name={id}
            checked={value === it}
            aria-keyshortcuts={it >= 0 && it <= 9 ? String(it) : undefined}
            onChange={() => onChange(it)}
          />
          {it}
        </label>
      ))}
      <span>{maxLabel}</span>
    </div>
  );
}

/** A Likert scale. */
export function Likert({ scheme, answer, onAnswerChange, isActive, isMissing, onMove }: Props<"likert">) {
  const points = Array.from({ length: scheme.size }, (_, at) => at + 1);
  const change = (value: number) => onAnswerChange({ ...answer, value });
  const isShort = points.length <= MOST_BUTTONS;
  useDigits(isActive && isShort, (digit) => {
    if (points.includes(digit)) change(digit);
  });
  const shared = { value: answer.value, minLabel: scheme.min_label, maxLabel: scheme.max_label };
  return (
    <QuestionFieldset scheme={scheme} isMissing={isMissing} onMove={onMove}>
      {isShort ? (
        <NumberButtons points={points} onChange={change} {...shared} />
      ) : (
        <RangeInput
          label={titleOf(scheme)}
          min={1}
          max={scheme.size}
          step={1}
          onChange={change}
          onMove={onMove}
          {...shared}
        />
      )}
    </QuestionFieldset>
  );
}

/** A number between two ends: buttons where there are few, or else a handle. */
export function Slider({ scheme, answer, onAnswerChange, isActive, isMissing, onMove }: Props<"slider">) {
  const { min, max, step, start } = scheme;
  const points = Array.from({ length: Math.floor((max - min) / step) + 1 }, (_, at) => min + at * step);
  const change = (value: number) => onAnswerChange({ ...answer, value });
  const isShort = points.length <= MOST_BUTTONS;
  useDigits(isActive && isShort, (digit) => {
    if (points.includes(digit)) change(digit);
  });
  const shared = { value: answer.value, minLabel: scheme.min_label, maxLabel: scheme.max_label };
  return (
    <QuestionFieldset scheme={scheme} isMissing={isMissing} onMove={onMove}>
      {isShort ? (
        <NumberButtons points={points} onChange={change} {...shared} />
      ) : (
        <RangeInput
          label={titleOf(scheme)}
          min={min}
          max={points[points.length - 1] ?? max}
          step={step}
          start={start}
          onChange={change}
          onMove={onMove}
          {...shared}
        />
      )}
    </QuestionFieldset>
  );
}

/** Free text. */
export function FreeText({ scheme, answer, onAnswerChange, isMissing, onMove }: Props<"text">) {
  const shared = {
    className: styles.text,
    "aria-label": titleOf(scheme),
    value: answer.text,
    placeholder: scheme.placeholder,
    dir: "auto",
  };
  const limits = {
    hint: limitHint(scheme, answer.text),
    fault: limitFault(scheme, { [scheme.name]: answer }),
  };
  return (
    <QuestionFieldset scheme={scheme} isMissing={isMissing} onMove={onMove} {...limits}>
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
export function Pairwise({ scheme, answer, onAnswerChange, isActive, isMissing, onMove }: Props<"pairwise">) {
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
    <QuestionFieldset scheme={scheme} isMissing={isMissing} onMove={onMove}>
      <div className={styles.pair}>
        {labels.map((label) => (
          <label key={label} className={styles.point}>
            <input
              type="radio"
              name={id}
              checked={answer.label === label}
              aria-keyshortcuts={String(keyOf(label))}
              onChange={() => onAnswerChange({ ...answer, label })}
            />
            <span>{label}</span>
            <KeyHint of={keyOf(label)} isIdle={!isActive} />
          </label>
        ))}
      </div>
    </QuestionFieldset>
  );
}

type QuestionFieldsetProps = {
  scheme: { name: string; description?: string; required: boolean };
  isMissing: boolean;
  onMove?: (by: 1 | -1) => void;
  /** The limits of the answer. */
  hint?: string;
  /** Why the answer is outside of them. */
  fault?: string;
  children: React.ReactNode;
};

function QuestionFieldset({ scheme, isMissing, onMove, hint, fault, children }: QuestionFieldsetProps) {
  const hintId = useId();
  return (
    <fieldset
      className={styles.question}
      aria-describedby={hint && hintId}
      data-missing={isMissing || undefined}
      data-scheme={scheme.name}
      onKeyDown={(event) => moveByArrow(event, onMove)}
    >
      <legend>
        {titleOf(scheme)}
        {!scheme.required && <span className={styles.optional}> optional</span>}
        {isMissing && !fault && <span className={styles.missing}> not answered</span>}
      </legend>
      {children}
      {hint && (
        <p id={hintId} className={styles.hint}>
          {hint}
        </p>
      )}
      {isMissing && fault && (
        <p className={styles.missing} role="alert">
          {fault}
        </p>
      )}
    </fieldset>
  );
}

/**
 * Up and down move between questions; left and right choose a radio button, and move between checkboxes.
 * In a drop-down list and in text the arrows keep their own meaning.
 */
function moveByArrow(event: KeyboardEvent<HTMLElement>, onMove?: (by: 1 | -1) => void) {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof HTMLInputElement)) return;
  if (target.type !== "radio" && target.type !== "checkbox") return;
  const vertical = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
  const sideways = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (vertical) {
    event.preventDefault();
    onMove?.(vertical);
  } else if (sideways && target.type === "checkbox") {
    event.preventDefault();
    const all = [...event.currentTarget.querySelectorAll<HTMLInputElement>("input")];
    all[all.indexOf(target) + sideways]?.focus();
  }
}

function useDigits(isActive: boolean, onDigit: (digit: number) => void) {
  useEffect(() => {
    if (!isActive) return;
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!/^\d$/.test(event.key) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      onDigit(Number(event.key));
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
