import type { ReactNode } from "react";
import { useProject } from "../api/session";
import { Nav, PageLinks } from "../ui/Nav";
import { PageHead } from "../ui/PageHead";
import styles from "./SettingsLayout.module.css";

const PAGES = [
  { to: "/p/$project/settings/members", label: "Members" },
  { to: "/p/$project/settings/tokens", label: "API tokens" },
  { to: "/p/$project/settings/notifications", label: "Notifications" },
  { to: "/p/$project/settings/judges", label: "Judges" },
  { to: "/p/$project/settings/data", label: "Project and data" },
  { to: "/p/$project/settings/audit", label: "Audit" },
] as const;

/** Frame of the settings pages: title and navigation. */
export function SettingsLayout({ children }: { children: ReactNode }) {
  const params = { project: useProject().name };
  return (
    <>
      <PageHead title="Settings" about="Settings of this project and of the server." book="settings.html" />
      <div className={styles.settings}>
        <Nav label="Settings" look="side">
          <PageLinks params={params} pages={PAGES} />
        </Nav>
        <div className={styles.body}>{children}</div>
      </div>
    </>
  );
}

/** A secret that is shown once. */
export function OneTimeSecret({ secret, about }: { secret: string; about: ReactNode }) {
  return (
    <div className={styles.once}>
      <p>{about}</p>
      <code className={styles.secret} data-secret>
        {secret}
      </code>
    </div>
  );
}
