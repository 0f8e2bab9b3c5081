import { Badge } from "../ui/Badge";
import styles from "./TraceGrades.module.css";

type FlagText = { label: string; explanation: string };

const FLAGS: Record<string, FlagText> = {
  verdict_in_candidate: {
    label: "verdict in candidate",
    explanation:
      "The candidate contains text that looks like a verdict. It was not used as the judge's answer.",
  },
  no_verifiable_evidence: {
    label: "no verifiable evidence",
    explanation: "Too few of the judge's quotes were found in the candidate, so this answer counts as 0.",
  },
};

/** Warnings about a grade. */
export function GradeFlags({ flags }: { flags: string[] | undefined }) {
  return flags?.map((flag) => {
    const { label, explanation } = FLAGS[flag] ?? { label: flag.replaceAll("_", " "), explanation: "" };
    return (
      <p key={flag} className={styles.soft}>
        <Badge tone="error">{label}</Badge> {explanation}
      </p>
    );
  });
}
