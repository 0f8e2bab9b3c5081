import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { may, useProject } from "../api/session";
import { AddToDataset } from "../datasets/AddToDataset";
import type { Quote } from "../traces/view/highlights";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Select } from "../ui/Field";
import { FormError } from "../ui/Form";
import { plural } from "../ui/format";
import { isTyping, type KeyGroup, useKeyHelp } from "../ui/KeyHelp";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { LoadingNotice, Notice } from "../ui/Notice";
import { useToast } from "../ui/Toast";
import { inWords, pointOf, said } from "./answers";
import styles from "./DisputesPage.module.css";
import { EvidenceQuotes, stepOf } from "./EvidenceQuotes";
import { ItemView, type ItemViewHandle } from "./ItemView";
import { KeyHint } from "./KeyHint";
import { answersQuery, type Deciding, decide, disputesQuery } from "./queries";
import { RatingScale, SkipButtons } from "./RatingScale";
import type { DisputesSearch } from "./search";
import { TaskLayout } from "./TaskLayout";
import {
  type Answers,
  CAUSES,
  type Cause,
  type Dispute,
  type Item,
  type Point,
  type Rate,
  type Scheme,
  type TaskInFull,
} from "./types";

/** Disputes between annotators, the largest difference first; each is decided separately. */
export function DisputesPage() {
  return <TaskLayout>{(task) => <DisputeQueue task={task} />}</TaskLayout>;
}

const rowOf = (it: Dispute): string => `${it.scheme}/${it.criterion}`;
const keyOf = (it: Dispute): string => `${it.item} ${rowOf(it)}`;

const HERE = "/p/$project/annotate/$task/disputes";

