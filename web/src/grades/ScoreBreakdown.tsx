import type { Canonical } from "../rubrics/canonical";
import { Badge } from "../ui/Badge";
import { CodeText } from "../ui/CodeText";
import styles from "./TraceGrades.module.css";
import { againstMark, gatesOf, type Said, sumOf, wayOf } from "./weightedTotal";

type Gate = { gate: string; criterion?: string | null };

type UndecidedGate = Gate & { reason: string };

type ScoreBreakdownProps = {
  rubric: Canonical;
  verdict: { status: string; score?: number | null };
  saidOf: (criterion: string) => Said[];
};

/** How the score was computed, and its relation to the pass mark. */
export function ScoreBreakdown({ rubric, verdict, saidOf }: ScoreBreakdownProps) {
  const sum = sumOf(rubric, saidOf, verdict);
  return (
    <p className={styles.total} role="group" aria-label="How the score is computed">
      {sum ? <span className={styles.sum}>Weight × score: {sum}.</span> : wayOf(rubric)}{" "}
      {againstMark(rubric, verdict)}
    </p>
  );
}

type FailedGatesProps = {
  failed: Gate[] | undefined;
  undecided: UndecidedGate[] | undefined;
};

/** Gates that failed or could not be decided. */
export function FailedGates({ failed = [], undecided = [] }: FailedGatesProps) {
  const name = (gate: Gate) => [gate.gate.replaceAll("_", " "), gate.criterion].filter(Boolean).join(" · ");
  return (
    <>
      {0 < failed.length && (
        <p className={styles.gates}>
          Failed gates (the verdict is fail at any score):{" "}
          {failed.map((gate, at) => (
            <Badge key={at} tone="fail">
              {name(gate)}
            </Badge>
          ))}
        </p>
      )}
      {undecided.map((gate, at) => (
        <p key={at} className={styles.gates}>
          Undecided gate (no verdict without it): <Badge tone="error">{name(gate)}</Badge>{" "}
          <CodeText text={gate.reason} />
        </p>
      ))}
    </>
  );
}

/** The weight of a criterion and its gates. */
export function CriterionWeight({ criterion }: { criterion: Canonical | undefined }) {
  if (!criterion) return null;
  const { weight } = criterion;
  return (
    <span className={styles.weight}>
      weight {typeof weight === "number" ? weight : 1}
      {gatesOf(criterion).map((it) => (
        <Badge key={it}>{it}</Badge>
      ))}
    </span>
  );
}
