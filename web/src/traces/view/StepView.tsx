import { createContext, type ReactNode, useContext } from "react";
import { duration, plural } from "../../ui/format";
import { Code, isJson } from "./Code";
import { Diff, EditDiff } from "./Diff";
import styles from "./StepView.module.css";
import { commandOf, editOf, gist, type Step, type ToolCall, type ToolResult } from "./traceParts";

/** What was folded or unfolded by hand; stored above the steps, because they are unmounted while scrolling. */
export type Folds = {
  isOpen: (key: string, byDefault: boolean) => boolean;
  toggle: (key: string, to: boolean) => void;
};

export const FoldsContext = createContext<Folds>({ isOpen: (_, byDefault) => byDefault, toggle: () => {} });

const ROLES: Record<string, string> = {
  assistant: "agent",
  user: "user",
  system: "system",
  tool: "tool",
  other: "other",
};

type StepViewProps = {
  step: Step;
  /** From 1. */
  n: number;
  isCurrent: boolean;
  /** The search matches this step, so nothing in it is folded. */
  isHit: boolean;
  /** What links to it. */
  link: ReactNode;
  /** Annotations below the step. */
  beside?: ReactNode;
};

/** One message, turn or action. */
export function StepView({ step, n, isCurrent, isHit, link, beside }: StepViewProps) {
  const folds = useContext(FoldsContext);
  const isOpen = isHit || folds.isOpen(`step ${n}`, true);
  const role = step.role ?? "assistant";
  return (
    <article
      className={styles.step}
      data-step={n}
      data-role={role}
      data-current={isCurrent || undefined}
      data-depth={Math.min(step.depth ?? 0, 3) || undefined}
      aria-label={`Step ${n}, ${ROLES[role]}`}
    >
      <header className={styles.margin}>
        {link}
        <button
          type="button"
          className={styles.role}
          aria-expanded={isOpen}
          title={isOpen ? "Collapse this step" : "Expand this step"}
          onClick={() => folds.toggle(`step ${n}`, !isOpen)}
        >
          {step.agent ?? ROLES[role]} <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
        </button>
      </header>
      <div className={styles.body}>
        {isOpen ? (
          <StepBody step={step} n={n} isHit={isHit} />
        ) : (
          <p className={styles.folded}>{inShort(step)}</p>
        )}
        {beside}
      </div>
    </article>
  );
}

function inShort(step: Step): string {
  const call = step.tool_calls?.[0];
  const text =
    step.text || step.reasoning || (call && `${call.name} ${gist(call)}`) || step.results?.[0]?.text;
  return (text ?? "").trim().slice(0, 160) || plural(step.files?.length ?? 0, "file");
}

function StepBody({ step, n, isHit }: { step: Step; n: number; isHit: boolean }) {
  const isSpoken = step.role === "user" || step.role === "assistant" || step.role === undefined;
  return (
    <>
      {step.reasoning && (
        <div className={styles.reasoning}>
          <FoldedText text={step.reasoning} part={`trace.${n}.reasoning`} isHit={isHit} />
        </div>
      )}
      {step.text && (
        <div className={isSpoken ? styles.spoken : styles.text}>
          <FoldedText text={step.text} part={`trace.${n}.text`} isHit={isHit} />
        </div>
      )}
      {step.tool_calls?.map((call, at) => (
        <ToolCallView key={at} call={call} part={`trace.${n}.call.${at + 1}`} />
      ))}
      {step.results?.map((result, at) => (
        <ToolResultView key={at} result={result} part={`trace.${n}.result.${at + 1}`} isHit={isHit} />
      ))}
      {step.files?.map((file, at) => (
        <Diff key={at} file={file} />
      ))}
      {step.screenshot && <Screenshot at={step.screenshot} n={n} />}
    </>
  );
}

/** A tool call, with commands and edits in readable form. */
function ToolCallView({ call, part }: { call: ToolCall; part: string }) {
  const [command, edit] = [commandOf(call), editOf(call)];
  const rest = Object.entries(call.arguments ?? {}).filter(([name]) => !isShown(name, command, edit));
  return (
    <section className={styles.call} aria-label={`Call of ${call.name}`}>
      {command !== call.name && (
        <header className={styles.tool}>
          <code className={styles.name} data-text>
            {call.name || "tool"}
          </code>
          {call.duration_ms != null && <span>{duration(call.duration_ms)}</span>}
        </header>
      )}
      {command && (
        <div className={styles.command}>
          <span aria-hidden="true">$</span>
          <Code text={command} language="bash" part={part} />
        </div>
      )}
      {edit && <EditDiff {...edit} />}
      {rest.length > 0 && (
        <dl className={styles.args}>
          {rest.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <ArgumentValue value={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

const isShown = (name: string, command: unknown, edit: unknown): boolean =>
  (command !== undefined && ["command", "cmd", "script"].includes(name)) ||
  (edit !== undefined &&
    /^(old_str|new_str|old_string|new_string|before|after|search|replace|path|file_path|filename|file)$/.test(
      name,
    ));

function ArgumentValue({ value }: { value: unknown }) {
  if (typeof value === "string")
    return (
      <span className={styles.value} data-text>
        {value}
      </span>
    );
  return <Code text={JSON.stringify(value, null, 1) ?? ""} language="json" />;
}

function ToolResultView({ result, part, isHit }: { result: ToolResult; part: string; isHit: boolean }) {
  const text = result.text ?? "";
  return (
    <section className={styles.result} data-error={result.error || undefined}>
      <header className={styles.tool}>
        <span>{result.error ? "failed" : "result"}</span>
        {result.name && !/\s/.test(result.name) && <code>{result.name}</code>}
      </header>
      {text === "" ? (
        <p className={styles.nothing}>empty result</p>
      ) : (
        <FoldedText text={text} part={part} isHit={isHit} isCode />
      )}
    </section>
  );
}

/** Lines that a long text shows while it is folded. */
const LINES = 16;
const LETTERS = 3000;

type FoldedTextProps = { text: string; part: string; isHit: boolean; isCode?: boolean };

/** A text that is folded when it is long. */
function FoldedText({ text, part, isHit, isCode }: FoldedTextProps) {
  const folds = useContext(FoldsContext);
  const lines = text.split("\n");
  const isLong = lines.length > LINES + 4 || text.length > LETTERS + 500;
  const isOpen = !isLong || isHit || folds.isOpen(part, false);
  const shown = isOpen ? text : lines.slice(0, LINES).join("\n").slice(0, LETTERS);
  return (
    <>
      {isCode ? (
        <Code text={shown} language={isOpen && isJson(text) ? "json" : undefined} part={part} />
      ) : (
        // The direction depends on the text itself.
        <p className={styles.words} dir="auto" data-text data-part={part}>
          {shown}
        </p>
      )}
      {isLong && !isHit && (
        <button
          type="button"
          className={styles.more}
          aria-expanded={isOpen}
          onClick={() => folds.toggle(part, !isOpen)}
        >
          {isOpen ? "Show less" : `Show all ${plural(lines.length, "line")}`}
        </button>
      )}
    </>
  );
}

/** Images on other servers are not fetched, because their owner would learn who reads the trace. */
function Screenshot({ at, n }: { at: string; n: number }) {
  if (!at.startsWith("data:image/"))
    return (
      <p className={styles.picture}>
        picture: <code>{at}</code>
      </p>
    );
  return <img className={styles.picture} src={at} alt={`The screen at step ${n}`} loading="lazy" />;
}
