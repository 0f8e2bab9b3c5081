import { useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Quote } from "../traces/view/highlights";
import { Button } from "../ui/Button";
import { CodeText } from "../ui/CodeText";
import { isTyping, type KeyGroup, useKeyHelp } from "../ui/KeyHelp";
import { inWords, isChecked, isSame, pointOf, reachedClaims, totalOfParts } from "./answers";
import { CommentField } from "./CommentField";
import { EvidenceQuotes } from "./EvidenceQuotes";
import styles from "./JudgeVerification.module.css";
import { RatingScale, SkipButtons } from "./RatingScale";
import type { AnswerOf, Checked, Claim, KindOf, Rating } from "./types";

type JudgeVerificationProps = {
  scheme: KindOf<"verify">;
  answer: AnswerOf<"verify">;
  onAnswerChange: (answer: AnswerOf<"verify">) => void;
  isTried: boolean;
  isActive: boolean;
  onQuoteShow: (quote: Quote) => void;
  /** Moves the focus to a claim, by its id. */
  jump?: { row: string };
};

/** Answers of a judge, to be confirmed or corrected; see `KEYS`. */
export function JudgeVerification(props: JudgeVerificationProps) {
  const { scheme, answer, onAnswerChange, isTried, isActive, onQuoteShow, jump } = props;
  const claims = reachedClaims(scheme.claims, answer.claims);
  const [current, setCurrent] = useState(claims[0]?.id ?? "");
  const list = useRef<HTMLOListElement>(null);
  const change = (id: string, by: Partial<Checked>) =>
    onAnswerChange({
      ...answer,
      claims: { ...answer.claims, [id]: { ...answer.claims[id], ...by } },
    });
  const rowOf = (id: string) =>
    list.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`) ?? undefined;
  const focus = (id: string) => {
    setCurrent(id);
    rowOf(id)?.focus();
    rowOf(id)?.scrollIntoView({ block: "nearest" });
  };
  const comment = (id: string) => {
    // Rendered synchronously, because the next key belongs into it.
    if (answer.claims[id]?.comment === undefined) flushSync(() => change(id, { comment: "" }));
    rowOf(id)?.querySelector("textarea")?.focus();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a jump is asked for once.
  useEffect(() => {
    if (jump) focus(jump.row);
  }, [jump]);
  useClaimKeys({ isActive, claims, current, focus, change, comment });
  return (
    <ol ref={list} className={styles.claims}>
      {claims.map((claim) => (
        <ClaimCard
          key={claim.id}
          claim={claim}
          total={claim.from_parts ? { rating: totalOfParts(claim, claims, answer.claims) } : undefined}
          checked={answer.claims[claim.id] ?? {}}
          isCurrent={claim.id === current}
          isMissing={isTried && scheme.required && !isChecked(answer.claims[claim.id], claim)}
          onCurrent={() => setCurrent(claim.id)}
          onChange={(by) => change(claim.id, by)}
          onComment={() => comment(claim.id)}
          onQuoteShow={onQuoteShow}
        />
      ))}
    </ol>
  );
}

type ClaimCardProps = {
  claim: Claim;
  /** For a claim that its parts decide: their result when all are answered. */
  total?: { rating: Rating | undefined };
  checked: Checked;
  isCurrent: boolean;
  isMissing: boolean;
  onCurrent: () => void;
  onChange: (by: Partial<Checked>) => void;
  onComment: () => void;
  onQuoteShow: (quote: Quote) => void;
};

function ClaimCard(props: ClaimCardProps) {
  const { claim, total, checked, isCurrent, isMissing, onChange } = props;
  const isChanged = total?.rating !== undefined && !isSame(total.rating, claim.said);
  const id = useId();
  return (
    <li
      className={styles.claim}
      data-row={claim.id}
      data-current={isCurrent || undefined}
      data-state={total ? totalState(total.rating, isChanged) : (checked.verdict ?? "open")}
      data-missing={isMissing || undefined}
      tabIndex={isCurrent ? 0 : -1}
      aria-labelledby={`${id}-label`}
      onFocus={props.onCurrent}
      onPointerDown={props.onCurrent}
    >
      <h3 id={`${id}-label`}>
        {claim.label}
        {isMissing && (
          <span className={styles.open}>{checked.verdict ? "choose the right answer" : "not checked"}</span>
        )}
      </h3>
      {claim.text && claim.text !== claim.label && (
        <p className={styles.text} dir="auto">
          {claim.text}
        </p>
      )}
      <p className={styles.said}>
        {claim.said ? (
          <>
            <span>Answer of the judge:</span> <b>{inWords(claim.said, claim.points)}</b>
          </>
        ) : (
          <span>The judge did not get this question; your answer leads to it.</span>
        )}
      </p>
      {claim.reason && (
        <p className={styles.reason} dir="auto">
          <CodeText text={claim.reason} />
        </p>
      )}
      <EvidenceQuotes quotes={claim.evidence} onQuoteShow={props.onQuoteShow} />
      {total && (
        <p className={styles.said}>
          <span>Result of its parts below:</span>{" "}
          <b>{total.rating ? inWords(rounded(total.rating)) : "open until all parts are answered"}</b>
        </p>
      )}
      <div className={styles.doing}>
        {!total && claim.said && (
          <Button
            aria-pressed={checked.verdict === "confirmed"}
            onClick={() => onChange({ verdict: "confirmed", rating: undefined })}
          >
            ✓ Confirm <kbd>y</kbd>
          </Button>
        )}
        {!total && (
          <Button
            aria-pressed={checked.verdict === "corrected"}
            onClick={() => onChange({ verdict: "corrected" })}
          >
            {claim.said ? "✕ Correct" : "Answer"} <kbd>x</kbd>
          </Button>
        )}
        <Button look="tool" onClick={props.onComment}>
          comment
        </Button>
      </div>
      {!total && checked.verdict === "corrected" && (
        <div className={styles.right}>
          <p id={`${id}-right`}>Right answer</p>
          <RatingScale
            points={claim.points ?? []}
            rating={checked.rating}
            labelledBy={`${id}-label ${id}-right`}
            isRequired
            onRate={(rating) => onChange({ rating })}
          />
          <div className={styles.doing}>
            <SkipButtons rating={checked.rating} onRate={(rating) => onChange({ rating })} />
          </div>
        </div>
      )}
      <CommentField
        on={claim.label}
        comment={checked.comment}
        onChange={(comment) => onChange({ comment })}
      />
    </li>
  );
}

function totalState(rating: Rating | undefined, isChanged: boolean) {
  if (!rating) return "open";
  return isChanged ? "corrected" : "confirmed";
}

const rounded = (rating: Rating): Rating =>
  rating.kind === "scored" && typeof rating.value === "number"
    ? { kind: "scored", value: Math.round(rating.value * 1000) / 1000 }
    : rating;

const KEYS: KeyGroup = {
  title: "Verifying a judge",
  keys: [
    { keys: ["y"], does: "confirm the current claim" },
    { keys: ["x"], does: "correct the current claim" },
    { keys: ["1", "…", "9"], does: "correct to this rating" },
    { keys: ["n", "u"], does: "not applicable, undecidable" },
    { keys: ["↑", "↓"], does: "previous, next claim" },
    { keys: ["c"], does: "comment; Esc leaves the field" },
  ],
};

type ClaimKeys = {
  isActive: boolean;
  claims: Claim[];
  current: string;
  focus: (id: string) => void;
  change: (id: string, by: Partial<Checked>) => void;
  comment: (id: string) => void;
};

function useClaimKeys({ isActive, claims, current, focus, change, comment }: ClaimKeys) {
  useKeyHelp(KEYS);
  useEffect(() => {
    if (!isActive) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (isTyping(event.target)) {
        if (event.key === "Escape") focus(current);
        return;
      }
      const at = claims.findIndex((it) => it.id === current);
      const claim = claims[at];
      if (!claim) return;
      // The judge's own rating is a confirmation.
      const rate = (rating: Rating) =>
        change(
          current,
          isSame(rating, claim.said)
            ? { verdict: "confirmed", rating: undefined }
            : { verdict: "corrected", rating },
        );
      // The result of a claim with parts follows from them.
      const point = claim.from_parts ? undefined : pointOf(claim.points ?? [], event.key);
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (point) rate({ kind: "scored", value: point.value });
      else if (claim.from_parts && "yxnu".includes(event.key)) return;
      else if (event.key === "y" && claim.said) change(current, { verdict: "confirmed", rating: undefined });
      else if (event.key === "x") change(current, { verdict: "corrected" });
      else if (event.key === "n") rate({ kind: "not_applicable" });
      else if (event.key === "u") rate({ kind: "abstained" });
      else if (event.key === "c") comment(current);
      else if (by) focus(claims[Math.max(0, Math.min(claims.length - 1, at + by))]?.id ?? current);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}
