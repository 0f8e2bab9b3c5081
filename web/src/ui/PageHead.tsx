import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { BookLink, type BookPage } from "./BookLink";
import styles from "./PageHead.module.css";
import { useTitle } from "./useTitle";

type PageHeadProps = {
  /** A link to the list that the page belongs to. */
  up?: ReactNode;
  title: ReactNode;
  about?: ReactNode;
  /** The page of the book about it. */
  book?: BookPage;
  /** Buttons and links for what can be done here. */
  children?: ReactNode;
};

/** The head of a page: breadcrumbs, title, description and actions. */
export function PageHead({ up, title, about, book, children }: PageHeadProps) {
  useTitle(typeof title === "string" ? title : undefined);
  return (
    <div className={styles.head}>
      <div>
        {up && <Breadcrumbs>{up}</Breadcrumbs>}
        <h1>{title}</h1>
        {(about || book) && (
          <div className={styles.about}>
            {about} {book && <BookLink page={book}>Documentation</BookLink>}
          </div>
        )}
      </div>
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  );
}

/** The way from the project to the page: the project, then the list that the page belongs to. */
export function Breadcrumbs({ children }: { children: ReactNode }) {
  const { project } = useParams({ strict: false });
  return (
    <nav aria-label="Breadcrumbs" className={styles.crumbs}>
      {project && (
        <>
          <Link to="/p/$project" params={{ project }} activeOptions={{ exact: true, includeSearch: false }}>
            {project}
          </Link>
          <span aria-hidden="true">›</span>
        </>
      )}
      {children}
    </nav>
  );
}
