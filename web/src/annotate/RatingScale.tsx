import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { MOST_BUTTONS, said } from "./answers";
import { RangeInput } from "./RangeInput";
import styles from "./RatingScale.module.css";
import type { Point, Rating } from "./types";

type RatingScaleProps = {
  points: Point[];
  rating: Rating | undefined;
  labelledBy: string;
  describedBy?: string;
  isRequired?: boolean;
  onRate: (rating: Rating) => void;
  /** Moves to the row above or below. */
  onMove?: (by: 1 | -1) => void;
};

/** A rating scale; a level shows its meaning when it is pointed at or focused. */
export function RatingScale({
  points,
  rating,
  labelledBy,
  describedBy,
  isRequired,
  onRate,
  onMove,
}: RatingScaleProps) {
  const [pointed, setPointed] = useState<Point>();
  const at = points.findIndex((it) => rating?.kind === "scored" && it.value === rating.value);
  const shown = pointed ?? points[at];
  const group = useRef<HTMLDivElement>(null);
  // A digit selects from anywhere in the row; the focus follows, as for a click.
  useEffect(() => {
    if (at < 0 || !group.current?.contains(document.activeElement)) return;
    group.current.querySelectorAll<HTMLElement>('[role="radio"]')[at]?.focus();
  }, [at]);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const vertical = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
    if (!by && !(vertical && onMove)) return;
    event.preventDefault();
    if (vertical) return onMove?.(vertical);
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="radio"]')];
    const here = all.indexOf(document.activeElement as HTMLElement);
    all[Math.min(all.length - 1, Math.max(0, here + (by ?? 0)))]?.focus();
  };
  const numbers = points.flatMap((it) => (typeof it.value === "number" ? [it.value] : []));
  const [low, next] = numbers;
  if (points.length > MOST_BUTTONS && numbers.length === points.length && low !== undefined) {
    const ends = [points[0], points[points.length - 1]];
    return (
      <>
        <RangeInput
          min={low}
          max={numbers[numbers.length - 1] ?? low}
          step={(next ?? low + 1) - low}
          value={rating?.kind === "scored" && typeof rating.value === "number" ? rating.value : undefined}
          minLabel={ends[0]?.label}
          maxLabel={ends[1]?.label}
          labelledBy={labelledBy}
          describedBy={describedBy}
          onChange={(value) => onRate({ kind: "scored", value })}
          onMove={onMove}
        />
        {points[at]?.text && <p className={styles.level}>{points[at]?.text}</p>}
      </>
    );
  }
  return (
    <>
      <div
        ref={group}
        role="radiogroup"
        aria-labelledby={labelledBy}
        aria-describedby={describedBy}
        aria-required={isRequired || undefined}
        className={styles.points}
        data-skipped={(rating && rating.kind !== "scored") || undefined}
        data-long={points.some((it) => said(it.value).length > 9) || undefined}
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
            onClick={() => onRate({ kind: "scored", value: point.value })}
            onFocus={() => setPointed(point)}
            onBlur={() => setPointed(undefined)}
            onPointerEnter={() => setPointed(point)}
            onPointerLeave={() => setPointed(undefined)}
          >
            {said(point.value)}
          </button>
        ))}
      </div>
      {points.some((it) => it.label || it.text) && (
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
      )}
    </>
  );
}

type SkipButtonsProps = { rating: Rating | undefined; onRate: (rating: Rating | undefined) => void };

/** Buttons for answers without a rating. */
export function SkipButtons({ rating, onRate }: SkipButtonsProps) {
  const toggle = (kind: "not_applicable" | "abstained") =>
    onRate(rating?.kind === kind ? undefined : { kind });
  return (
    <>
      <Button
        look="tool"
        aria-pressed={rating?.kind === "not_applicable"}
        aria-label="n/a, not applicable"
        onClick={() => toggle("not_applicable")}
      >
        n/a
      </Button>
      <Button look="tool" aria-pressed={rating?.kind === "abstained"} onClick={() => toggle("abstained")}>
        undecidable
      </Button>
    </>
  );
}
