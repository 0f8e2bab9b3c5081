import { Badge } from "../ui/Badge";
import { PlannedTime, Time } from "../ui/Time";
import styles from "./Budget.module.css";
import type { Alert } from "./queries";

/** Whether notifications are held back now. */
export const isSnoozed = (alert: Alert): boolean =>
  alert.snoozed_until != null && Date.now() < Date.parse(alert.snoozed_until);

/** Active, acknowledged, snoozed or resolved. */
export function AlertState({ alert }: { alert: Alert }) {
  if (alert.resolved) {
    return (
      <>
        <Badge tone="pass">✓ resolved</Badge>{" "}
        <span className={styles.soft}>
          <Time at={alert.resolved} />
        </span>
      </>
    );
  }
  const until = isSnoozed(alert) ? alert.snoozed_until : null;
  if (alert.acknowledged) {
    return (
      <>
        <Badge tone="accent">active, acknowledged</Badge>{" "}
        <span className={styles.soft}>
          <Time at={alert.acknowledged} />
          {until && (
            <>
              , snoozed until <PlannedTime at={until} />
            </>
          )}
        </span>
      </>
    );
  }
  if (until) {
    return (
      <>
        <Badge tone="accent">active, snoozed</Badge>{" "}
        <span className={styles.soft}>
          until <PlannedTime at={until} />
        </span>
      </>
    );
  }
  return <Badge tone="fail">! active</Badge>;
}
