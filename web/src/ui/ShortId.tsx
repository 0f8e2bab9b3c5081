import styles from "./ShortId.module.css";

/** The end of an id, by which commands find it as well; the tooltip has all of it. */
export function ShortId({ id }: { id: string }) {
  return (
    <code title={id} className={styles.id}>
      …{shortIdOf(id)}
    </code>
  );
}

/** Ids begin with the time, so that those of one day differ only at their ends. */
export const shortIdOf = (id: string): string => id.slice(-6);
