import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Problem, ServerGone } from "../api/client";
import { CodeLines } from "../traces/view/Code";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { CodeText } from "../ui/CodeText";
import { capitalize } from "../ui/format";
import { type KeyGroup, useKeyHelp } from "../ui/KeyHelp";
import { useColouredLines } from "./colours";
import { type Defs, type Suggested, type Suggestion, suggestionsAt } from "./completion";
import { type Fault, faultsOf, offsetOf, placeOf, type Severity, sorted } from "./problems";
import styles from "./SourceEditor.module.css";

type SourceEditorProps = {
  label: string;
  text: string;
  onTextChange: (text: string) => void;
  /** The error of the last save. */
  error: Error | null;
  onSave: () => void;
  readOnly?: boolean;
  /** Problems found while it is written. */
  problems?: Fault[];
  /** The kind of file, for suggestions. */
  kind?: "rubric" | "monitor";
  children?: ReactNode;
};

/** A file as text, with syntax colours, and problems at their lines. Ctrl+Enter saves it. */
export function SourceEditor(props: SourceEditorProps) {
  const { label, text, onTextChange, error, onSave, readOnly, problems = [], kind, children } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const faults = together(problems, faultsIn(error));
  const worst = new Map<number | null, Severity>();
  for (const it of faults.toReversed()) worst.set(it.line, it.severity);
  const lines = text.split("\n");
  const coloured = useColouredLines(text);
  const colours = useRef<HTMLPreElement>(null);
  // The layer of colours shows the part of the text that the textarea shows.
  const scroll = () => {
    if (!colours.current || !area.current) return;
    colours.current.style.transform = `translate(${-area.current.scrollLeft}px, ${-area.current.scrollTop}px)`;
  };
  useLayoutEffect(scroll);
  const words = useSuggestions(area, readOnly ? undefined : kind);
  useKeyHelp(KEYS);
  const show = (line: number) => {
    area.current?.focus();
    area.current?.setSelectionRange(...placeOf(text, line));
    area.current?.scrollIntoView({ block: "nearest" });
  };
  const mend = ({ mend }: Fault) => {
    if (!area.current || !mend) return;
    area.current.focus();
    area.current.setSelectionRange(offsetOf(text, mend.from), offsetOf(text, mend.to));
    write(mend.by);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      words.close();
      onSave();
    } else words.onKeyDown(event);
  };
  const isWrong = faults.some((it) => it.severity === "error");
  return (
    <div className={styles.editor}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <div className={styles.text}>
        <div className={styles.numbers} aria-hidden="true">
          {lines.map((_, at) => (
            <span key={at} data-severity={worst.get(at + 1)}>
              {at + 1}
            </span>
          ))}
        </div>
        <div className={styles.written} data-coloured={coloured ? true : undefined}>
          {coloured && (
            <div className={styles.colours} data-layer aria-hidden="true">
              <pre ref={colours}>
                <CodeLines lines={coloured} />
              </pre>
            </div>
          )}
          <textarea
            ref={area}
            id={id}
            rows={Math.max(10, lines.length + 1)}
            spellCheck={false}
            autoCapitalize="off"
            wrap="off"
            value={text}
            readOnly={readOnly}
            aria-invalid={isWrong || undefined}
            aria-describedby={faults.length > 0 ? `${id}-faults` : undefined}
            aria-autocomplete={kind ? "list" : undefined}
            aria-controls={words.found ? `${id}-words` : undefined}
            aria-activedescendant={words.found ? `${id}-word-${words.at}` : undefined}
            onChange={(it) => {
              onTextChange(it.target.value);
              words.onWritten(it.target);
            }}
            onScroll={scroll}
            onFocus={words.load}
            onBlur={words.close}
            onClick={words.close}
            onKeyDown={onKeyDown}
          />
          {words.found && (
            <SuggestionList
              id={id}
              all={words.found.all}
              at={words.at}
              place={placeIn(text, words.found.from)}
              onTake={words.take}
            />
          )}
        </div>
      </div>
      {faults.length > 0 && (
        <div id={`${id}-faults`} className={styles.faults} role={isWrong ? "alert" : "status"}>
          <ul aria-label="Problems">
            {faults.map((it, at) => (
              <li key={at} data-severity={it.severity}>
                <Badge tone={TONES[it.severity]}>{SIGNS[it.severity]}</Badge>
                {it.line !== null && (
                  <Button look="link" onClick={() => show(it.line ?? 1)}>
                    line {it.line}
                  </Button>
                )}
                <span>
                  <CodeText text={it.text} />
                  {it.help && (
                    <span className={styles.help}>
                      <CodeText text={capitalize(it.help)} />
                    </span>
                  )}
                  {it.mend && !readOnly && (
                    <Button look="link" className={styles.mend} onClick={() => mend(it)}>
                      {it.mend.by === "" ? "Remove it" : `Replace with ${it.mend.by}`}
                    </Button>
                  )}
                  {it.code && <code className={styles.code}>{it.code}</code>}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {children}
    </div>
  );
}

const TONES = { error: "fail", warning: "accent", advice: "plain" } as const;
const SIGNS: Record<Severity, string> = { error: "✕ error", warning: "! warning", advice: "advice" };

const KEYS: KeyGroup = {
  title: "File",
  keys: [
    { keys: ["Ctrl Space"], does: "suggest keys and values" },
    { keys: ["↑", "↓", "Enter"], does: "in that list: move, insert" },
    { keys: ["Ctrl Enter"], does: "save the file" },
  ],
};

type SuggestionListProps = {
  id: string;
  all: Suggestion[];
  at: number;
  place: { line: number; column: number };
  onTake: (at: number) => void;
};

function SuggestionList({ id, all, at, place, onTake }: SuggestionListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <div
      ref={list}
      id={`${id}-words`}
      role="listbox"
      aria-label="Suggestions"
      className={styles.words}
      style={{
        insetBlockStart: `calc(0.6rem + ${place.line} * 1.6em)`,
        insetInlineStart: `min(calc(0.4rem + ${place.column}ch), calc(100% - 20rem))`,
      }}
    >
      {all.map((it, n) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys stay with the text, as a list of suggestions has it.
        // biome-ignore lint/a11y/useFocusableInteractive: the same.
        <div
          key={it.word}
          id={`${id}-word-${n}`}
          role="option"
          aria-selected={n === at}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onTake(n)}
        >
          <b>{it.word}</b>
          {it.about && <span>{it.about}</span>}
        </div>
      ))}
    </div>
  );
}

/** The line and column of a place, the line counted from 1. */
function placeIn(text: string, at: number) {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: before.at(-1)?.length ?? 0 };
}

