import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Quote } from "../traces/view/marks";
import type { Trace } from "../traces/view/parts";
import { TraceView, type TraceViewHandle } from "../traces/view/TraceView";
import { Button } from "../ui/Button";
import { plural } from "../ui/say";
import { RubricGrid } from "./RubricGrid";
import { answerOf, missing, OVERALL } from "./rules";
import { Choice, FreeText, Likert, Pairwise } from "./Simple";
import { StepMarks, StepsSummary, useMarkKeys } from "./StepMarks";
import type { Answer, Draft, Item, KindOf, Saved, Scheme } from "./types";
import styles from "./Workplace.module.css";

export type WorkplaceProps = {
  /** What the task is called. */
  title: string;
  item: Item;
  schemes: Scheme[];
  draft: Draft;
  onDraftChange: (draft: Draft) => void;
  onSubmit: () => void;
  /** Absent where the task does not allow it, or nothing lies before this. */
  onBack?: () => void;
  /** How many are done, and how many there are for this person. */
  progress: { done: number; all: number };
  saved: Saved;
  isSubmitting?: boolean;
};

/** Where somebody annotates: what is graded on one side, what is asked on the other. */
export function Workplace(props: WorkplaceProps) {
  const { title, item, schemes, draft, onDraftChange, onSubmit, onBack, progress, saved } = props;
  const view = useRef<TraceViewHandle>(null);
  const [step, setStep] = useState<number>();
  const [find, setFind] = useState("");
  const [isTried, setTried] = useState(false);
  const [active, setActive] = useState(schemes[0]?.name ?? "");
  const [jump, setJump] = useState<{ scheme: string; row: string }>();
  const open = useMemo(
    () => schemes.flatMap((scheme) => missing(scheme, draft).map((row) => ({ scheme, row }))),
    [schemes, draft],
  );
  const set = (scheme: Scheme, answer: Answer) => onDraftChange({ ...draft, [scheme.name]: answer });
  const showStep = useCallback((n: number) => {
    setStep(n);
    view.current?.show(n);
  }, []);
  const goTo = (scheme: Scheme, row: string) => {
    setActive(scheme.name);
    if (scheme.kind === "trajectory") showStep(Number(row));
    else if (scheme.kind === "rubric") setJump({ scheme: scheme.name, row });
    else
      document
        .querySelector<HTMLElement>(`[data-scheme="${CSS.escape(scheme.name)}"] :is(input, select, textarea)`)
        ?.focus();
  };
  const submit = () => {
    setTried(true);
    const first = open[0];
    if (first) goTo(first.scheme, first.row);
    else onSubmit();
  };
  useSubmitKey(submit, props.isSubmitting === true);
  const trajectory = schemes.find((it): it is KindOf<"trajectory"> => it.kind === "trajectory");
  const marks = trajectory && answerOf(trajectory, draft);
  const mark = (n: number, by: { mark?: string }) => {
    if (!trajectory || !marks) return;
    set(trajectory, { ...marks, steps: { ...marks.steps, [n]: { ...marks.steps[n], ...by } } });
  };
  useMarkKeys({
    isActive: active === trajectory?.name,
    scheme: trajectory,
    answer: marks,
    step,
    onMark: (n, it) => mark(n, { mark: it }),
    onStepShow: showStep,
  });
  const quotes = useMemo(() => quotesOf(draft), [draft]);
  return (
    <div className={styles.place}>
      <header className={styles.head}>
        <h1 className={styles.title}>{title}</h1>
        <Progress {...progress} />
        <span className={styles.saved} role="status">
          {
            {
              saved: "Saved",
              saving: "Saving…",
              waiting: "Not saved yet: the server is away. Go on, nothing is lost.",
            }[saved]
          }
        </span>
      </header>
      {item.task && (
        <p className={styles.task} dir="auto">
          {item.task}
        </p>
      )}
      <div className={styles.sides}>
        <div className={styles.seen}>
          <Seen
            item={item}
            render={(trace) => (
              <TraceView
                ref={view}
                trace={trace}
                step={step}
                onStepChange={setStep}
                find={find}
                onFindChange={setFind}
                quotes={quotes}
                beside={
                  trajectory && marks
                    ? (n) =>
                        trajectory.steps.includes(n) && (
                          <StepMarks
                            scheme={trajectory}
                            n={n}
                            marked={marks.steps[n] ?? {}}
                            onMarkedChange={(it) => {
                              setActive(trajectory.name);
                              set(trajectory, { ...marks, steps: { ...marks.steps, [n]: it } });
                            }}
                            isMissing={isTried && missing(trajectory, draft).includes(String(n))}
                          />
                        )
                    : undefined
                }
              />
            )}
          />
        </div>
        <aside className={styles.asked} aria-label="Questions">
          {schemes.map((scheme, at) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: it only notes which question one is at.
            <section
              key={scheme.name}
              className={styles.scheme}
              data-active={scheme.name === active || undefined}
              onFocus={() => setActive(scheme.name)}
              onPointerDown={() => setActive(scheme.name)}
            >
              {schemes.length > 1 && hasHead(scheme) && (
                <h2 className={styles.name}>
                  <span>{at + 1}</span> {scheme.description ?? words(scheme.name)}
                </h2>
              )}
              <One
                scheme={scheme}
                draft={draft}
                set={set}
                isActive={scheme.name === active}
                isTried={isTried}
                selectedQuote={() => view.current?.selected() ?? selectedText()}
                onQuoteShow={(quote) => {
                  const n = Number(/^trace\.(\d+)\./.exec(quote.part ?? "")?.[1]);
                  if (n) showStep(n);
                }}
                onStepShow={showStep}
                jump={jump?.scheme === scheme.name ? jump : undefined}
              />
            </section>
          ))}
          <footer className={styles.foot}>
            {onBack && (
              <Button onClick={onBack} disabled={props.isSubmitting}>
                ← Back
              </Button>
            )}
            <span className={styles.open} role="status">
              {open[0] ? (
                <button
                  type="button"
                  className={styles.jump}
                  onClick={() => open[0] && goTo(open[0].scheme, open[0].row)}
                >
                  {plural(open.length, "answer")} missing: go to {nameOf(open[0].scheme, open[0].row)}
                </button>
              ) : (
                "Everything is answered."
              )}
            </span>
            <Button look="main" onClick={submit} disabled={props.isSubmitting} title="Ctrl+Enter">
              {props.isSubmitting ? "Submitting…" : "Submit"}
            </Button>
          </footer>
        </aside>
      </div>
    </div>
  );
}

