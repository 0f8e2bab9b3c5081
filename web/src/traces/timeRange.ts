// Time ranges of the list of traces, as the addresses have them.

export type TimeRange = { from?: string; until?: string };

export const RANGES = [
  { name: "1h", label: "last hour", hours: 1 },
  { name: "24h", label: "last 24 hours", hours: 24 },
  { name: "7d", label: "last 7 days", hours: 7 * 24 },
  { name: "30d", label: "last 30 days", hours: 30 * 24 },
] as const;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The beginning of a range, in full minutes, so that the same choice is the same address for a while. */
export function startOfRange(name: string, now = Date.now()): string | undefined {
  const range = RANGES.find((it) => it.name === name);
  if (!range) return undefined;
  const start = Math.floor(now / MINUTE_MS) * MINUTE_MS - range.hours * HOUR_MS;
  return new Date(start).toISOString().replace(".000Z", "Z");
}

/** The range that an address was made by: `any`, one of the names, or `custom`. */
export function nameOfRange({ from, until }: TimeRange, now = Date.now()): string {
  if (!from && !until) return "any";
  if (!from || until) return "custom";
  const age = now - Date.parse(from);
  // An address that is some minutes old still shows the same range; a day of a calendar is no range.
  const isDay = from.endsWith("T00:00:00Z");
  const range = isDay ? undefined : RANGES.find((it) => Math.abs(age - it.hours * HOUR_MS) <= 30 * MINUTE_MS);
  return range?.name ?? "custom";
}

/** The day of a time, for a date field. */
export const dayOfTime = (time: string | undefined): string => time?.slice(0, 10) ?? "";

/** The beginning of a day in UTC, which the list shows as well. */
export const startOfDay = (day: string): string | undefined => (day ? `${day}T00:00:00Z` : undefined);

const DAY_MS = 24 * HOUR_MS;

/** The end of a day: the day that is chosen belongs to the range. */
export const endOfDay = (day: string): string | undefined =>
  day ? new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().replace(".000Z", "Z") : undefined;

/** The last day that belongs to a range which ends at this time. */
export const lastDayOf = (until: string | undefined): string =>
  until ? new Date(Date.parse(until) - 1).toISOString().slice(0, 10) : "";
