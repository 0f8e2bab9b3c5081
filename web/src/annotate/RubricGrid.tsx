import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { Quote } from "../traces/view/marks";
import { isTyping, type KeyGroup, useKeyHelp } from "../ui/Keys";
import styles from "./RubricGrid.module.css";
import { OVERALL, weighted } from "./rules";
import type { AnswerOf, Criterion, KindOf, Point, Rated, Rating } from "./types";

type RubricGridProps = {
  scheme: KindOf<"rubric">;
  answer: AnswerOf<"rubric">;
  onAnswerChange: (answer: AnswerOf<"rubric">) => void;
  /** Rows that have to be rated before this can be submitted. */
  missing: string[];
  /** Whether somebody has tried to submit: what is missing is said aloud from then on. */
  isTried: boolean;
  /** What is selected in what is graded. */
  selectedQuote: () => Quote | undefined;
  onQuoteShow: (quote: Quote) => void;
  /** Whether keys are for this grid. */
  isActive: boolean;
  /** Asks for the focus of a row, by its name. */
  jump?: { row: string };
};

/** Criteria as rows, the scale as columns. Digits rate the current row, arrows move; see `KEYS`. */
export function RubricGrid(props: RubricGridProps) {
  const { scheme, answer, onAnswerChange, missing, isTried, selectedQuote, isActive, jump } = props;
  const rows = scheme.overall ? [...scheme.criteria, { ...scheme.overall, name: OVERALL }] : scheme.criteria;
  const [current, setCurrent] = useState(rows[0]?.name ?? "");
  const [note, setNote] = useState<string>();
  const grid = useRef<HTMLDivElement>(null);
  const ratedOf = (name: string): Rated => (name === OVERALL ? answer.overall : answer.criteria[name]) ?? {};
  const change = (name: string, by: Partial<Rated>) => {
    const rated = { ...ratedOf(name), ...by };
    if (name === OVERALL) onAnswerChange({ ...answer, overall: rated });
    else onAnswerChange({ ...answer, criteria: { ...answer.criteria, [name]: rated } });
  };
  const focus = (name: string) => {
    setCurrent(name);
    const row = grid.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(name)}"]`);
    row?.querySelector<HTMLElement>('[role="radio"][tabindex="0"]')?.focus();
    row?.scrollIntoView({ block: "nearest" });
  };
  const quote = (name: string) => {
    const found = selectedQuote();
    if (!found) return setNote("Select the words in the trace first, then quote them.");
    setNote(undefined);
    // What it covered is marked from now on.
    document.getSelection()?.removeAllRanges();
    change(name, { evidence: [...(ratedOf(name).evidence ?? []), found] });
  };
  const comment = (name: string) => {
    if (ratedOf(name).comment === undefined) change(name, { comment: "" });
    // Once it is drawn.
    requestAnimationFrame(() =>
      grid.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(name)}"] textarea`)?.focus(),
    );
  };
  useGridKeys({ isActive, rows, current, focus, change, ratedOf, comment, quote });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a jump is asked for once.
  useEffect(() => {
    if (jump) focus(jump.row);
  }, [jump]);
  const heads = sharedLabels(rows);
  const score = weighted(scheme, answer.criteria);
  return (
    <div ref={grid} className={styles.grid}>
      {heads && (
        <div className={styles.heads} aria-hidden="true">
          {heads.map((it, at) => (
            <span key={at}>{it}</span>
          ))}
        </div>
      )}
      {rows.map((row) => (
        <Row
          key={row.name}
          criterion={row}
          rated={ratedOf(row.name)}
          isCurrent={row.name === current}
          isWhole={row.name === OVERALL}
          isMissing={missing.includes(row.name)}
          isTried={isTried}
          onCurrent={() => setCurrent(row.name)}
          onChange={(by) => change(row.name, by)}
          onComment={() => comment(row.name)}
          onQuote={() => quote(row.name)}
          onQuoteShow={props.onQuoteShow}
          onMove={(by) => {
            const to = rows[rows.findIndex((it) => it.name === row.name) + by];
            if (to) focus(to.name);
          }}
        />
      ))}
      {note && (
        <p role="alert" className={styles.note}>
          {note}
        </p>
      )}
      {scheme.notes && (
        <label className={styles.notes}>
          {scheme.notes.label}
          <textarea
            rows={3}
            value={answer.notes ?? ""}
            placeholder={scheme.notes.placeholder}
            onChange={(it) => onAnswerChange({ ...answer, notes: it.target.value })}
          />
        </label>
      )}
      {scheme.shows_score && (
        <p className={styles.score}>
          Weighted score <output>{score === undefined ? "–" : score.toFixed(2)}</output>
        </p>
      )}
    </div>
  );
}

