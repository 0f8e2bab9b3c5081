import styles from "./CommentField.module.css";

type CommentFieldProps = {
  /** What it is about. */
  on: string;
  /** Undefined until the annotator starts a comment. */
  comment: string | undefined;
  onChange: (comment: string | undefined) => void;
};

/** A comment on an answer; an empty one is removed. */
export function CommentField({ on, comment, onChange }: CommentFieldProps) {
  if (comment === undefined) return null;
  return (
    <textarea
      className={styles.area}
      rows={2}
      dir="auto"
      aria-label={`Comment on ${on}`}
      placeholder="Reason"
      value={comment}
      onChange={(it) => onChange(it.target.value)}
      onBlur={() => comment === "" && onChange(undefined)}
    />
  );
}
