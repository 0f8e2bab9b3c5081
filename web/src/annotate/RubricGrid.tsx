import { type RefObject, useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Quote } from "../traces/view/highlights";
import { Button } from "../ui/Button";
import { isTyping, type KeyGroup, useKeyHelp } from "../ui/KeyHelp";
import { isSame, OVERALL, pointOf, weighted } from "./answers";
import { CommentField } from "./CommentField";
import words from "./CommentField.module.css";
import { EvidenceQuotes } from "./EvidenceQuotes";
import { RatingScale, SkipButtons } from "./RatingScale";
import styles from "./RubricGrid.module.css";
import type { AnswerOf, Criterion, KindOf, Rated, Rating } from "./types";

type RubricGridProps = {
  scheme: KindOf<"rubric">;
  answer: AnswerOf<"rubric">;
  onAnswerChange: (answer: AnswerOf<"rubric">) => void;
  /** Rows that must be rated before submitting. */
  missing: string[];
  /** Whether the annotator has tried to submit; missing answers are marked from then on. */
  isTried: boolean;
  /** The text that is selected in the item. */
  selectedQuote: () => Quote | undefined;
  onQuoteShow: (quote: Quote) => void;
  /** Whether keyboard shortcuts apply to this grid. */
  isActive: boolean;
  /** Moves the focus to a row, by its name. */
  jump?: { row: string };
  /** Moves to the question above or below, from the first or the last row. */
  onMove?: (by: 1 | -1) => void;
};

