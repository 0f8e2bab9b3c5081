import type { Canonical } from "../rubrics/canonical";
import { Badge } from "../ui/Badge";
import styles from "./Graded.module.css";
import { againstMark, gatesOf, type Said, sumOf, wayOf } from "./sum";

type Gate = { gate: string; criterion?: string | null };

type TotalProps = {
  rubric: Canonical;
  verdict: { status: string; score?: number | null };
  saidOf: (criterion: string) => Said[];
};

/** How the total came about, and where it stands by the pass mark. */
export function Total({ rubric, verdict, saidOf }: TotalProps) {
  const sum = sumOf(rubric, saidOf, verdict);
  return (
    <p className={styles.total} role="group" aria-label="How the total comes about">
      {sum ? <span className={styles.sum}>Weight × score: {sum}.</span> : wayOf(rubric)}{" "}
      {againstMark(rubric, verdict)}
    </p>
  );
}

/** What fails a verdict whatever its total. */
export function Gates({ failed }: { failed: Gate[] | undefined }) {
  if (!failed || failed.length === 0) return null;
  return (
    <p className={styles.gates}>
      Fails whatever the score:{" "}
      {failed.map((it, at) => (
        <Badge key={at} tone="fail">
          {it.gate.replaceAll("_", " ")}
          {it.criterion && ` · ${it.criterion}`}
        </Badge>
      ))}
    </p>
  );
}

/** What a criterion weighs, and whether it fails the verdict by itself. */
export function Weight({ criterion }: { criterion: Canonical | undefined }) {
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
