import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type CSSProperties,
  type ReactNode,
  type Ref,
  useCallback,
  useDeferredValue,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { Button } from "../../ui/Button";
import { count, plural } from "../../ui/format";
import { isTyping, type KeyGroup, useKeyHelp } from "../../ui/KeyHelp";
import { Diff } from "./Diff";
import { markFound, markPattern, markQuotes, type Quote, rangesOf } from "./highlights";
import { type Folds, FoldsContext, StepView } from "./StepView";
import styles from "./TraceView.module.css";
import { type FileChange, found, type Step, type Trace } from "./traceParts";

export type TraceViewHandle = {
  /** Scrolls to a step without making it the current one. */
  show: (step: number) => void;
};

type TraceViewProps = {
  trace: Trace;
  /** The current step, from 1. */
  step?: number;
  onStepChange: (step: number) => void;
  /** Steps where `j` and `k` stop; all of them where this is absent. */
  stops?: number[];
  find?: string;
  onFindChange?: (find: string) => void;
  /** Quotes to mark in the texts. */
  quotes?: Quote[];
  /** Words to mark in the texts. */
  pattern?: RegExp;
  /** The quote to scroll into view, in the current step. */
  shown?: Quote;
  /** The address of a step. */
  addressOf?: (step: number) => string;
  /** Drawn below a step. */
  beside?: (n: number) => ReactNode;
  /** Beside the search. */
  tools?: ReactNode;
  ref?: Ref<TraceViewHandle>;
};

const NO_QUOTES: Quote[] = [];

/** The steps of an agent; only visible ones are drawn. */
export function TraceView(props: TraceViewProps) {
  const {
    trace,
    step,
    onStepChange,
    stops,
    find = "",
    onFindChange,
    quotes = NO_QUOTES,
    pattern,
    shown,
    addressOf,
    beside,
    tools,
  } = props;
  const [steps, files] = [trace.steps ?? [], trace.files ?? []];
  const pane = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const wanted = useDeferredValue(find);
  const hits = useMemo(() => found(trace, wanted), [trace, wanted]);
  const folds = useFolds();
  const rows = useVirtualizer({
    // The files that the run changed follow after its steps.
    count: steps.length + (files.length > 0 ? 1 : 0),
    getScrollElement: () => pane.current,
    estimateSize: (at) => heightOf(steps[at]),
    overscan: 6,
  });
  const show = useCallback((n: number) => rows.scrollToIndex(n - 1, { align: "start" }), [rows]);
  useImperativeHandle(props.ref, () => ({ show }), [show]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a quote that is shown anew brings its step back.
  useEffect(() => {
    if (step !== undefined && step >= 1 && step <= steps.length) show(step);
  }, [step, steps.length, show, shown]);
  const visible = rows.getVirtualItems();
  const sought = useRef<Quote>(undefined);
  useLayoutEffect(() => {
    sought.current = shown;
  }, [shown]);
  // After every render, because steps that came into view have texts to mark as well.
  useLayoutEffect(() => {
    if (!pane.current) return;
    markFound(pane.current, wanted, step);
    markQuotes(pane.current, quotes);
    markPattern(pane.current, pattern);
    if (!sought.current || rows.isScrolling) return;
    const [range] = rangesOf(pane.current, sought.current);
    if (!range) return;
    bringIn(pane.current, range);
    sought.current = undefined;
  });
  const nextHit = useCallback(
    (by: 1 | -1) => {
      const at = step ?? 0;
      const next = by === 1 ? hits.find((it) => it.step > at) : hits.findLast((it) => it.step < at);
      const to = next ?? (by === 1 ? hits[0] : hits.at(-1));
      if (to) onStepChange(to.step);
    },
    [hits, step, onStepChange],
  );
  const showFiles = useCallback(
    () => files.length > 0 && rows.scrollToIndex(steps.length, { align: "start" }),
    [rows, steps.length, files.length],
  );
  useKeys({ step, n: steps.length, stops, onStepChange, showFiles, folds, search });
  return (
    <section
      className={styles.view}
      style={{ "--all": `${rows.getTotalSize()}px` } as CSSProperties}
      aria-label="Steps"
    >
      <div className={styles.tools}>
        {onFindChange && (
          <FindInSteps
            ref={search}
            find={find}
            onFindChange={onFindChange}
            onNext={nextHit}
            n={hits.reduce((sum, it) => sum + it.n, 0)}
            nSteps={hits.length}
          />
        )}
        <span className={styles.count}>{plural(steps.length, "step")}</span>
        <Button look="quiet" onClick={() => folds.all(false, steps.length)}>
          Collapse all
        </Button>
        <Button look="quiet" onClick={() => folds.all(true, steps.length)}>
          Expand all
        </Button>
        {files.length > 0 && (
          <Button look="quiet" onClick={showFiles} title="d">
            {plural(files.length, "file")} changed ↓
          </Button>
        )}
        {tools}
      </div>
      <div ref={pane} className={styles.pane} tabIndex={0} role="group" aria-label="Steps, scrolling">
        <FoldsContext value={folds}>
          <div className={styles.all} style={{ blockSize: rows.getTotalSize() }}>
            {visible.map((row) => {
              const one = steps[row.index];
              const n = row.index + 1;
              return (
                <div
                  key={row.key}
                  ref={rows.measureElement}
                  data-index={row.index}
                  className={styles.row}
                  style={{ transform: `translateY(${row.start}px)` }}
                >
                  {one ? (
                    <StepView
                      step={one}
                      n={n}
                      isCurrent={n === step}
                      isHit={hits.some((it) => it.step === n) || (shown !== undefined && n === step)}
                      link={<StepLink n={n} address={addressOf?.(n)} onFollow={() => onStepChange(n)} />}
                      beside={beside?.(n)}
                    />
                  ) : (
                    <ChangedFiles files={files} />
                  )}
                </div>
              );
            })}
          </div>
        </FoldsContext>
      </div>
    </section>
  );
}

/** Scrolls until a range of text is visible. */
function bringIn(pane: HTMLElement, range: Range) {
  const [here, all] = [range.getBoundingClientRect(), pane.getBoundingClientRect()];
  if (here.top < all.top || here.bottom > all.bottom) pane.scrollTop += here.top - all.top - all.height / 3;
}

function ChangedFiles({ files }: { files: FileChange[] }) {
  return (
    <section className={styles.changed} aria-label="Files changed by the run">
      <h3>{plural(files.length, "file")} changed</h3>
      {files.map((it, at) => (
        <Diff key={at} file={it} />
      ))}
    </section>
  );
}

function StepLink({ n, address, onFollow }: { n: number; address?: string; onFollow: () => void }) {
  return (
    <a
      href={address ?? `#step-${n}`}
      aria-label={`Link to step ${n}`}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        onFollow();
      }}
    >
      {count(n)}
    </a>
  );
}

