import type { ReactNode } from "react";
import styles from "./Nav.module.css";

type NavProps = {
  /** What the pages belong to. */
  label: string;
  /** In a row with a line beneath, one below the other, or in the bar at the top of every page. */
  look?: "row" | "side" | "bar";
  children: ReactNode;
};

/** Where one is among pages that belong together; its children are links. */
export function Nav({ label, look = "row", children }: NavProps) {
  return (
    <nav aria-label={label} className={styles.nav} data-look={look}>
      {children}
    </nav>
  );
}