function DisputeQueue({ task }: { task: TaskInFull }) {
  const project = useProject();
  const search = useSearch({ from: HERE });
  const navigate = useNavigate({ from: HERE });
  const found = useInfiniteQuery(disputesQuery(project.id, task.id));
  const isWanted = (it: Dispute) => search.only === undefined || rowOf(it) === search.only;
  const isRest = found.data?.pages.every((page) => page.items.every((it) => it.decided || !isWanted(it)));
  const { hasNextPage, isFetching, isError, fetchNextPage } = found;
  // All loaded disputes are decided or filtered out, and there are more pages.
  useEffect(() => {
    if (isRest && hasNextPage && !isFetching && !isError) fetchNextPage();
  }, [isRest, hasNextPage, isFetching, isError, fetchNextPage]);
  const set = (change: Partial<DisputesSearch>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  return (
    <Loaded query={found} what="disputes">
      {({ pages }) => {
        const all = pages.flatMap((it) => it.items);
        if (all.length === 0) {
          return (
            <Notice title="No disputes">
              <p>
                When annotators answer the same question of an item differently, the dispute appears here for
                a decision. Items that you still have to annotate yourself are hidden, so that other answers
                do not influence yours.
              </p>
            </Notice>
          );
        }
        const groups = byItem(
          all.filter((it) => isWanted(it) && (search.decided || !it.decided || isAt(it, search))),
        );
        const shown = groups.flat();
        const selected = shown.find((it) => isAt(it, search)) ?? shown[0];
        const go = (it: Dispute | undefined) => set({ item: it?.item, row: it && rowOf(it) });
        return (
          <div className={styles.page}>
            <div className={styles.queue}>
              <DisputeFilter all={all} hasMore={found.hasNextPage} search={search} onChange={set} />
              <ol className={styles.rows} aria-label="Disputes">
                {groups.map((group) => (
                  <DisputedItem key={group[0]?.item} disputes={group} selected={selected} onSelect={go} />
                ))}
              </ol>
              <MoreButton query={found} />
            </div>
            {selected ? (
              <DisputeDetail
                key={keyOf(selected)}
                dispute={selected}
                task={task}
                onMove={(by) => {
                  const to = shown[shown.indexOf(selected) + by];
                  if (to) go(to);
                }}
                onDecided={() => {
                  const at = shown.indexOf(selected);
                  const open = shown.filter((it) => !it.decided && it !== selected);
                  go(open.find((it) => shown.indexOf(it) > at) ?? open[0]);
                }}
              />
            ) : found.hasNextPage ? (
              <LoadingNotice what="more disputes" />
            ) : (
              <Notice
                title="All disputes are decided"
                action={
                  <Button onClick={() => set({ decided: true, only: undefined })}>
                    Show decided disputes
                  </Button>
                }
              >
                <p>Decisions become the labels that judges are measured against.</p>
              </Notice>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

/** Disputes grouped by item, so that each item is read once; the item with the largest difference comes first. */
function byItem(all: Dispute[]): Dispute[][] {
  const items = new Map<string, Dispute[]>();
  for (const it of all) items.set(it.item, [...(items.get(it.item) ?? []), it]);
  return [...items.values()];
}

const isAt = (it: Dispute, search: DisputesSearch): boolean =>
  it.item === search.item && rowOf(it) === search.row;

type DisputeFilterProps = {
  all: Dispute[];
  /** More pages exist. */
  hasMore: boolean;
  search: DisputesSearch;
  onChange: (change: Partial<DisputesSearch>) => void;
};

function DisputeFilter({ all, hasMore, search, onChange }: DisputeFilterProps) {
  const rows = [...new Map(all.map((it) => [rowOf(it), it])).entries()];
  const n = all.filter((it) => !it.decided).length;
  return (
    <div className={styles.filter}>
      <Select
        label="Criterion"
        bare
        value={search.only ?? ""}
        options={[
          { value: "", label: "every criterion" },
          ...rows.map(([value, it]) => ({ value, label: it.label })),
        ]}
        onChange={(it) => onChange({ only: it.target.value || undefined, item: undefined, row: undefined })}
      />
      <label>
        <input
          type="checkbox"
          checked={search.decided ?? false}
          onChange={(it) => onChange({ decided: it.target.checked || undefined })}
        />
        Show decided disputes
      </label>
      <p role="status">
        {hasMore && "at least "}
        {plural(n, "dispute")} to decide
      </p>
    </div>
  );
}

type DisputedItemProps = {
  disputes: Dispute[];
  selected: Dispute | undefined;
  onSelect: (dispute: Dispute) => void;
};

/** The disputes of one item. */
function DisputedItem({ disputes, selected, onSelect }: DisputedItemProps) {
  const id = useId();
  const [first] = disputes;
  return (
    <li>
      <p id={id} className={styles.item} dir="auto">
        {first?.title || first?.candidate}
      </p>
      <ol className={styles.rows} aria-labelledby={id}>
        {disputes.map((it) => (
          <li key={keyOf(it)}>
            <DisputeRow dispute={it} isSelected={it === selected} onSelect={() => onSelect(it)} />
          </li>
        ))}
      </ol>
    </li>
  );
}

type DisputeRowProps = { dispute: Dispute; isSelected: boolean; onSelect: () => void };

function DisputeRow({ dispute, isSelected, onSelect }: DisputeRowProps) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSelected) ref.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <button
      ref={ref}
      type="button"
      className={styles.row}
      aria-current={isSelected || undefined}
      onClick={onSelect}
    >
      <span className={styles.what}>
        <b>{dispute.label}</b>
        {dispute.decided && <Badge tone="pass">✓ {inWords(dispute.decided.rating)}</Badge>}
      </span>
      <RatingSpread points={dispute.points} ratings={dispute.ratings} />
      <span className="visually-hidden">
        {dispute.ratings.map((it) => `${it.name}: ${inWords(it.rating)}`).join(", ")}
      </span>
    </button>
  );
}

const [WIDE, HIGH, DOT] = [120, 14, 3];

/** The ratings on the scale. */
function RatingSpread({ points, ratings }: { points: Point[]; ratings: Rate[] }) {
  const [from, to] = [DOT + 1, WIDE - DOT - 1];
  const at = (nth: number) => from + ((to - from) * nth) / Math.max(1, points.length - 1);
  const seen = new Map<number, number>();
  return (
    <svg
      className={styles.spread}
      viewBox={`0 0 ${WIDE} ${HIGH}`}
      width={WIDE}
      height={HIGH}
      aria-hidden="true"
    >
      <line x1={from} x2={to} y1={HIGH - DOT - 1} y2={HIGH - DOT - 1} />
      {points.map((it, nth) => (
        <circle key={String(it.value)} cx={at(nth)} cy={HIGH - DOT - 1} r={1} />
      ))}
      {ratings.map((it) => {
        const { rating } = it;
        const nth = points.findIndex((one) => rating?.kind === "scored" && one.value === rating.value);
        if (nth < 0) return null;
        // Equal ratings are stacked.
        const before = seen.get(nth) ?? 0;
        seen.set(nth, before + 1);
        return <circle key={it.account} data-dot cx={at(nth)} cy={HIGH - DOT - 1 - before * DOT} r={DOT} />;
      })}
    </svg>
  );
}

type DisputeDetailProps = {
  dispute: Dispute;
  task: TaskInFull;
  onMove: (by: 1 | -1) => void;
  onDecided: () => void;
};

function DisputeDetail(props: DisputeDetailProps) {
  const project = useProject();
  const { item } = props.dispute;
  const found = useQuery(answersQuery(project.id, item));
  return (
    <Loaded query={found} what="the answers">
      {(it) => <DisputeSides {...props} answers={it} />}
    </Loaded>
  );
}

function DisputeSides({ dispute, answers, onMove, onDecided }: DisputeDetailProps & { answers: Answers }) {
  const seen = useRef<ItemViewHandle>(null);
  const [step, setStep] = useState<number>();
  const quotes = useMemo(() => dispute.ratings.flatMap((it) => it.evidence ?? []), [dispute.ratings]);
  const show = (quote: Quote) => {
    const n = stepOf(quote);
    if (!n) return;
    setStep(n);
    seen.current?.show(n);
  };
  return (
    <>
      <div className={styles.seen}>
        {answers.item.task && answers.item.task.trim() !== answers.item.trace?.steps?.[0]?.text?.trim() && (
          <p className={styles.task} dir="auto">
            {answers.item.task}
          </p>
        )}
        <AddDisputeToDataset dispute={dispute} item={answers.item} />
        <ItemView ref={seen} item={answers.item} step={step} onStepChange={setStep} quotes={quotes} />
      </div>
      <DecisionForm
        dispute={dispute}
        schemes={answers.schemes}
        onQuoteShow={show}
        onMove={onMove}
        onDecided={onDecided}
      />
    </>
  );
}

/** Adds the disputed item to a dataset, for example to test the rubric on it later. */
function AddDisputeToDataset({ dispute, item }: { dispute: Dispute; item: Item }) {
  const project = useProject();
  const [isOpen, setOpen] = useState(false);
  if (!may(project, "write")) return null;
  return (
    <div>
      <Button look="quiet" onClick={() => setOpen(true)}>
        Add to dataset…
      </Button>
      {isOpen && (
        <AddToDataset
          source={{ kind: "item", candidate: dispute.candidate, item }}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

const CAUSE_WORDS: Record<Cause, string> = {
  guideline: "unclear guideline",
  mistake: "annotator mistake",
  ambiguous: "ambiguous item",
  other: "other",
};

type DecisionFormProps = {
  dispute: Dispute;
  schemes: Scheme[];
  onQuoteShow: (quote: Quote) => void;
  onMove: (by: 1 | -1) => void;
  onDecided: () => void;
};

function DecisionForm({ dispute, schemes, onQuoteShow, onMove, onDecided }: DecisionFormProps) {
  const id = useId();
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  const panel = useRef<HTMLElement>(null);
  const { points } = dispute;
  const scheme = schemes.find((it) => it.name === dispute.scheme);
  const about =
    scheme?.kind === "rubric"
      ? scheme.criteria.find((it) => it.name === dispute.criterion)?.description
      : undefined;
  const [deciding, setDeciding] = useState<Partial<Deciding>>(dispute.decided ?? {});
  // A rating without labels replaces labels that were ticked.
  const change = (by: Partial<Deciding>) =>
    setDeciding((it) => ({ ...it, ...("rating" in by ? { labels: undefined } : {}), ...by }));
  const several = scheme?.kind === "choice" && scheme.many ? scheme.labels : undefined;
  const tick = (labels: string[]) =>
    change({ rating: { kind: "scored", value: labels.join(", ") || "(none)" }, labels });
  const toggle = (label: string) => {
    const before = deciding.labels ?? [];
    tick((several ?? []).filter((it) => (it === label) !== before.includes(it)));
  };
  const choose = ({ value }: Point) =>
    several ? toggle(String(value)) : change({ rating: { kind: "scored", value } });
  const sending = useMutation({
    mutationFn: ({ rating, labels, why, cause }: Deciding) =>
      decide(project.id, dispute, { rating, labels, why, cause }),
    onSuccess: async (made) => {
      toast(`Decided: ${inWords(made.rating, points)}.`);
      onDecided();
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["disputes", project.id] }),
        queries.invalidateQueries({ queryKey: ["answers", project.id, dispute.item] }),
      ]);
    },
  });
  const send = () => {
    if (deciding.rating) sending.mutate({ ...deciding, rating: deciding.rating });
  };
  // The focus starts before the scale, so that Tab leads to it from dispute to dispute. On the scale itself, its ring
  // and the shown level would look like a chosen answer.
  useEffect(() => {
    panel.current?.querySelector<HTMLElement>(DECISION)?.focus({ preventScroll: true });
  }, []);
  useDecideKeys({ points, change, choose, send, onMove, panel });
  return (
    <section ref={panel} className={styles.decide} aria-labelledby={`${id}-title`}>
      <header>
        <h2 id={`${id}-title`}>{dispute.label}</h2>
        {about && <p className={styles.soft}>{about}</p>}
      </header>
      <ul className={styles.rates}>
        {dispute.ratings.map((it) => (
          <li key={it.account} className={styles.rate}>
            <p className={styles.who}>
              <span>{it.name}</span> <b>{inWords(it.rating, points)}</b>
            </p>
            {levelOf(points, it) && <p className={styles.soft}>{levelOf(points, it)}</p>}
            {it.comment && (
              <p className={styles.comment} dir="auto">
                {it.comment}
              </p>
            )}
            <EvidenceQuotes quotes={it.evidence} onQuoteShow={onQuoteShow} />
          </li>
        ))}
      </ul>
      <div className={styles.form}>
        <h3 id={`${id}-decision`}>Your decision</h3>
        <div
          data-decision
          className={styles.decision}
          role="group"
          aria-labelledby={`${id}-decision`}
          tabIndex={-1}
        >
          {several ? (
            <LabelChecks
              labels={several}
              ticked={deciding.labels ?? undefined}
              labelledBy={`${id}-title ${id}-decision`}
              onToggle={toggle}
              onNone={() => tick([])}
            />
          ) : (
            <RatingScale
              points={points}
              rating={deciding.rating}
              labelledBy={`${id}-title ${id}-decision`}
              isRequired
              onRate={(rating) => change({ rating })}
            />
          )}
        </div>
        <div className={styles.skips}>
          <SkipButtons rating={deciding.rating} onRate={(rating) => change({ rating })} />
        </div>
        <fieldset className={styles.causes}>
          <legend>Cause of the disagreement</legend>
          {CAUSES.map((it) => (
            <label key={it}>
              <input
                type="radio"
                name={`${id}-cause`}
                checked={deciding.cause === it}
                aria-keyshortcuts={it.charAt(0)}
                onChange={() => change({ cause: it })}
              />
              {CAUSE_WORDS[it]} <KeyHint of={it.charAt(0)} />
            </label>
          ))}
        </fieldset>
        <label className={styles.why}>
          Reason for the decision
          <textarea
            rows={2}
            dir="auto"
            value={deciding.why ?? ""}
            onChange={(it) => change({ why: it.target.value })}
          />
        </label>
        <FormError error={sending.error} />
        <div className={styles.ways}>
          <Button onClick={() => onMove(-1)} title="[">
            ← Previous
          </Button>
          <Button onClick={() => onMove(1)} title="]">
            Next →
          </Button>
          <Button
            look="main"
            onClick={send}
            disabled={!deciding.rating || sending.isPending}
            title="Ctrl+Enter"
          >
            {dispute.decided ? "Change decision" : "Decide"}
          </Button>
        </div>
      </div>
    </section>
  );
}

/** The frame of what is decided with. */
const DECISION = "[data-decision]";

/** What is decided with: the current point of a scale, a handle, or the first of several labels. */
const CONTROL = '[data-decision] :is([role="radio"][tabindex="0"], input)';

type LabelChecksProps = {
  labels: string[];
  /** Absent while nothing is decided; nothing ticked is a decision too. */
  ticked: string[] | undefined;
  labelledBy: string;
  onToggle: (label: string) => void;
  onNone: () => void;
};

function LabelChecks({ labels, ticked, labelledBy, onToggle, onNone }: LabelChecksProps) {
  return (
    <div role="group" className={styles.checks} aria-labelledby={labelledBy}>
      {labels.map((label, at) => (
        <label key={label}>
          <input
            type="checkbox"
            checked={ticked?.includes(label) ?? false}
            aria-keyshortcuts={at < 9 ? String(at + 1) : undefined}
            onChange={() => onToggle(label)}
          />
          {label}
          {at < 9 && <KeyHint of={at + 1} />}
        </label>
      ))}
      <Button look="tool" aria-pressed={ticked?.length === 0} onClick={onNone}>
        none of them
      </Button>
    </div>
  );
}

function levelOf(points: Point[], { rating }: Rate): string | undefined {
  if (rating?.kind !== "scored") return undefined;
  const found = points.find((it) => said(it.value) === said(rating.value));
  return found?.text;
}

const KEYS: KeyGroup = {
  title: "Deciding",
  keys: [
    { keys: ["1", "…", "9"], does: "choose this rating; 0 is 10" },
    { keys: ["n", "u"], does: "not applicable, undecidable" },
    { keys: ["g", "m", "a", "o"], does: "cause of the disagreement" },
    { keys: ["w"], does: "write the reason; Esc leaves the field" },
    { keys: ["[", "]"], does: "previous, next dispute" },
    { keys: ["Ctrl Enter"], does: "decide and go to the next dispute" },
  ],
};

type DecideKeys = {
  points: Point[];
  change: (by: Partial<Deciding>) => void;
  choose: (point: Point) => void;
  send: () => void;
  onMove: (by: 1 | -1) => void;
  panel: React.RefObject<HTMLElement | null>;
};

function useDecideKeys({ points, change, choose, send, onMove, panel }: DecideKeys) {
  useKeyHelp(KEYS);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (document.querySelector("dialog[open]") || event.altKey) return;
      if (event.ctrlKey || event.metaKey) {
        if (event.key !== "Enter") return;
        event.preventDefault();
        return send();
      }
      if (isTyping(event.target)) {
        if (event.key === "Escape") {
          panel.current?.querySelector<HTMLElement>(CONTROL)?.focus();
        }
        return;
      }
      const point = pointOf(points, event.key);
      const cause = CAUSES.find((it) => it.startsWith(event.key));
      if (point) choose(point);
      else if (event.key === "n") change({ rating: { kind: "not_applicable" } });
      else if (event.key === "u") change({ rating: { kind: "abstained" } });
      else if (cause) change({ cause });
      else if (event.key === "w") panel.current?.querySelector("textarea")?.focus();
      else if (event.key === "[") onMove(-1);
      else if (event.key === "]") onMove(1);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
