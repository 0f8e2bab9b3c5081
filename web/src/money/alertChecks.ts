import { ago } from "../ui/format";

type AlertChecks = { last_check?: string | null; next_check?: string | null };

/** When the server checked its monitors, and when it does so next. */
export function describeAlertChecks(checks: AlertChecks, now = Date.now()): string {
  const { last_check: last, next_check: next } = checks;
  const before = last
    ? `The server checked all monitors ${ago(last, now)}.`
    : "The server has not checked its monitors since it started.";
  if (!next) return before;
  const minutes = Math.ceil((new Date(next).getTime() - now) / 60_000);
  return `${before} ${minutes < 1 ? "The next check is due now." : `The next check is in ${minutes} min.`}`;
}
