import styles from "./CodeBlock.module.css";
import { CopyButton } from "./CopyButton";

/** Commands to run in a terminal, with a button that copies them. */
export function CodeBlock({ text }: { text: string }) {
  return (
    <div className={styles.block}>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} look="plain" />
    </div>
  );
}