/** Criteria as rows, the scale as columns. Digits rate the current row, arrows move; see `KEYS`. */
export function RubricGrid(props: RubricGridProps) {
  const { scheme, answer, onAnswerChange, missing, isTried, selectedQuote, isActive, jump } = props;
  const rows = scheme.overall ? [...scheme.criteria, { ...scheme.overall, name: OVERALL }] : scheme.criteria;
  const [current, setCurrent] = useState(rows[0]?.name ?? "");
  const [note, setNote] = useState<string>();
  const grid = useRef<HTMLDivElement>(null);
  // The row that a key has just rated: a comment or a quote that follows belongs to it, not to the next row.
  const justRated = useRef<string>(undefined);
  const enter = (name: string) => {
    justRated.current = undefined;
    setCurrent(name);
  };
  const ratedOf = (name: string): Rated => (name === OVERALL ? answer.overall : answer.criteria[name]) ?? {};
  const change = (name: string, by: Partial<Rated>) => {
    const rated = { ...ratedOf(name), ...by };
    if (name === OVERALL) onAnswerChange({ ...answer, overall: rated });
    else onAnswerChange({ ...answer, criteria: { ...answer.criteria, [name]: rated } });
  };
  const focus = (name: string) => {
    enter(name);
    const row = grid.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(name)}"]`);
    row?.querySelector<HTMLElement>('[role="radio"][tabindex="0"], input[type="range"]')?.focus();
    row?.scrollIntoView({ block: "nearest" });
  };
  const quote = (name: string) => {
    const found = selectedQuote();
    if (!found) return setNote("Select text in the trace first, then quote it.");
    setNote(undefined);
    // The quote is marked from now on, so the selection is removed.
    document.getSelection()?.removeAllRanges();
    change(name, { evidence: [...(ratedOf(name).evidence ?? []), found] });
  };
  const comment = (name: string) => {
    // Rendered synchronously, because the next key belongs into it.
    if (ratedOf(name).comment === undefined) flushSync(() => change(name, { comment: "" }));
    grid.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(name)}"] textarea`)?.focus();
  };
  useGridKeys({ isActive, rows, current, justRated, focus, change, ratedOf, comment, quote });
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
        <CriterionRow
          key={row.name}
          criterion={row}
          rated={ratedOf(row.name)}
          isCurrent={row.name === current}
          isWhole={row.name === OVERALL}
          isMissing={missing.includes(row.name)}
          isTried={isTried}
          onCurrent={() => enter(row.name)}
          onChange={(by) => change(row.name, by)}
          onComment={() => comment(row.name)}
          onQuote={() => quote(row.name)}
          onQuoteShow={props.onQuoteShow}
          onMove={(by) => {
            const to = rows[rows.findIndex((it) => it.name === row.name) + by];
            if (to) focus(to.name);
            else props.onMove?.(by);
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
            className={words.area}
            rows={3}
            dir="auto"
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

/** Labels above the columns, where all rows have the same ones. */
function sharedLabels(rows: Criterion[]): string[] | undefined {
  const first = rows[0]?.points;
  if (!first?.every((it) => it.label !== undefined)) return undefined;
  const isSame = rows.every(
    ({ points }) => points.length === first.length && points.every((it, at) => it.label === first[at]?.label),
  );
  return isSame ? first.map((it) => it.label ?? "") : undefined;
}

type CriterionRowProps = {
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

function CriterionRow(props: CriterionRowProps) {
  const { criterion, rated, isCurrent, isWhole, isMissing, isTried, onChange, onMove } = props;
  const id = useId();
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
        <h3>
          <span id={`${id}-label`}>{criterion.label}</span>
          {isWhole && <span className={styles.optional}> optional</span>}
          {isTried && isMissing && <span className={styles.unrated}>not rated</span>}
        </h3>
        {criterion.description && (
          <p id={`${id}-about`} className={styles.about}>
            {criterion.description}
          </p>
        )}
      </div>
      <div className={styles.scale}>
        <RatingScale
          points={criterion.points}
          rating={rated.rating}
          labelledBy={`${id}-label`}
          describedBy={criterion.description ? `${id}-about` : undefined}
          isRequired={isMissing}
          onRate={(rating) => onChange({ rating })}
          onMove={onMove}
        />
      </div>
      <div className={styles.tools}>
        {criterion.may_skip && (
          <SkipButtons rating={rated.rating} onRate={(rating) => onChange({ rating })} />
        )}
        <Button look="tool" onClick={props.onComment}>
          comment
        </Button>
        <Button look="tool" onClick={props.onQuote}>
          quote
        </Button>
      </div>
      <EvidenceQuotes
        quotes={rated.evidence}
        onQuoteShow={props.onQuoteShow}
        onQuoteTake={(nth) => onChange({ evidence: rated.evidence?.filter((_, other) => other !== nth) })}
      />
      <CommentField
        on={criterion.label}
        comment={rated.comment}
        onChange={(comment) => onChange({ comment })}
      />
    </div>
  );
}

const KEYS: KeyGroup = {
  title: "Rating",
  keys: [
    { keys: ["1", "…", "9"], does: "rate the current row and go to the next; 0 is 10" },
    { keys: ["↑", "↓"], does: "previous, next row" },
    { keys: ["←", "→"], does: "move along the scale; Space selects" },
    { keys: ["n"], does: "not applicable; press again to undo" },
    { keys: ["u"], does: "undecidable; press again to undo" },
    { keys: ["c"], does: "comment on the row just rated; Esc leaves the field" },
    { keys: ["e"], does: "quote the selected text as evidence" },
    { keys: ["Ctrl Enter"], does: "submit" },
  ],
};

type GridKeys = {
  isActive: boolean;
  rows: Criterion[];
  current: string;
  justRated: RefObject<string | undefined>;
  focus: (name: string) => void;
  change: (name: string, by: Partial<Rated>) => void;
  ratedOf: (name: string) => Rated;
  comment: (name: string) => void;
  quote: (name: string) => void;
};

function useGridKeys(keys: GridKeys) {
  const { isActive, rows, current, justRated, focus, change, ratedOf, comment, quote } = keys;
  useKeyHelp(KEYS);
  useEffect(() => {
    if (!isActive) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (isTyping(event.target)) {
        // From a comment back to its row.
        if (event.key === "Escape") focus(current);
        return;
      }
      const at = rows.findIndex((it) => it.name === current);
      const row = rows[at];
      if (!row) return;
      const rate = (rating: Rating) => {
        const isTakenBack = rating.kind !== "scored" && isSame(ratedOf(current).rating, rating);
        change(current, { rating: isTakenBack ? undefined : rating });
        const next = rows[at + 1];
        if (!next || isTakenBack) return;
        focus(next.name);
        justRated.current = current;
      };
      const point = pointOf(row.points, event.key);
      if (point) rate({ kind: "scored", value: point.value });
      else if (event.key === "n" && row.may_skip) rate({ kind: "not_applicable" });
      else if (event.key === "u" && row.may_skip) rate({ kind: "abstained" });
      else if (event.key === "c") comment(justRated.current ?? current);
      else if (event.key === "e") quote(justRated.current ?? current);
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        // Only if no other element handles them: from anywhere on the page back into the grid.
        if (event.defaultPrevented || event.target !== document.body) return;
        focus(current);
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
