// Formats money in the currency of the cap, with the digits of the command line.
import type { Schemas } from "../api/client";
import { fixed } from "../chart/figures";
import { capitalize } from "../ui/format";
import type { Alert } from "./queries";

export type Cap = Pick<Schemas["CapShown"], "currency" | "rate">;

const SIGNS: Record<string, string> = { GBP: "£", EUR: "€", USD: "$" };

/** Dollars in the currency of the cap, or as dollars without one. */
export function formatMoney(dollars: number, cap: Cap | null | undefined): string {
  const nanos = Math.round(dollars * 1e9);
  // Small amounts get more digits, so that they do not look like zero.
  if (!cap) return `$${fixed(nanos / 1e9, nanos !== 0 && Math.abs(nanos) < 100_000 ? 7 : 4)}`;
  const value = nanos / 1e9 / cap.rate;
  return withCurrency(fixed(value, nanos === 0 ? 2 : digitsOf(Math.abs(value))), cap);
}

const digitsOf = (value: number): number => (value < 0.0001 ? 7 : value < 0.1 ? 4 : 2);

/** The cap as its author wrote it, with at least two digits: a rounded one would be another cap. */
export function formatCap(cap: Cap & { amount: number }): string {
  const written = cap.amount.toFixed(9).replace(/0+$/, "");
  const digits = Math.max(2, written.length - written.indexOf(".") - 1);
  return withCurrency(cap.amount.toFixed(digits), cap);
}

function withCurrency(value: string, { currency }: Pick<Cap, "currency">): string {
  const sign = SIGNS[currency];
  return sign ? `${sign}${value}` : `${value} ${currency}`;
}

const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });

/** `November 2026` of `2026-11`. */
export const monthName = (month: string): string => MONTH.format(Date.parse(`${month}-01T00:00:00Z`));

/** `2026-12` is before `2027-01`. */
export function monthBefore(month: string): string {
  const [year = 0, at = 1] = month.split("-").map(Number);
  return at === 1 ? `${year - 1}-12` : `${year}-${String(at - 1).padStart(2, "0")}`;
}

/** Explanation of the projection. */
export const PROJECTED_SPEND =
  "Projected month-end spend, extrapolated from the days so far, with its 80 % interval.";

type AlertText = Pick<Alert, "message" | "monitor" | "criterion">;

/** The message of an alert as a sentence. A name at its beginning stays as it is written. */
export function alertSentence({ message, monitor, criterion }: AlertText): string {
  const startsWithName = [monitor, criterion].some((name) => name && message.startsWith(`${name} `));
  return startsWithName ? message : capitalize(message);
}
