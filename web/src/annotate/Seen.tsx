import type { ReactNode } from "react";
import type { Trace } from "../traces/view/parts";
import { TraceView } from "../traces/view/TraceView";
import styles from "./Seen.module.css";
import type { Item } from "./types";

/** What is graded: a trace, a text, or candidates side by side. */
export function Seen({ item, render }: { item: Item; render: (trace: Trace) => ReactNode }) {
  if (item.candidates) {
    return (
      <div className={styles.candidates}>
        {item.candidates.map((it) => (
          <article key={it.label} className={styles.candidate}>
            <h2>{it.label}</h2>
            {it.trace ? (
              <div className={styles.inner}>
                <TraceView trace={it.trace} onStepChange={() => {}} />
              </div>
            ) : (
              <p dir="auto" data-text>
                {it.text}
              </p>
            )}
          </article>
        ))}
      </div>
    );
  }
  if (item.trace) return render(item.trace);
  return (
    <p className={styles.text} dir="auto" data-text data-part="response">
      {item.text}
    </p>
  );
}
