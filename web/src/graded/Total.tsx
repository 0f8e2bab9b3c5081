import type { Canonical } from "../rubrics/canonical";
import { Badge } from "../ui/Badge";
import styles from "./Graded.module.css";
import { againstMark, failedOf, gatesOf, type Said, sumOf, wayOf } from "./sum";

type TotalProps = {
  rubric: Canonical;
  verdict: { status: string; score?: number | null };
  saidOf: (criterion: string) => Said[];
  /** What failed whatever the total is said elsewhere. */
  gatesTold?: boolean;
};

/** How the total came about, and why it passes or fails. */
export function Total({ rubric, verdict, saidOf, gatesTold }: TotalProps) {
  const sum = sumOf(rubric, saidOf, verdict);
  const failed = verdict.status === "fail" && !gatesTold ? failedOf(rubric, saidOf) : [];
  return (
    <div className={styles.total} role="group" aria-label="How the total comes about">
      <p>
        {sum ? <span className={styles.sum}>Weight × score: {sum}.</span> : wayOf(rubric)}{" "}
        {againstMark(rubric, verdict)}
      </p>
      {failed.map((it) => (
        <p key={it} className={styles.failed}>
          {it}
        </p>
      ))}
    </div>
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