/** What stands above the columns, where all rows call them the same. */
function sharedLabels(rows: Criterion[]): string[] | undefined {
  const first = rows[0]?.points;
  if (!first?.every((it) => it.label !== undefined)) return undefined;
  const isSame = rows.every(
    ({ points }) => points.length === first.length && points.every((it, at) => it.label === first[at]?.label),
  );
  return isSame ? first.map((it) => it.label ?? "") : undefined;
}

type RowProps = {
  criterion: Criterion;
  rated: Rated;
  isCurrent: boolean;
  isWhole: boolean;
  isMissing: boolean;
  isTried: boolean;
  onCurrent: () => void;
  onChange: (by: Partial<Rated>) => void;
  onComment: () => void;
  onQuote: () => void;
  onQuoteShow: (quote: Quote) => void;
  onMove: (by: 1 | -1) => void;
};

function Row(props: RowProps) {
  const { criterion, rated, isCurrent, isWhole, isMissing, isTried, onChange, onMove } = props;
  const id = useId();
  const [pointed, setPointed] = useState<Point>();
  const { points } = criterion;
  const at = points.findIndex((it) => rated.rating?.kind === "scored" && it.value === rated.rating.value);
  const shown = pointed ?? points[at];
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const vertical = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
    if (!by && !vertical) return;
    event.preventDefault();
    if (vertical) return onMove(vertical);
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="radio"]')];
    const here = all.indexOf(document.activeElement as HTMLElement);
    all[Math.min(all.length - 1, Math.max(0, here + (by ?? 0)))]?.focus();
  };
  const toggle = (kind: "not_applicable" | "abstained") =>
    onChange({ rating: rated.rating?.kind === kind ? undefined : { kind } });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notes which row one is in.
    <div
      className={styles.row}
      data-row={criterion.name}
      data-current={isCurrent || undefined}
      data-whole={isWhole || undefined}
      data-state={rated.rating?.kind ?? "unrated"}
      data-missing={(isTried && isMissing) || undefined}
      onFocus={props.onCurrent}
      onPointerDown={props.onCurrent}
    >
      <div className={styles.what}>
        <h3 id={`${id}-label`}>
          {criterion.label}
          {isTried && isMissing && <span className={styles.unrated}>not rated</span>}
        </h3>
        {criterion.description && (
          <p id={`${id}-about`} className={styles.about}>
            {criterion.description}
          </p>
        )}
      </div>
      <div className={styles.scale}>
        <div
          role="radiogroup"
          aria-labelledby={`${id}-label`}
          aria-describedby={criterion.description ? `${id}-about` : undefined}
          aria-required={isMissing || undefined}
          className={styles.points}
          onKeyDown={onKeyDown}
        >
          {points.map((point, nth) => (
            <button
              key={String(point.value)}
              type="button"
              role="radio"
              aria-checked={nth === at}
              aria-label={[said(point.value), point.label, point.text].filter(Boolean).join(", ")}
              tabIndex={nth === Math.max(0, at) ? 0 : -1}
              className={styles.point}
              onClick={() => onChange({ rating: { kind: "scored", value: point.value } })}
              onFocus={() => setPointed(point)}
              onBlur={() => setPointed(undefined)}
              onPointerEnter={() => setPointed(point)}
              onPointerLeave={() => setPointed(undefined)}
            >
              {said(point.value)}
            </button>
          ))}
        </div>
        <p className={styles.level} aria-hidden="true">
          {shown && (
            <>
              <b>
                {said(shown.value)}
                {shown.label && ` ${shown.label}`}
              </b>{" "}
              {shown.text}
            </>
          )}
        </p>
      </div>
      <div className={styles.tools}>
        {criterion.may_skip && (
          <>
            <button
              type="button"
              aria-pressed={rated.rating?.kind === "not_applicable"}
              aria-label="n/a, not applicable"
              onClick={() => toggle("not_applicable")}
            >
              n/a
            </button>
            <button
              type="button"
              aria-pressed={rated.rating?.kind === "abstained"}
              onClick={() => toggle("abstained")}
            >
              cannot tell
            </button>
          </>
        )}
        <button type="button" onClick={props.onComment}>
          comment
        </button>
        <button type="button" onClick={props.onQuote}>
          quote
        </button>
      </div>
      {rated.evidence?.map((quote, nth) => (
        <p key={nth} className={styles.quote}>
          <button type="button" title="Show where it stands" onClick={() => props.onQuoteShow(quote)}>
            {quote.quote}
          </button>
          <button
            type="button"
            aria-label="Take the quote away"
            onClick={() => onChange({ evidence: rated.evidence?.filter((_, other) => other !== nth) })}
          >
            ✕
          </button>
        </p>
      ))}
      {rated.comment !== undefined && (
        <textarea
          className={styles.comment}
          rows={2}
          aria-label={`Comment on ${criterion.label}`}
          placeholder="Why?"
          value={rated.comment}
          onChange={(it) => onChange({ comment: it.target.value })}
          onBlur={() => rated.comment === "" && onChange({ comment: undefined })}
        />
      )}
    </div>
  );
}

