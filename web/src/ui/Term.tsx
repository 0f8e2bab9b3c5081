import { type ReactNode, useId, useRef } from "react";
import styles from "./Term.module.css";

/** A term with an explanation, shown when it is pointed at or focused. */
export function Term({ children, about }: { children: ReactNode; about: ReactNode }) {
  const id = useId();
  const word = useRef<HTMLButtonElement>(null);
  const told = useRef<HTMLSpanElement>(null);
  const show = () => {
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
    if (told.current?.matches(":popover-open")) told.current.hidePopover();
  };
  return (
    <>
      <button
        ref={word}
        type="button"
        className={styles.term}
        aria-describedby={id}
        onMouseEnter={show}
        onMouseLeave={hide}
        onFocus={show}
        onBlur={hide}
        onClick={show}
        onKeyDown={(event) => event.key === "Escape" && hide()}
      >
        {children}
      </button>
      <span ref={told} id={id} role="tooltip" popover="manual" className={styles.told}>
        {about}
      </span>
    </>
  );
}
