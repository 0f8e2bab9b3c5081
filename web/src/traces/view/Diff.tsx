import { CodeTokens, languageOf, useTokens } from "./Code";
import styles from "./Diff.module.css";
import type { FileChange } from "./traceParts";

/** The changes of one file, line by line. */
export function Diff({ file }: { file: FileChange }) {
  const path = file.path ?? "";
  return (
    <figure className={styles.diff}>
      <figcaption className={styles.head}>
        <code className={styles.path} data-text>
          {file.old_path && file.old_path !== path ? `${file.old_path} → ${path}` : path}
        </code>
        {file.kind && file.kind !== "modified" && <span>{file.kind}</span>}
        <span className={styles.added}>+{file.added ?? 0}</span>
        <span className={styles.removed}>−{file.removed ?? 0}</span>
      </figcaption>
      {file.hunks?.map((hunk, at) => (
        <DiffHunk
          key={at}
          lines={hunk.lines ?? []}
          old={hunk.old_start ?? 1}
          now={hunk.new_start ?? 1}
          path={path}
        />
      ))}
    </figure>
  );
}

/** The edit of a tool call as a diff. */
export function EditDiff({ path, before, after }: { path: string; before: string; after: string }) {
  const lines = [...before.split("\n").map((it) => `-${it}`), ...after.split("\n").map((it) => `+${it}`)];
  const [n_removed, n_added] = [before.split("\n").length, after.split("\n").length];
  return (
    <Diff
      file={{ path, added: n_added, removed: n_removed, hunks: [{ lines, old_start: 0, new_start: 0 }] }}
    />
  );
}

type DiffHunkProps = { lines: string[]; old: number; now: number; path: string };

function DiffHunk({ lines, old, now, path }: DiffHunkProps) {
  const texts = lines.map((it) => it.slice(1));
  const tokens = useTokens(texts.join("\n"), languageOf(path));
  let [before, after] = [old, now];
  return (
    <div className={styles.hunk}>
      {lines.map((line, at) => {
        const sign = line[0] === "+" || line[0] === "-" ? line[0] : " ";
        const [left, right] = [sign === "+" ? "" : before++, sign === "-" ? "" : after++];
        return (
          <div key={at} className={styles.line} data-sign={sign}>
            {old > 0 && (
              <>
                <span className={styles.number}>{left}</span>
                <span className={styles.number}>{right}</span>
              </>
            )}
            <span className={styles.sign}>{sign === "-" ? "−" : sign}</span>
            <code className={styles.text} data-text>
              {tokens?.[at] ? <CodeTokens line={tokens[at]} /> : texts[at]}
            </code>
          </div>
        );
      })}
    </div>
  );
}