const hasHead = (scheme: Scheme): boolean => scheme.kind === "rubric" || scheme.kind === "trajectory";
const words = (name: string): string => name.replaceAll("_", " ");

function nameOf(scheme: Scheme, row: string): string {
  if (scheme.kind === "trajectory") return `step ${row}`;
  if (scheme.kind !== "rubric") return `“${scheme.description ?? words(scheme.name)}”`;
  return row === OVERALL
    ? (scheme.overall?.label ?? row)
    : (scheme.criteria.find((it) => it.name === row)?.label ?? row);
}

function Progress({ done, all }: { done: number; all: number }) {
  return (
    <span className={styles.progress}>
      <progress max={all} value={done} aria-label="Items done" />
      {done} of {all}
    </span>
  );
}

/** What is graded: a trace, a text, or candidates side by side. */
function Seen({ item, render }: { item: Item; render: (trace: Trace) => ReactNode }) {
  if (item.candidates) {
    return (
      <div className={styles.candidates}>
        {item.candidates.map((it) => (
          <article key={it.label} className={styles.candidate}>
            <h2>{it.label}</h2>
            {it.trace ? (
              <div className={styles.inner}>
                <TraceView trace={it.trace} onStepChange={() => {}} />
              </div>
            ) : (
              <p dir="auto" data-text>
                {it.text}
              </p>
            )}
          </article>
        ))}
      </div>
    );
  }
  if (item.trace) return render(item.trace);
  return (
    <p className={styles.text} dir="auto" data-text data-part="response">
      {item.text}
    </p>
  );
}

type OneProps = {
  scheme: Scheme;
  draft: Draft;
  set: (scheme: Scheme, answer: Answer) => void;
  isActive: boolean;
  isTried: boolean;
  selectedQuote: () => Quote | undefined;
  onQuoteShow: (quote: Quote) => void;
  onStepShow: (n: number) => void;
  jump?: { row: string };
};

function One({
  scheme,
  draft,
  set,
  isActive,
  isTried,
  selectedQuote,
  onQuoteShow,
  onStepShow,
  jump,
}: OneProps) {
  const open = missing(scheme, draft);
  const onAnswerChange = (answer: Answer) => set(scheme, answer);
  const shared = { isActive, onAnswerChange, isMissing: isTried && open.length > 0 };
  switch (scheme.kind) {
    case "rubric":
      return (
        <RubricGrid
          scheme={scheme}
          answer={answerOf(scheme, draft)}
          onAnswerChange={onAnswerChange}
          missing={open}
          isTried={isTried}
          selectedQuote={selectedQuote}
          onQuoteShow={onQuoteShow}
          isActive={isActive}
          jump={jump}
        />
      );
    case "trajectory":
      return <StepsSummary scheme={scheme} answer={answerOf(scheme, draft)} onStepShow={onStepShow} />;
    case "choice":
      return <Choice scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
    case "likert":
      return <Likert scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
    case "text":
      return <FreeText scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
    case "pairwise":
      return <Pairwise scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
  }
}

function quotesOf(draft: Draft): Quote[] {
  return Object.values(draft).flatMap((it) =>
    it.kind === "rubric"
      ? [...Object.values(it.criteria), it.overall].flatMap((rated) => rated?.evidence ?? [])
      : [],
  );
}

/** What is selected where there is no trace. */
function selectedText(): Quote | undefined {
  const quote = document.getSelection()?.toString().trim();
  return quote ? { quote } : undefined;
}

function useSubmitKey(submit: () => void, isBusy: boolean) {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isBusy) return;
      if (document.querySelector("dialog[open]")) return;
      event.preventDefault();
      submit();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