type FindInStepsProps = {
  find: string;
  onFindChange: (find: string) => void;
  onNext: (by: 1 | -1) => void;
  n: number;
  nSteps: number;
  ref: Ref<HTMLInputElement>;
};

function FindInSteps({ find, onFindChange, onNext, n, nSteps, ref }: FindInStepsProps) {
  return (
    <search className={styles.find}>
      <input
        ref={ref}
        type="search"
        aria-label="Find in steps"
        placeholder="Find in steps"
        value={find}
        onChange={(it) => onFindChange(it.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") onNext(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") onFindChange("");
        }}
      />
      {find.trim() !== "" && (
        <>
          <span className={styles.hits} role="status">
            {n === 0 ? "no match" : `${count(n)} in ${plural(nSteps, "step")}`}
          </span>
          <Button look="quiet" aria-label="Previous" onClick={() => onNext(-1)} disabled={n === 0}>
            ↑
          </Button>
          <Button look="quiet" aria-label="Next" onClick={() => onNext(1)} disabled={n === 0}>
            ↓
          </Button>
        </>
      )}
    </search>
  );
}

/** An estimate that is corrected when a step is drawn; a good one keeps the scrollbar steady. */
function heightOf(step: Step | undefined): number {
  if (!step) return 100;
  const lines = (text: string | undefined) =>
    text ? Math.min(20, text.length / 90 + text.split("\n", 20).length) : 0;
  let height = 40 + 22 * (lines(step.text) + lines(step.reasoning));
  for (const result of step.results ?? []) height += 40 + 20 * lines(result.text);
  for (const call of step.tool_calls ?? []) height += 60 + 22 * Object.keys(call.arguments ?? {}).length;
  for (const file of step.files ?? [])
    height += 40 + 20 * (file.hunks ?? []).reduce((n, it) => n + (it.lines?.length ?? 0), 0);
  return height;
}

function useFolds(): Folds & { all: (to: boolean, n: number) => void } {
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  return useMemo(
    () => ({
      isOpen: (key, byDefault) => changed.get(key) ?? byDefault,
      toggle: (key, to) => setChanged((it) => new Map(it).set(key, to)),
      all: (to, n) =>
        setChanged(
          new Map(to ? [] : Array.from({ length: n }, (_, at) => [`step ${at + 1}`, false] as const)),
        ),
    }),
    [changed],
  );
}

const KEYS: KeyGroup = {
  title: "Steps",
  keys: [
    { keys: ["j", "k"], does: "next, previous step" },
    { keys: ["o"], does: "collapse or expand the step" },
    { keys: ["d"], does: "go to the changed files" },
    { keys: ["/"], does: "find in steps" },
    { keys: ["Enter", "⇧ Enter"], does: "in the search: next, previous match" },
  ],
};

type KeysOf = {
  step: number | undefined;
  n: number;
  stops: number[] | undefined;
  onStepChange: (step: number) => void;
  showFiles: () => void;
  folds: Folds;
  search: { current: HTMLInputElement | null };
};

function useKeys({ step, n, stops, onStepChange, showFiles, folds, search }: KeysOf) {
  useKeyHelp(KEYS);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open]")) return;
      const at = step ?? 0;
      const [next, previous] = stops
        ? [stops.find((it) => it > at), stops.findLast((it) => it < at)]
        : [at < n ? at + 1 : undefined, at > 1 ? at - 1 : undefined];
      if (event.key === "j" && next !== undefined) onStepChange(next);
      else if (event.key === "k" && previous !== undefined) onStepChange(previous);
      else if (event.key === "d") showFiles();
      else if (event.key === "o" && at > 0) folds.toggle(`step ${at}`, !folds.isOpen(`step ${at}`, true));
      else if (event.key === "/") search.current?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [step, n, stops, onStepChange, showFiles, folds, search]);
}
