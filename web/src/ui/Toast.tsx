import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from "react";
import styles from "./Toast.module.css";

type Told = { id: number; text: string; tone: "plain" | "fail" };
type Tell = (text: string, tone?: Told["tone"]) => void;

const Context = createContext<Tell>(() => {});

/** Shows a confirmation for a few seconds. Errors are shown beside what failed instead. */
export const useToast = (): Tell => useContext(Context);

const SECONDS = 6;

export function Toasts({ children }: { children: ReactNode }) {
  const [all, setAll] = useState<Told[]>([]);
  const next = useRef(0);
  const tell = useCallback<Tell>((text, tone = "plain") => {
    const id = next.current++;
    setAll((it) => [...it.slice(-2), { id, text, tone }]);
    setTimeout(() => setAll((it) => it.filter((told) => told.id !== id)), SECONDS * 1000);
  }, []);
  return (
    <Context value={tell}>
      {children}
      <div role="status" aria-live="polite" className={styles.toasts}>
        {all.map((it) => (
          <div key={it.id} className={styles.toast} data-tone={it.tone}>
            {it.text}
          </div>
        ))}
      </div>
    </Context>
  );
}
