import { ScaledScore } from "../chart/ScaledScore";
import { useScoreScale } from "./scales";

type VersionScoreProps = {
  /** The rubric version that the score is from. */
  version: string | null | undefined;
  /** From 0 to 1; null if there is none, because a failure is not a score. */
  score: number | null | undefined;
  /** In bold. */
  isMain?: boolean;
};

/** The score of one trace on the scale of its rubric version, where it has one, and from 0 to 1 next to it. */
export function VersionScore({ version, score, isMain = false }: VersionScoreProps) {
  const scale = useScoreScale(version);
  return <ScaledScore mean={score} scale={scale} isMinor={!isMain} digits={2} />;
}
