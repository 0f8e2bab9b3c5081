// Formats numbers and times for people.

/** `1 run`, `2 runs`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** The first letter in upper case: a fragment of a sentence becomes one. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const count = (n: number): string => n.toLocaleString("en-US");

/** A score on 0..=1 with two digits; a dash where there is none, because a failure is not a score. */
export const score = (it: number | null | undefined): string => (it == null ? "–" : it.toFixed(2));

/** Dollars, with more digits for small amounts. */
export function money(it: number | null | undefined): string {
  if (it == null) return "–";
  if (it === 0) return "$0";
  return it < 0.01 ? `$${it.toPrecision(2)}` : `$${it.toFixed(it < 1 ? 3 : 2)}`;
}

export function duration(ms: number | null | undefined): string {
  if (ms == null) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.5) return `${seconds.toFixed(seconds < 9.95 ? 1 : 0)} s`;
  // Rounded before it is divided: 119.6 s are 2 min 0 s, not 1 min 60 s.
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const SHORT_DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const HOUR = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** `23 Oct`. */
export const shortDay = (time: string): string => SHORT_DAY.format(new Date(time));

/** `v2 (23 Oct)`: the second version, created on that day. */
export const versionName = (n: number, created: string): string => `v${n} (${shortDay(created)})`;

export const day = (time: string): string => DAY.format(new Date(time));
export const moment = (time: string): string => `${day(time)}, ${HOUR.format(new Date(time))}`;

/** `20 Nov, 11:08`: for times that may lie ahead. */
export const shortMoment = (time: string): string => `${shortDay(time)}, ${HOUR.format(new Date(time))}`;

/** How long ago, in the largest unit that fits; the date if older than a week. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - new Date(time).getTime()) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 7 * 86_400) return `${plural(Math.round(seconds / 86_400), "day")} ago`;
  return day(time);
}
