import { useEffect, useRef, useState } from "react";
import { DraftSaver, forget, leftover, type Saved } from "./draftSaver";
import { saveDraft } from "./queries";
import type { Draft, Work } from "./types";

/** Identifies this tab among those of the browser. */
const TAB = Math.random().toString(36).slice(2);

/** The draft of an assignment, saved while it changes. */
export function useDraft(project: string, { assignment, draft: first, revision }: Work) {
  const [draft, setDraft] = useState(first);
  const [saved, setSaved] = useState<Saved>({ kind: "saved" });
  const [isRestored, setRestored] = useState(false);
  const keeping = useRef<DraftSaver>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the server had is where it begins; from then on it is ours.
  useEffect(() => {
    const it = new DraftSaver(assignment, first, revision, {
      save: (saving, isLeaving) => saveDraft(project, assignment, saving, isLeaving),
      onSaved: setSaved,
      storage: localStorage,
      tab: TAB,
    });
    keeping.current = it;
    const found = leftover(localStorage, assignment, { draft: first, revision });
    if (found) {
      setDraft(found.draft);
      it.change(found.draft);
      if (found.isOlder) it.meet({ draft: first, revision });
      else setRestored(true);
      if (!found.key.endsWith(TAB)) forget(localStorage, found.key);
    }
    const onHidden = () => document.visibilityState === "hidden" && it.flush(true);
    const onOnline = () => it.flush();
    document.addEventListener("visibilitychange", onHidden);
    addEventListener("pagehide", onHidden);
    addEventListener("online", onOnline);
    return () => {
      it.flush(true);
      it.close();
      document.removeEventListener("visibilitychange", onHidden);
      removeEventListener("pagehide", onHidden);
      removeEventListener("online", onOnline);
    };
  }, [project, assignment]);
  return {
    draft,
    saved,
    /** A draft was restored that the server never got. */
    isRestored,
    keeping,
    change: (to: Draft) => {
      setDraft(to);
      keeping.current?.change(to);
    },
    keepMine: () => saved.kind === "twofold" && keeping.current?.keepMine(saved.theirs),
    takeTheirs: () => {
      if (saved.kind !== "twofold") return;
      setDraft(saved.theirs.draft);
      keeping.current?.takeTheirs(saved.theirs);
    },
  };
}
