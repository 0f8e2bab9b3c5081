import { useMemo } from "react";
import { useProject } from "../api/session";
import { buttonClass } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { count } from "../ui/format";
import styles from "./TraceJson.module.css";
import { Code } from "./view/Code";
import type { Trace } from "./view/traceParts";

/** Letters that are shown; a longer trace is downloaded. */
const LONGEST = 300_000;

/** The stored trace as JSON, to read, copy or download. */
export function TraceJson({ id, trace }: { id: string; trace: Trace }) {
  const project = useProject();
  const text = useMemo(() => JSON.stringify(trace, null, 2), [trace]);
  const address = `/api/v1/traces/${encodeURIComponent(id)}/content?${new URLSearchParams({ project: project.id })}`;
  const isLong = text.length > LONGEST;
  return (
    <section className={styles.json} aria-label="Raw JSON">
      <div className={styles.tools}>
        <CopyButton text={text} look="plain" />
        <a className={buttonClass} data-look="plain" href={address} download={`${id}.json`}>
          Download
        </a>
        {isLong && (
          <span className={styles.note}>
            The first {count(LONGEST)} of {count(text.length)} characters are shown. Download the file for the
            rest.
          </span>
        )}
      </div>
      <div className={styles.text} tabIndex={0} role="group" aria-label="JSON of the trace">
        <Code text={isLong ? text.slice(0, LONGEST) : text} language="json" />
      </div>
    </section>
  );
}
