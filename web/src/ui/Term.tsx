import { type FocusEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { BookLink, type BookPage } from "./BookLink";
import styles from "./Term.module.css";

/** What a figure means, with a link that says more. */
export type Explanation = {
  about: ReactNode;
  /** The heading of the glossary that says more, such as `effective-sample-size`. */
  entry?: string;
  /** The page of the book that says more, where the glossary has no entry. */
  book?: BookPage;
};

type TermProps = Explanation & { children: ReactNode };

/** How long the explanation stays after the pointer left the term, so that its link can be reached. */
const STAYS_MS = 250;

/** A term with an explanation, shown when it is pointed at or focused. */
export function Term({ children, about, entry, book }: TermProps) {
  const page: BookPage | undefined = entry ? `glossary.html#${entry}` : book;
  const id = useId();
  const word = useRef<HTMLButtonElement>(null);
  const told = useRef<HTMLSpanElement>(null);
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(leaving.current), []);
  const show = () => {
    clearTimeout(leaving.current);
    if (!word.current || !told.current || told.current.matches(":popover-open")) return;
    told.current.showPopover();
    const [at, box] = [word.current.getBoundingClientRect(), told.current.getBoundingClientRect()];
    const page = document.documentElement;
    // Below the word, or above it where there is no room.
    const below = at.bottom + box.height <= page.clientHeight;
    told.current.style.insetBlockStart = `${below ? at.bottom : Math.max(0, at.top - box.height)}px`;
    told.current.style.insetInlineStart = `${Math.max(0, Math.min(at.left, page.clientWidth - box.width))}px`;
  };
  const hide = () => {
    clearTimeout(leaving.current);
    if (told.current?.matches(":popover-open")) told.current.hidePopover();
  };
  const hideSoon = () => {
    clearTimeout(leaving.current);
    if (!page) return hide();
    leaving.current = setTimeout(hide, STAYS_MS);
  };
  // The link in the explanation takes the focus from the term; the explanation stays then.
  const onBlur = (event: FocusEvent) => {
    const next = event.relatedTarget;
    if (!(next instanceof Node && (told.current?.contains(next) || word.current?.contains(next)))) hide();
  };
  return (
    <>
      <button
        ref={word}
        type="button"
        className={styles.term}
        aria-describedby={id}
        onMouseEnter={show}
        onMouseLeave={hideSoon}
        onFocus={show}
        onBlur={onBlur}
        onClick={show}
        onKeyDown={(event) => event.key === "Escape" && hide()}
      >
        {children}
      </button>
      <span
        ref={told}
        id={id}
        role="tooltip"
        popover="manual"
        className={styles.told}
        data-linked={page ? true : undefined}
        onMouseEnter={page ? show : undefined}
        onMouseLeave={page ? hideSoon : undefined}
        onBlur={onBlur}
        onKeyDown={(event) => event.key === "Escape" && hide()}
      >
        {about}
        {page && (
          <>
            {" "}
            <BookLink page={page}>{entry ? "Glossary" : "Documentation"}</BookLink>
          </>
        )}
      </span>
    </>
  );
}

/** A name of a figure: a term where there is an explanation, else the name alone. */
export function Explained({ children, about, ...more }: Partial<Explanation> & { children: ReactNode }) {
  return about ? (
    <Term about={about} {...more}>
      {children}
    </Term>
  ) : (
    children
  );
}
