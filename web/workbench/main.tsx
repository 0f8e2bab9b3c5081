// Components fed by fixtures, without a server: `npm run workbench`. The task is in the address, as in #rubric.
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import "../src/style/fonts.css";
import "../src/style/tokens.css";
import "../src/style/base.css";
import { AnnotationForm } from "../src/annotate/AnnotationForm";
import type { Draft } from "../src/annotate/types";
import { KeyHelp } from "../src/ui/KeyHelp";
import { tasks } from "./fixtures";
import styles from "./workbench.module.css";

function Bench() {
  const [draft, setDraft] = useState<Draft>({});
  const [submitted, setSubmitted] = useState<Draft>();
  const task = tasks[location.hash.slice(1)];
  if (!task) {
    return (
      <ul>
        {Object.keys(tasks).map((it) => (
          <li key={it}>
            <a href={`#${it}`} onClick={() => setTimeout(() => location.reload())}>
              {it}
            </a>
          </li>
        ))}
      </ul>
    );
  }
  return (
    <main className={styles.bench}>
      <AnnotationForm
        title={task.title}
        item={task.item}
        schemes={task.schemes}
        draft={draft}
        onDraftChange={setDraft}
        onSubmit={() => setSubmitted(draft)}
        onBack={() => {}}
        progress={{ done: 12, left: 28 }}
        saved={{ kind: "saved" }}
      />
      {submitted && <output data-submitted={JSON.stringify(submitted)} />}
    </main>
  );
}

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <KeyHelp>
        <Bench />
      </KeyHelp>
    </StrictMode>,
  );
}
