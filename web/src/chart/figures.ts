// Formats figures as the command line does: same digits, same rounding.
import { score } from "../ui/format";

/** A fixed number of digits. A value exactly between two is rounded to the even digit, as in Rust. */
export function fixed(value: number, digits: number): string {
  const plain = value.toFixed(digits);
  if (!Number.isFinite(value)) return plain;
  // All digits: only exact halves need special rounding.
  const exact = Math.abs(value).toFixed(Math.min(100, digits + 40));
  const at = exact.indexOf(".") + 1 + digits;
  if (!/^\.?50*$/.test(digits === 0 ? exact.slice(at - 1) : exact.slice(at))) return plain;
  const low = exact.slice(0, at).replace(/\.$/, "");
  const isEven = Number(low.at(-1)) % 2 === 0;
  const sign = value < 0 ? "-" : "";
  return isEven ? `${sign}${low}` : `${sign}${(Number(low) + 10 ** -digits).toFixed(digits)}`;
}

/** A score on 0 to 1. */
export const score3 = (it: number | null | undefined): string => (it == null ? "–" : fixed(it, 3));

export type Range = [number, number];

export const range3 = (it: Range | null | undefined): string =>
  it ? `[${fixed(it[0], 3)}, ${fixed(it[1], 3)}]` : "";

/** The ends of a scale that the author of a rubric chose. */
export type ScaleEnds = { min: number; max: number };

/** The scale that all of these are; none where they differ or one is missing. */
export function sharedEndsOf(scales: (ScaleEnds | null | undefined)[]): ScaleEnds | undefined {
  const [first, ...others] = scales;
  const isShared = others.every((scale) => scale?.min === first?.min && scale?.max === first?.max);
  return isShared ? (first ?? undefined) : undefined;
}

/** `on 1–5`. */
export const scaleText = ({ min, max }: ScaleEnds): string => `on ${min}–${max}`;

const onScale = (unit: number, { min, max }: ScaleEnds): number => min + unit * (max - min);

/** A score on 0 to 1, shown on the scale of the rubric: `4.15 on 1–5`. */
export const nativeScore = (unit: number, scale: ScaleEnds): string =>
  `${fixed(onScale(unit, scale), 2)} ${scaleText(scale)}`;

/** An interval of scores on 0 to 1, shown on the scale of the rubric: `[3.80, 4.20]`. */
export const nativeRange = ([low, high]: Range, scale: ScaleEnds): string =>
  `[${fixed(onScale(low, scale), 2)}, ${fixed(onScale(high, scale), 2)}]`;

/** A score on the scale of its rubric, where it has one, and from 0 to 1 next to it. */
export function scoreText(
  mean: number | null | undefined,
  scale: ScaleEnds | null | undefined,
  digits: 2 | 3 = 3,
): string {
  if (mean == null) return "–";
  const unit = digits === 2 ? score(mean) : score3(mean);
  return scale ? `${nativeScore(mean, scale)} (${unit})` : unit;
}

/** An interval of scores on the scale of their rubric, where they have one, and from 0 to 1 next to it. */
export function rangeText(interval: Range | null | undefined, scale: ScaleEnds | null | undefined): string {
  if (!interval) return "";
  return scale ? `${nativeRange(interval, scale)} (${range3(interval)})` : range3(interval);
}

/** A score with its interval, both on the scale of the rubric, where it has one, and from 0 to 1 next to it. */
export function estimateText(
  mean: number | null | undefined,
  interval: Range | null | undefined,
  scale: ScaleEnds | null | undefined,
): string {
  if (mean == null || !interval) return scoreText(mean, scale);
  const unit = `${score3(mean)} ${range3(interval)}`;
  return scale ? `${nativeScore(mean, scale)} ${nativeRange(interval, scale)} (${unit})` : unit;
}

/** A share, to a tenth of a percent. */
export const percent = (it: number | null | undefined): string =>
  it == null ? "–" : `${Math.round(1000 * it) / 10} %`;

export const percentRange = (it: Range | null | undefined): string =>
  it ? `[${percent(it[0])}, ${percent(it[1])}]` : "";

/** A difference, with its sign. */
export const signed = (it: number, digits = 3): string =>
  it < 0 || Object.is(it, -0) ? fixed(it, digits) : `+${fixed(it, digits)}`;

export const signedRange = (it: Range, digits = 3): string =>
  `[${signed(it[0], digits)}, ${signed(it[1], digits)}]`;

/** A difference of two scores on 0 to 1, shown on the scale of the rubric: `+0.60 on 1–5`. */
export const nativeDifference = (unit: number, scale: ScaleEnds): string =>
  `${signed(unit * (scale.max - scale.min), 2)} ${scaleText(scale)}`;

/** The interval of a difference of two scores on 0 to 1, shown on the scale of the rubric: `[+0.20, +1.00]`. */
export const nativeDifferenceRange = ([low, high]: Range, { min, max }: ScaleEnds): string =>
  signedRange([low * (max - min), high * (max - min)], 2);

/** How far apart two scores on 0 to 1 are, on the scale of the rubric first, where it has one: `2.0 on 1–5 (0.50)`. */
export function distanceText(
  distance: number,
  scale: ScaleEnds | null | undefined,
  digits: 2 | 3 = 2,
): string {
  const unit = fixed(distance, digits);
  if (!scale) return unit;
  return `${fixed(distance * (scale.max - scale.min), digits - 1)} ${scaleText(scale)} (${unit})`;
}

/** A p-value. */
export const chance = (p: number): string => (p < 0.001 ? "< 0.001" : fixed(p, 3));
