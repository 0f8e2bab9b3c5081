import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Quote } from "../traces/view/highlights";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { FormError } from "../ui/Form";
import { plural } from "../ui/format";
import styles from "./AnnotationForm.module.css";
import { answerOf, labelOf, limitFault, missing, OVERALL, shownSchemes, titleOf, words } from "./answers";
import type { Saved } from "./draftSaver";
import { stepOf } from "./EvidenceQuotes";
import { Guidelines } from "./Guidelines";
import { ItemView, type ItemViewHandle } from "./ItemView";
import { JudgeVerification } from "./JudgeVerification";
import { MarkedText } from "./MarkedText";
import { RubricGrid } from "./RubricGrid";
import { Choice, FreeText, Likert, Pairwise, Slider } from "./SimpleQuestions";
import { StepMarks, StepsSummary, useMarkKeys } from "./StepMarks";
import type { Answer, Draft, Feedback, Item, KindOf, Scheme, Work } from "./types";

export type AnnotationFormProps = {
  /** The name of the task. */
  title: string;
  item: Item;
  schemes: Scheme[];
  draft: Draft;
  onDraftChange: (draft: Draft) => void;
  onSubmit: () => void;
  /** Absent where the task does not allow it, or where there is no such item. */
  onBack?: () => void;
  onForward?: () => void;
  onSkip?: () => void;
  /** Items done, and items left for this person if known. */
  progress: Work["progress"];
  /** What the owner of the task tells annotators. */
  guidelines?: string;
  /** The list of the person's own items. */
  items?: ReactNode;
  saved: Saved;
  isSubmitting?: boolean;
  /** It was submitted before; submitting again replaces the answer. */
  isAgain?: boolean;
  /** A notice for the annotator, such as about a fast pace. */
  notice?: ReactNode;
  /** The error of submitting. */
  fault?: Error | null;
  /** The expected answers after a practice item; the button then opens the next item. */
  feedback?: Feedback;
};

