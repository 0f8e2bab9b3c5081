import styles from "./Budget.module.css";
import type { Spend } from "./queries";

/** Spend, projection, even pace and cap on one bar. */
export function BudgetMeter({ spend, share, dollars }: { spend: Spend; share: number; dollars: number }) {
  const { forecast } = spend;
  // The bar ends at the cap or at the upper end of the projection.
  const most = Math.max(dollars, spend.spent, forecast?.high ?? 0) || 1;
  const at = (it: number) => `${Math.min(100, (100 * it) / most)}%`;
  const tone = share >= 1 ? "fail" : share >= 0.8 ? "warn" : "pass";
  return (
    <div className={styles.part}>
      <div
        className={styles.meter}
        role="meter"
        aria-label="Spent of the cap"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.round(100 * share))}
      >
        <span className={styles.fill} data-tone={tone} style={{ inlineSize: at(spend.spent) }} />
        {forecast && (
          <span
            className={styles.ahead}
            style={{
              insetInlineStart: at(forecast.low),
              inlineSize: `${(100 * (Math.min(forecast.high, most) - forecast.low)) / most}%`,
            }}
          />
        )}
        {spend.elapsed < 1 && (
          <span
            className={styles.today}
            title="Spend to date at an even pace"
            style={{ insetInlineStart: at(spend.elapsed * dollars) }}
          />
        )}
        <span className={styles.cap} title="Cap" style={{ insetInlineStart: at(dollars) }} />
      </div>
      <ul className={styles.legend}>
        <li>
          <span className={styles.fill} data-tone={tone} /> spent
        </li>
        {forecast && (
          <li>
            <span className={styles.ahead} /> projected month-end spend (80 % interval)
          </li>
        )}
        {spend.elapsed < 1 && (
          <li>
            <span className={styles.today} /> even pace to date
          </li>
        )}
        <li>
          <span className={styles.cap} /> cap
        </li>
      </ul>
    </div>
  );
}
