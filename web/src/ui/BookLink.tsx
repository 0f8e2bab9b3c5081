import type { ReactNode } from "react";

/** A page of the book, with or without a heading: `monitor.html#alerts`. A test checks that it exists. */
export type BookPage = `${string}.html` | `${string}.html#${string}`;

export const bookAddress = (page: BookPage): string => `/docs/${page}`;

type BookLinkProps = { page: BookPage; children: ReactNode };

/** A link into the book, which this server has under `/docs`. It opens beside the page, so that no work is lost. */
export function BookLink({ page, children }: BookLinkProps) {
  return (
    <a href={bookAddress(page)} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