/** The annotation form: the item on one side, the questions on the other. */
export function AnnotationForm(props: AnnotationFormProps) {
  const { title, item, draft, onDraftChange, onSubmit, onBack, onForward, onSkip, feedback } = props;
  const schemes = useMemo(() => shownSchemes(props.schemes, draft), [props.schemes, draft]);
  const seen = useRef<ItemViewHandle>(null);
  const [step, setStep] = useState<number>();
  const [isTried, setTried] = useState(false);
  const [active, setActive] = useState(schemes[0]?.name ?? "");
  const [jump, setJump] = useState<{ scheme: string; row: string }>();
  const open = useMemo(
    () => schemes.flatMap((scheme) => missing(scheme, draft).map((row) => ({ scheme, row }))),
    [schemes, draft],
  );
  const isAnyOutside = open.some((it) => limitFault(it.scheme, draft) !== undefined);
  const set = (scheme: Scheme, answer: Answer) => onDraftChange({ ...draft, [scheme.name]: answer });
  const showStep = useCallback((n: number) => {
    setStep(n);
    seen.current?.show(n);
  }, []);
  const goTo = (scheme: Scheme, row: string) => {
    setActive(scheme.name);
    if (scheme.kind === "trajectory") {
      showStep(Number(row));
      seen.current?.focus();
    } else if (scheme.kind === "rubric" || scheme.kind === "verify") setJump({ scheme: scheme.name, row });
    else {
      const question = document.querySelector(`[data-scheme="${CSS.escape(scheme.name)}"]`);
      const control =
        question?.querySelector<HTMLElement>("input:checked") ??
        question?.querySelector<HTMLElement>("input, select, textarea");
      control?.focus();
    }
  };
  // Steps are marked beside the item; their keys are their own.
  const move = (from: Scheme, by: 1 | -1) => {
    const questions: Scheme[] = schemes.filter((it) => it.kind !== "trajectory");
    const to = questions[questions.indexOf(from) + by];
    if (to) goTo(to, by > 0 ? firstRow(to) : lastRow(to));
  };
  // The focus starts at the first open question, so that the keyboard works from item to item.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as one arrives.
  useEffect(() => {
    const [scheme] = schemes;
    const first = open[0] ?? (scheme && { scheme, row: firstRow(scheme) });
    if (first) goTo(first.scheme, first.row);
  }, []);
  const submit = () => {
    if (feedback) return onSubmit();
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
  const quotes = useMemo(() => quotesOf(schemes, draft), [schemes, draft]);
  const shared = {
    draft,
    set,
    isTried,
    selectedQuote: () => seen.current?.selected(),
    onQuoteShow: (quote: Quote) => {
      const n = stepOf(quote);
      if (n) showStep(n);
    },
    onStepShow: showStep,
  };
  return (
    <div className={styles.place}>
      <header className={styles.head}>
        <h1 className={styles.title}>{title}</h1>
        {item.training && <Badge tone="accent">practice</Badge>}
        {props.isAgain && <Badge tone="pass">submitted</Badge>}
        <ItemProgress {...props.progress} />
        {props.items}
        <Guidelines text={props.guidelines} schemes={schemes} />
        <SaveStatus saved={props.saved} />
      </header>
      {props.notice && (
        <p className={styles.notice} role="status">
          {props.notice}
        </p>
      )}
      {item.task && (
        <p className={styles.task} dir="auto">
          <MarkedText text={item.task} keywords={item.keywords} />
        </p>
      )}
      <div className={styles.sides}>
        <div className={styles.seen}>
          <ItemView
            ref={seen}
            item={item}
            step={step}
            onStepChange={setStep}
            stops={active === trajectory?.name ? trajectory.steps : undefined}
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
        </div>
        <aside className={styles.asked} aria-label="Questions">
          {feedback ? (
            <TrainingFeedback
              feedback={feedback}
              schemes={schemes}
              onNext={onSubmit}
              isBusy={props.isSubmitting === true}
            />
          ) : (
            schemes.map((scheme, at) => (
              // biome-ignore lint/a11y/noStaticElementInteractions: it only notes which question one is at.
              <section
                key={scheme.name}
                className={styles.scheme}
                data-active={scheme.name === active || undefined}
                onFocus={() => setActive(scheme.name)}
                onPointerDown={() => setActive(scheme.name)}
              >
                {hasHead(scheme) && (schemes.length > 1 || scheme.description) && (
                  <h2 className={styles.name}>
                    {schemes.length > 1 && <span>{at + 1}</span>} {titleOf(scheme)}
                  </h2>
                )}
                <QuestionForm
                  {...shared}
                  scheme={scheme}
                  isActive={scheme.name === active}
                  jump={jump?.scheme === scheme.name ? jump : undefined}
                  onMove={(by) => move(scheme, by)}
                />
              </section>
            ))
          )}
          {!feedback && (
            <footer className={styles.foot}>
              <FormError error={props.fault ?? null} />
              <span className={styles.open} role="status">
                {open[0] ? (
                  <Button look="link" onClick={() => open[0] && goTo(open[0].scheme, open[0].row)}>
                    {plural(open.length, "answer")} missing{isAnyOutside && " or outside of limits"}: go to{" "}
                    {labelOf(open[0].scheme, open[0].row)}
                  </Button>
                ) : (
                  "All questions are answered."
                )}
              </span>
              <span className={styles.ways}>
                {onBack && (
                  <Button onClick={onBack} disabled={props.isSubmitting}>
                    ← Back
                  </Button>
                )}
                {onForward && (
                  <Button onClick={onForward} disabled={props.isSubmitting}>
                    Forward →
                  </Button>
                )}
                {onSkip && (
                  <Button look="quiet" onClick={onSkip} disabled={props.isSubmitting}>
                    Skip
                  </Button>
                )}
                <Button look="main" onClick={submit} disabled={props.isSubmitting} title="Ctrl+Enter">
                  {props.isSubmitting ? "Submitting…" : props.isAgain ? "Submit again" : "Submit"}
                </Button>
              </span>
            </footer>
          )}
        </aside>
      </div>
    </div>
  );
}

/** The row that is answered first. */
function firstRow(scheme: Scheme): string {
  if (scheme.kind === "rubric") return scheme.criteria[0]?.name ?? OVERALL;
  if (scheme.kind === "trajectory") return String(scheme.steps[0] ?? 1);
  return scheme.kind === "verify" ? (scheme.claims[0]?.id ?? "") : scheme.name;
}

/** The row that is reached from the question below. */
function lastRow(scheme: Scheme): string {
  if (scheme.kind !== "rubric") return firstRow(scheme);
  return scheme.overall ? OVERALL : (scheme.criteria.at(-1)?.name ?? OVERALL);
}

const hasHead = ({ kind }: Scheme): boolean =>
  kind === "rubric" || kind === "trajectory" || kind === "verify";

function ItemProgress({ done, left }: Work["progress"]) {
  if (left == null) return <span className={styles.progress}>{plural(done, "item")} done</span>;
  return (
    <span className={styles.progress}>
      <progress max={done + left} value={done} aria-label="Items done" />
      {done} of {done + left}
    </span>
  );
}

function SaveStatus({ saved }: { saved: Saved }) {
  const text =
    saved.kind === "refused"
      ? `Not saved: ${saved.why}. Your answers are kept in this browser.`
      : {
          saved: "Saved",
          saving: "Saving…",
          waiting:
            "Not saved yet: no connection to the server. You can continue; your answers are kept in this browser.",
          twofold: "There are two versions of your answers.",
        }[saved.kind];
  return (
    <span className={styles.saved} role="status" data-kind={saved.kind}>
      {text}
    </span>
  );
}

function nameOf(schemes: Scheme[], { scheme, row }: Feedback["rows"][number]): string {
  const found = schemes.find((it) => it.name === scheme);
  return found ? labelOf(found, row) : words(row);
}

type TrainingFeedbackProps = { feedback: Feedback; schemes: Scheme[]; onNext: () => void; isBusy: boolean };

/** After a practice item: the expected answers. */
function TrainingFeedback({ feedback, schemes, onNext, isBusy }: TrainingFeedbackProps) {
  const next = useRef<HTMLButtonElement>(null);
  useEffect(() => next.current?.focus(), []);
  return (
    <section className={styles.told} aria-label="Feedback" data-right={feedback.right || undefined}>
      <div role="status">
        <h2>{feedback.right ? "✓ Correct" : "✕ Different from the expected answer"}</h2>
        {feedback.why && <p dir="auto">{feedback.why}</p>}
      </div>
      {feedback.rows.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Question</th>
              <th scope="col">Your answer</th>
              <th scope="col">Expected</th>
            </tr>
          </thead>
          <tbody>
            {feedback.rows.map((it) => (
              <tr key={`${it.scheme} ${it.row}`} data-ok={it.ok || undefined}>
                <th scope="row">{nameOf(schemes, it)}</th>
                <td>
                  {it.ok ? "✓" : "✕"} {it.given}
                </td>
                <td>{it.expected}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Button ref={next} look="main" onClick={onNext} disabled={isBusy}>
        Next item
      </Button>
    </section>
  );
}

type QuestionFormProps = {
  scheme: Scheme;
  draft: Draft;
  set: (scheme: Scheme, answer: Answer) => void;
  isActive: boolean;
  isTried: boolean;
  selectedQuote: () => Quote | undefined;
  onQuoteShow: (quote: Quote) => void;
  onStepShow: (n: number) => void;
  jump?: { row: string };
  onMove: (by: 1 | -1) => void;
};

function QuestionForm({ scheme, draft, set, isActive, isTried, jump, onMove, ...rest }: QuestionFormProps) {
  const open = missing(scheme, draft);
  const onAnswerChange = (answer: Answer) => set(scheme, answer);
  const shared = { isActive, onAnswerChange, onMove, isMissing: isTried && open.length > 0 };
  switch (scheme.kind) {
    case "rubric":
      return (
        <RubricGrid
          scheme={scheme}
          answer={answerOf(scheme, draft)}
          missing={open}
          isTried={isTried}
          selectedQuote={rest.selectedQuote}
          onQuoteShow={rest.onQuoteShow}
          jump={jump}
          {...shared}
        />
      );
    case "verify":
      return (
        <JudgeVerification
          scheme={scheme}
          answer={answerOf(scheme, draft)}
          isTried={isTried}
          onQuoteShow={rest.onQuoteShow}
          jump={jump}
          {...shared}
        />
      );
    case "trajectory":
      return <StepsSummary scheme={scheme} answer={answerOf(scheme, draft)} onStepShow={rest.onStepShow} />;
    case "choice":
      return <Choice scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
    case "likert":
      return <Likert scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
    case "slider":
      return <Slider scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
    case "text":
      return <FreeText scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
    case "pairwise":
      return <Pairwise scheme={scheme} answer={answerOf(scheme, draft)} {...shared} />;
  }
}

function quotesOf(schemes: Scheme[], draft: Draft): Quote[] {
  const own = Object.values(draft).flatMap((it) =>
    it.kind === "rubric"
      ? [...Object.values(it.criteria), it.overall].flatMap((rated) => rated?.evidence ?? [])
      : [],
  );
  const judges = schemes.flatMap((it) =>
    it.kind === "verify" ? it.claims.flatMap((claim) => claim.evidence ?? []) : [],
  );
  return [...own, ...judges];
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
