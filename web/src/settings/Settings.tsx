import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useProject } from "../api/session";
import { PageHead } from "../shell/Shell";
import { Nav } from "../ui/Nav";
import styles from "./Settings.module.css";

/** What all settings share: where one is among them. */
export function Settings({ children }: { children: ReactNode }) {
  const params = { project: useProject().name };
  return (
    <>
      <PageHead title="Settings" />
      <div className={styles.settings}>
        <Nav label="Settings" look="side">
          <Link to="/p/$project/settings/members" params={params}>
            Members
          </Link>
          <Link to="/p/$project/settings/tokens" params={params}>
            Tokens
          </Link>
          <Link to="/p/$project/settings/notifications" params={params}>
            Notifications
          </Link>
          <Link to="/p/$project/settings/judges" params={params}>
            Judges
          </Link>
          <Link to="/p/$project/settings/data" params={params}>
            Data
          </Link>
          <Link to="/p/$project/settings/audit" params={params}>
            Audit
          </Link>
        </Nav>
        <div className={styles.body}>{children}</div>
      </div>
    </>
  );
}

/** A secret that is shown here and never again. */
export function Once({ secret, about }: { secret: string; about: ReactNode }) {
  return (
    <div className={styles.once}>
      <p>{about}</p>
      <code className={styles.secret} data-secret>
        {secret}
      </code>
    </div>
  );
}