function said(value: Point["value"]): string {
  if (value === true) return "yes";
  return value === false ? "no" : String(value);
}

const KEYS: KeyGroup = {
  title: "Rating",
  keys: [
    { keys: ["1", "…", "9"], does: "rate the current row; 0 is 10" },
    { keys: ["↑", "↓"], does: "previous, next row" },
    { keys: ["←", "→"], does: "along the scale; Space takes it" },
    { keys: ["n"], does: "not applicable" },
    { keys: ["u"], does: "cannot tell" },
    { keys: ["c"], does: "comment; Esc leaves it" },
    { keys: ["e"], does: "quote what is selected as evidence" },
    { keys: ["Ctrl Enter"], does: "submit" },
  ],
};

type GridKeys = {
  isActive: boolean;
  rows: Criterion[];
  current: string;
  focus: (name: string) => void;
  change: (name: string, by: Partial<Rated>) => void;
  ratedOf: (name: string) => Rated;
  comment: (name: string) => void;
  quote: (name: string) => void;
};

function useGridKeys({ isActive, rows, current, focus, change, ratedOf, comment, quote }: GridKeys) {
  useKeyHelp(KEYS);
  useEffect(() => {
    if (!isActive) return;
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (isTyping(event.target)) {
        // Out of a comment, back to its row.
        if (event.key === "Escape") focus(current);
        return;
      }
      const row = rows.find((it) => it.name === current);
      if (!row) return;
      const rate = (rating: Rating) => {
        const isSame = JSON.stringify(ratedOf(current).rating) === JSON.stringify(rating);
        change(current, { rating: isSame && rating.kind !== "scored" ? undefined : rating });
      };
      const point = pointOf(row.points, event.key);
      if (point) rate({ kind: "scored", value: point.value });
      else if (event.key === "n" && row.may_skip) rate({ kind: "not_applicable" });
      else if (event.key === "u" && row.may_skip) rate({ kind: "abstained" });
      else if (event.key === "c") comment(current);
      else if (event.key === "e") quote(current);
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        // Where nothing else wants them: from anywhere on the page back into the grid.
        if (event.defaultPrevented || event.target !== document.body) return;
        focus(current);
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}

/** The point whose number was typed; where points are no numbers, the first is 1. */
function pointOf(points: Point[], key: string): Point | undefined {
  if (!/^\d$/.test(key)) return undefined;
  const isNumbered = points.every((it) => typeof it.value === "number");
  const typed = Number(key);
  if (!isNumbered) return points[typed - 1];
  return (
    points.find((it) => it.value === typed) ??
    (typed === 0 ? points.find((it) => it.value === 10) : undefined)
  );
}
