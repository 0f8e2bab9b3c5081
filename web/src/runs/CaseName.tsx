import styles from "./RunPage.module.css";

/** The name of a case; the parts in brackets, such as row, prompt, model and trial, are shown as tags. */
export function CaseName({ name }: { name: string }) {
  const { base, tags } = splitCaseName(name);
  return (
    <>
      {base}
      {tags.map((tag, at) => (
        <span key={at}>
          {" "}
          <span className={styles.tag}>{tag}</span>
        </span>
      ))}
    </>
  );
}

/** `order status [row 1] [trial 1 of 3]` as its base and what is in the brackets at its end. */
export function splitCaseName(name: string): { base: string; tags: string[] } {
  const end = /(?:\s*\[[^\][]*\])+\s*$/.exec(name);
  if (!end || end.index === 0) return { base: name, tags: [] };
  return {
    base: name.slice(0, end.index),
    tags: [...end[0].matchAll(/\[([^\][]*)\]/g)].map(([, tag = ""]) => tag),
  };
}
