import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { Problem, ServerGone } from "../api/client";
import { Button } from "../ui/Button";
import { type Fault, faultsOf, placeOf } from "./problems";
import styles from "./SourceEditor.module.css";

type SourceEditorProps = {
  label: string;
  text: string;
  onTextChange: (text: string) => void;
  /** What the server made of it, if it was not in order. */
  error: Error | null;
  onSave: () => void;
  readOnly?: boolean;
  children?: ReactNode;
};

/** A file as text, with what is wrong with it at its lines. Ctrl+Enter sends it. */
export function SourceEditor(props: SourceEditorProps) {
  const { label, text, onTextChange, error, onSave, readOnly, children } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const faults = faultsIn(error);
  const wrong = new Set(faults.map((it) => it.line));
  const lines = text.split("\n");
  const show = (line: number) => {
    area.current?.focus();
    area.current?.setSelectionRange(...placeOf(text, line));
    area.current?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSave();
  };
  return (
    <div className={styles.editor}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <div className={styles.text}>
        <div className={styles.numbers} aria-hidden="true">
          {lines.map((_, at) => (
            <span key={at} data-wrong={wrong.has(at + 1) || undefined}>
              {at + 1}
            </span>
          ))}
        </div>
        <textarea
          ref={area}
          id={id}
          rows={Math.max(10, lines.length + 1)}
          spellCheck={false}
          autoCapitalize="off"
          wrap="off"
          value={text}
          readOnly={readOnly}
          aria-invalid={faults.length > 0 || undefined}
          aria-describedby={faults.length > 0 ? `${id}-faults` : undefined}
          onChange={(it) => onTextChange(it.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      {faults.length > 0 && (
        <div id={`${id}-faults`} className={styles.faults} role="alert">
          <ul>
            {faults.map((it, at) => (
              <li key={at}>
                {it.line !== null && (
                  <Button look="link" onClick={() => show(it.line ?? 1)}>
                    line {it.line}
                  </Button>
                )}
                <span>{it.text}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {children}
    </div>
  );
}

function faultsIn(error: Error | null): Fault[] {
  if (!error) return [];
  if (error instanceof ServerGone)
    return [{ line: null, text: "The server does not answer. Try again in a moment." }];
  return error instanceof Problem ? faultsOf(error.message) : [{ line: null, text: error.message }];
}
