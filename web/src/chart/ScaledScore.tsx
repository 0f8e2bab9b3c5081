import { score as score2 } from "../ui/format";
import { nativeRange, nativeScore, type Range, range3, type ScaleEnds, score3 } from "./figures";
import styles from "./ScaledScore.module.css";

type ScaledScoreProps = {
  /** From 0 to 1; null if there is none, because a failure is not a score. */
  mean: number | null | undefined;
  interval?: Range | null;
  /** The scale of the rubric, where it has one. */
  scale: ScaleEnds | null | undefined;
  /** Not in bold, beside a figure that is more important. */
  isMinor?: boolean;
  /** Digits of the score from 0 to 1: two for one trace or case, three for an estimate. */
  digits?: 2 | 3;
};

/** A score and its interval on the scale of the rubric, where it has one, and from 0 to 1 beside it. */
export function ScaledScore({ mean, interval, scale, isMinor, digits = 3 }: ScaledScoreProps) {
  if (mean == null) return "–";
  const Main = isMinor ? "span" : "b";
  return (
    <>
      {scale && <Main>{nativeScore(mean, scale)}</Main>}
      {scale && interval && ` ${nativeRange(interval, scale)}`}
      {scale && " "}
      <Main className={scale ? styles.soft : undefined}>{digits === 2 ? score2(mean) : score3(mean)}</Main>
      {interval && " "}
      {interval && <span className={scale || isMinor ? styles.soft : undefined}>{range3(interval)}</span>}
    </>
  );
}
