import styles from "./CodeBlock.module.css";
import { CopyButton } from "./CopyButton";

type CodeBlockProps = {
  text: string;
  /** Long lines are wrapped instead of scrolled. */
  isWrapped?: boolean;
};

/** Commands to run in a terminal or other code, with a button that copies it. */
export function CodeBlock({ text, isWrapped }: CodeBlockProps) {
  return (
    <div className={styles.block} data-wrapped={isWrapped || undefined}>
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} look="plain" />
    </div>
  );
}