let loaded: Promise<Defs> | undefined;

/** Suggestions while writing: the list, the selected one, and the keys. */
function useSuggestions(area: { current: HTMLTextAreaElement | null }, kind: SourceEditorProps["kind"]) {
  const [defs, setDefs] = useState<Defs>();
  const [found, setFound] = useState<Suggested>();
  const [at, setAt] = useState(0);
  // Text was entered before the suggestions were loaded.
  const isAwaited = useRef(false);
  const close = () => {
    isAwaited.current = false;
    setFound(undefined);
  };
  const load = () => {
    if (!kind || defs) return;
    loaded ??= import("./words.json").then((it) => it.default as Defs);
    loaded.then(setDefs, () => {
      // No suggestions for now; the next focus tries again.
      loaded = undefined;
    });
  };
  const look = (it: HTMLTextAreaElement) => {
    setAt(0);
    isAwaited.current = defs === undefined;
    const isOne = it.selectionStart === it.selectionEnd;
    setFound(kind && defs && isOne ? suggestionsAt(it.value, it.selectionStart, kind, defs) : undefined);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when words have come.
  useEffect(() => {
    if (defs && isAwaited.current && area.current) look(area.current);
  }, [defs]);
  const onWritten = (it: HTMLTextAreaElement) => {
    // Opens automatically after the first letter or where a value is due; else on Ctrl+Space.
    const before = it.value.slice(0, it.selectionStart);
    if (/[\w-]$|\w: $/.test(before)) look(it);
    else close();
  };
  const take = (n: number) => {
    const it = area.current;
    const word = found?.all[n];
    if (!it || !word || !found) return;
    const end = it.selectionStart;
    it.focus();
    it.setSelectionRange(found.from, end);
    close();
    write(word.insert);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === " " && event.ctrlKey && area.current) {
      event.preventDefault();
      look(area.current);
      return;
    }
    if (!found) return;
    const n = found.all.length;
    if (event.key === "ArrowDown") setAt((at + 1) % n);
    else if (event.key === "ArrowUp") setAt((at + n - 1) % n);
    else if (event.key === "Enter" || event.key === "Tab") take(at);
    else if (event.key === "Escape") close();
    else {
      if (/^(Arrow|Home|End|Page)/.test(event.key)) close();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return { found, at, load, close, onWritten, take, onKeyDown };
}

/** Replaces the selection as if it were typed, so that undo works. */
const write = (text: string) => document.execCommand(text === "" ? "delete" : "insertText", false, text);

/** Problems of the check and of the last save, without duplicates. */
function together(problems: Fault[], sent: Fault[]): Fault[] {
  const isNew = (it: Fault) => !problems.some((one) => one.line === it.line && it.text.startsWith(one.text));
  return sorted([...problems, ...sent.filter(isNew)]);
}

function faultsIn(error: Error | null): Fault[] {
  if (!error) return [];
  const whole = (text: string): Fault[] => [{ severity: "error", line: null, text }];
  if (error instanceof ServerGone) return whole("The server does not answer. Try again in a moment.");
  return error instanceof Problem ? faultsOf(error.message) : whole(error.message);
}
