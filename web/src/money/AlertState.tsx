import { Badge } from "../ui/Badge";
import { Time } from "../ui/Time";
import styles from "./Budget.module.css";
import type { Alert } from "./queries";

/** Active, acknowledged or resolved. */
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
  if (alert.acknowledged) {
    return (
      <>
        <Badge tone="accent">active, acknowledged</Badge>{" "}
        <span className={styles.soft}>
          <Time at={alert.acknowledged} />
        </span>
      </>
    );
  }
  return <Badge tone="fail">! active</Badge>;
}
