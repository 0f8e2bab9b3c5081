import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef } from "react";
import styles from "./Tabs.module.css";

export type Tab<Name extends string> = { name: Name; label: ReactNode };
type TabsProps<Name extends string> = {
  label: string;
  tabs: Tab<Name>[];
  selected: Name;
  onSelect: (name: Name) => void;
  children: ReactNode;
};

/** Views of one object, of which one is shown; arrows move between them. */
export function Tabs<Name extends string>({ label, tabs, selected, onSelect, children }: TabsProps<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // Counts that arrive later make labels longer.
  const labels = tabs.map((it) => (typeof it.label === "string" ? it.label : "")).join("\n");
  // On a narrow screen the selected tab may be beyond the edge. scrollIntoView would scroll the page as well.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the labels decide where the tab is.
  useLayoutEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>(`[data-name="${selected}"]`);
    if (!list.current || !tab) return;
    const [row, box] = [list.current.getBoundingClientRect(), tab.getBoundingClientRect()];
    if (box.right > row.right) list.current.scrollLeft += box.right - row.right;
    else if (box.left < row.left) list.current.scrollLeft -= row.left - box.left;
  }, [selected, labels]);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex((it) => it.name === selected);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const tab = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (!tab) return;
    event.preventDefault();
    onSelect(tab.name);
    list.current?.querySelector<HTMLElement>(`[data-name="${tab.name}"]`)?.focus();
  };
  return (
    <div className={styles.tabs}>
      <div ref={list} role="tablist" aria-label={label} className={styles.list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`${id}-${tab.name}`}
            data-name={tab.name}
            aria-selected={tab.name === selected}
            aria-controls={`${id}-panel`}
            tabIndex={tab.name === selected ? 0 : -1}
            className={styles.tab}
            onClick={() => onSelect(tab.name)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`} className={styles.panel}>
        {children}
      </div>
    </div>
  );
}
