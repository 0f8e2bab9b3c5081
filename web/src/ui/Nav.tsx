import { Link, type LinkProps } from "@tanstack/react-router";
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

/** Pages of one thing, and what the address needs to name it. */
type LinksProps = {
  params: LinkProps["params"];
  pages: readonly { to: LinkProps["to"]; label: string }[];
};

/** Links to pages that belong together. */
export function Links({ params, pages }: LinksProps) {
  return pages.map((it) => (
    <Link key={it.to} to={it.to} params={params}>
      {it.label}
    </Link>
  ));
}
