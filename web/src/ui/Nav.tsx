import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import styles from "./Nav.module.css";

type NavProps = {
  /** Name of the group of pages. */
  label: string;
  /** In a row, in a column, or in the bar at the top of every page. */
  look?: "row" | "side" | "bar";
  children: ReactNode;
};

/** Navigation between related pages; its children are links. */
export function Nav({ label, look = "row", children }: NavProps) {
  return (
    <nav aria-label={label} className={styles.nav} data-look={look}>
      {children}
    </nav>
  );
}

/** Related pages and the parameters of their addresses. */
type PageLinksProps = {
  params: LinkProps["params"];
  pages: readonly { to: LinkProps["to"]; label: string }[];
};

/** Links to related pages. */
export function PageLinks({ params, pages }: PageLinksProps) {
  return pages.map((it) => (
    <Link key={it.to} to={it.to} params={params}>
      {it.label}
    </Link>
  ));
}
