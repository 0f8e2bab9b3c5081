import styles from "./RangeInput.module.css";

type RangeInputProps = {
  min: number;
  max: number;
  step: number;
  /** Absent until somebody answers. */
  value: number | undefined;
  /** Where the handle stands until then; the middle by default. */
  start?: number;
  minLabel?: string;
  maxLabel?: string;
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  onChange: (value: number) => void;
  /** Moves to the question above or below. */
  onMove?: (by: 1 | -1) => void;
};

/** A handle on a line. It is no answer until it is moved, clicked, or confirmed with Space. */
export function RangeInput(props: RangeInputProps) {
  const { min, max, step, value, onChange, onMove } = props;
  const shown = value ?? props.start ?? min + step * Math.round((max - min) / step / 2);
  return (
    <div className={styles.range} data-open={value === undefined || undefined}>
      <span className={styles.end}>{props.minLabel ? `${min} ${props.minLabel}` : min}</span>
      <input
        type="range"
        min={min}
        max={max}
        step={step}
        value={shown}
        aria-label={props.label}
        aria-labelledby={props.labelledBy}
        aria-describedby={props.describedBy}
        aria-valuetext={value === undefined ? `not answered, handle at ${shown}` : String(value)}
        onChange={(it) => onChange(Number(it.target.value))}
        // A click where the handle stands changes nothing, and is an answer.
        onPointerUp={(it) => onChange(Number(it.currentTarget.value))}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined;
          if (by && onMove) onMove(by);
          else if (event.key === " ") onChange(shown);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <span className={styles.end}>{props.maxLabel ? `${max} ${props.maxLabel}` : max}</span>
      <output className={styles.value}>{value ?? "–"}</output>
    </div>
  );
}
