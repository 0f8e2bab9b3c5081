import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { BookLink } from "./BookLink";
import { Dialog } from "./Dialog";
import { GLOSSARY } from "./glossary";
import styles from "./KeyHelp.module.css";
import { KeyName } from "./KeyName";

/** A keyboard shortcut, for the help that `?` opens. */
export type Key = { keys: string[]; does: string };
export type KeyGroup = { title: string; keys: Key[] };

type Register = (group: KeyGroup) => () => void;
const Context = createContext<{ register: Register; open: () => void }>({
  register: () => () => {},
  open: () => {},
});

/** Adds shortcuts to the help while the component is mounted. Pass a constant. */
export function useKeyHelp(group: KeyGroup | undefined) {
  const { register } = useContext(Context);
  useEffect(() => group && register(group), [register, group]);
}

export const useOpenKeyHelp = () => useContext(Context).open;

/** Whether keys typed there are text, not shortcuts. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    !/^(checkbox|radio|button|range)$/.test((target as HTMLInputElement).type)
  );
}

export function KeyHelp({ children }: { children: ReactNode }) {
  const [groups, setGroups] = useState<KeyGroup[]>([]);
  const [open, setOpen] = useState(false);
  const value = useMemo(
    () => ({
      register: (group: KeyGroup) => {
        setGroups((it) => [...it, group]);
        return () => setGroups((it) => it.filter((other) => other !== group));
      },
      open: () => setOpen(true),
    }),
    [],
  );
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "?" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  const all = [...groups, EVERYWHERE];
  return (
    <Context value={value}>
      {children}
      {open && (
        <Dialog title="Help" onClose={() => setOpen(false)} wide>
          <div className={styles.groups}>
            {all.map((group) => (
              <section key={group.title}>
                <h3>{group.title}</h3>
                <dl className={styles.keys}>
                  {group.keys.map((it) => (
                    <div key={it.does}>
                      <dt>
                        {it.keys.map((key) => (
                          <KeyName key={key} name={key} />
                        ))}
                      </dt>
                      <dd>{it.does}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
          <section className={styles.terms}>
            <h3>Terms</h3>
            <dl>
              {GLOSSARY.map(({ term, meaning, entry }) => (
                <div key={term}>
                  <dt>{entry ? <BookLink page={`glossary.html#${entry}`}>{term}</BookLink> : term}</dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
            <p>
              <BookLink page="glossary.html">All terms</BookLink> ·{" "}
              <BookLink page="web.html">What the pages are for</BookLink> ·{" "}
              <BookLink page="index.html">Documentation</BookLink>
            </p>
          </section>
        </Dialog>
      )}
    </Context>
  );
}

const EVERYWHERE: KeyGroup = {
  title: "Everywhere",
  keys: [
    { keys: ["?"], does: "show this help" },
    { keys: ["Esc"], does: "close the dialog or menu" },
  ],
};
