import type { Schemas } from "../api/client";
import type { Status } from "../ui/Badge";
import type { NamedCase } from "./CaseName";
import styles from "./CaseStrip.module.css";

export type CaseOutcome = NamedCase & { place: number; status: Status; score: number | null };

/** Numbers of verdicts of a run by status. */
export const countsOf = (it: Schemas["RunLine"]) => ({
  pass: it.n_pass,
  fail: it.n_fail,
  error: it.n_error,
  deferred: it.n_deferred,
});

const ORDER: Status[] = ["fail", "error", "deferred", "pass"];

/** Verdicts as shares of a bar. */
export function VerdictBar({ n, total }: { n: Record<Status, number>; total: number }) {
  const label = ORDER.map((it) => `${n[it]} ${it}`).join(", ");
  return (
    <span className={styles.shares} role="img" aria-label={label} title={label}>
      {(["pass", "fail", "error", "deferred"] as const).map((it) => (
        <span key={it} data-status={it} style={{ flexGrow: n[it] }} hidden={n[it] === 0} />
      ))}
      <span style={{ flexGrow: Math.max(0, total - ORDER.reduce((sum, it) => sum + n[it], 0)) }} />
    </span>
  );
}

/** What the colours of the strip mean. */
export function CaseStripLegend() {
  return (
    <p className={styles.legend}>
      <span>
        One bar per case in the order of the suite. Its height is the score, its colour the verdict:
      </span>
      {(["pass", "fail", "error", "deferred"] as const).map((status) => (
        <span key={status} className={styles.key} data-status={status}>
          {status}
        </span>
      ))}
    </p>
  );
}

type CaseStripProps = {
  outcomes: CaseOutcome[];
  total: number;
  selected?: number;
  onSelect: (place: number) => void;
};

/** With more bars than that, a gap beside each would be wider than the bar on a narrow screen. */
const DENSE = 60;

/** One bar per case in the order of the plan; its height is the score. */
export function CaseStrip({ outcomes, total, selected, onSelect }: CaseStripProps) {
  // More bars than that are thinner than a pixel.
  if (total > 1200) return null;
  const by = new Map(outcomes.map((it) => [it.place, it]));
  return (
    <div className={styles.strip} data-dense={total > DENSE || undefined} aria-hidden="true">
      {Array.from({ length: total }, (_, place) => {
        const it = by.get(place);
        return (
          <button
            key={place}
            type="button"
            tabIndex={-1}
            data-status={it?.status}
            data-unscored={(it && it.score === null) || undefined}
            data-selected={place === selected || undefined}
            title={it ? `${it.case}: ${it.status}` : "not graded yet"}
            onClick={() => it && onSelect(place)}
          >
            <span style={{ blockSize: `${100 * Math.max(0.14, it?.score ?? (it ? 1 : 0.14))}%` }} />
          </button>
        );
      })}
    </div>
  );
}
