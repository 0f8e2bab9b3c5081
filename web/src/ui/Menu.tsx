import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import styles from "./Menu.module.css";

type MenuProps = {
  label: string;
  button: ReactNode;
  children: (close: () => void) => ReactNode;
  align?: "end";
  /** Opens above its button, for bars at the lower edge. */
  isUpward?: boolean;
  /** As other buttons look; a menu in the bar of the page is quiet. */
  look?: "plain";
};

/** A button that opens a short list; arrows move in it, Escape closes it and returns the focus. */
export function Menu({ label, button, children, align, isUpward, look }: MenuProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  const entries = () => [
    ...(root.current?.querySelectorAll<HTMLElement>("[role=menuitem],[role=menuitemradio]") ?? []),
  ];
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the entries are looked up once it is open.
  useEffect(() => {
    if (!open) return;
    entries()[0]?.focus();
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    if (event.key === "Escape") close();
    if (event.key === "Tab") setOpen(false);
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the list inside arrive here.
    <div ref={root} className={styles.root} onKeyDown={onKeyDown}>
      <button
        type="button"
        className={styles.button}
        data-look={look}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen((it) => !it)}
      >
        {button}
      </button>
      {open && (
        <div
          id={id}
          role="menu"
          aria-label={label}
          className={styles.list}
          data-align={align}
          data-upward={isUpward || undefined}
        >
          {children(close)}
        </div>
      )}
    </div>
  );
}

type MenuItemProps = { close: () => void; onChoose: () => void; children: ReactNode };

/** An action in a menu; choosing it closes the menu. */
export function MenuItem({ close, onChoose, children }: MenuItemProps) {
  return (
    <button
      type="button"
      role="menuitem"
      onClick={() => {
        close();
        onChoose();
      }}
    >
      {children}
    </button>
  );
}
