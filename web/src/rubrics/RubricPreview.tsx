import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { RubricGrid } from "../annotate/RubricGrid";
import type { AnswerOf } from "../annotate/types";
import { useProject } from "../api/session";
import type { Checked } from "../editor/queries";
import { JudgeMessages } from "../grades/JudgeMessages";
import { newestTracesQuery } from "../traces/queries";
import { titleOf } from "../traces/TracesPage";
import { Code } from "../traces/view/Code";
import { Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { Tabs } from "../ui/Tabs";
import { useDebounced } from "../ui/useDebounced";
import { askedBy, type Canonical, passMarkOf } from "./canonical";
import { judgePromptQuery } from "./queries";
import styles from "./Rubrics.module.css";

type RubricPreviewProps = { name: string; source: string; checked: Checked | undefined };

/** Preview of a rubric while it is written: annotator form and judge prompt. */
export function RubricPreview({ name, source, checked }: RubricPreviewProps) {
  const [view, setView] = useState<"people" | "judges">("people");
  const isWrong = checked?.problems.some((it) => it.severity === "error");
  return (
    <Tabs
      label="Preview of the rubric"
      tabs={[
        { name: "people", label: "Annotator view" },
        { name: "judges", label: "Judge prompt" },
      ]}
      selected={view}
      onSelect={setView}
    >
      {isWrong ? (
        <Notice title="The file has errors">
          <p>The preview appears when the errors are fixed.</p>
        </Notice>
      ) : view === "judges" ? (
        <JudgePrompt source={source} />
      ) : (
        checked?.canonical && (
          <AnnotatorPreview
            key={JSON.stringify(checked.canonical)}
            name={name}
            canonical={checked.canonical}
          />
        )
      )}
    </Tabs>
  );
}

/** The annotator's form to try; nothing is saved. */
export function AnnotatorPreview({ name, canonical }: { name: string; canonical: Canonical }) {
  const { scheme, others } = askedBy(name, canonical);
  const [answer, setAnswer] = useState<AnswerOf<"rubric">>({ kind: "rubric", criteria: {} });
  return (
    <div className={styles.preview}>
      {typeof canonical.description === "string" && (
        <p className={styles.about} dir="auto">
          {canonical.description}
        </p>
      )}
      <p className={styles.soft}>
        Pass mark: {passMarkOf(canonical)}. This is the form that annotators see. Answers that you enter here
        are not saved.
      </p>
      {scheme.criteria.length > 0 && (
        <RubricGrid
          scheme={scheme}
          answer={answer}
          onAnswerChange={setAnswer}
          missing={[]}
          isTried={false}
          selectedQuote={() => undefined}
          onQuoteShow={() => {}}
          isActive={false}
        />
      )}
      {others.length > 0 && (
        <section className={styles.part}>
          <h2>Criteria that annotators do not rate</h2>
          <ul className={styles.others}>
            {others.map((it) => (
              <li key={it.name}>
                <b>{it.name}</b> {it.why}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** The exact prompt of a judge, for a trace or with placeholders. */
export function JudgePrompt({ source: written }: { source: string }) {
  const project = useProject();
  const source = useDebounced(written);
  const [trace, setTrace] = useState("");
  const [at, setAt] = useState(0);
  const traces = useQuery(newestTracesQuery(project.id, 20));
  const prompt = useQuery(judgePromptQuery(project.id, source, trace || undefined));
  return (
    <div className={styles.preview}>
      <Loaded query={prompt} what="the judge prompt">
        {({ prompts: all }) => {
          const asked = all[Math.min(at, all.length - 1)];
          if (!asked) {
            return (
              <Notice title="No judge prompt">
                <p>Checks or people grade all criteria of this rubric.</p>
              </Notice>
            );
          }
          return (
            <>
              <div className={styles.line}>
                {all.length > 1 && (
                  <Select
                    label="Question"
                    value={String(all.indexOf(asked))}
                    options={all.map((it, n) => ({ value: String(n), label: it.criteria.join(", ") }))}
                    onChange={(it) => setAt(Number(it.target.value))}
                  />
                )}
                <Select
                  label="Trace"
                  value={trace}
                  options={[
                    { value: "", label: "placeholders" },
                    ...(traces.data ?? []).map((it) => ({
                      value: it.id,
                      label: titleOf(it) ?? it.id,
                    })),
                  ]}
                  onChange={(it) => setTrace(it.target.value)}
                />
              </div>
              {asked.unasked ? (
                <Notice title="No judge prompt">
                  <p>{asked.unasked}</p>
                </Notice>
              ) : (
                <JudgeMessages all={asked.messages} />
              )}
              {asked.form && (
                <details>
                  <summary>Reply schema (JSON)</summary>
                  <Code text={JSON.stringify(asked.form, null, 2)} language="json" />
                </details>
              )}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}
