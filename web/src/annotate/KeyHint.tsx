type KeyHintProps = {
  /** The key; the control itself says it in `aria-keyshortcuts`. */
  of: string | number;
  /** Keeps its room without being seen, while keys belong to another question. */
  isIdle?: boolean;
};

/** A key beside a control, which is no part of the control's name. */
export function KeyHint({ of, isIdle }: KeyHintProps) {
  return (
    <span aria-hidden="true">
      <kbd data-idle={isIdle || undefined}>{of}</kbd>
    </span>
  );
}
