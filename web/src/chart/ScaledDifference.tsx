import type { ReactNode } from "react";
import {
  nativeDifference,
  nativeDifferenceRange,
  type Range,
  type ScaleEnds,
  signed,
  signedRange,
} from "./figures";
import styles from "./ScaledScore.module.css";

type ScaledDifferenceProps = {
  /** Of two scores from 0 to 1. */
  difference: number;
  interval?: Range | null;
  /** The scale that both scores share, where they have one. */
  scale: ScaleEnds | null | undefined;
  /** Shows the figure without its interval; by default in bold. */
  showMain?: (text: string) => ReactNode;
};

/** The difference of two scores on the scale of their rubric, where they share one, and from 0 to 1 beside it. */
export function ScaledDifference({
  difference,
  interval,
  scale,
  showMain = (text) => <b>{text}</b>,
}: ScaledDifferenceProps) {
  const range = interval ? ` ${signedRange(interval)}` : "";
  if (!scale) {
    return (
      <>
        {showMain(signed(difference))}
        {range}
      </>
    );
  }
  return (
    <>
      {showMain(nativeDifference(difference, scale))}
      {interval && ` ${nativeDifferenceRange(interval, scale)}`}{" "}
      <span className={styles.soft}>
        {signed(difference)}
        {range}
      </span>
    </>
  );
}
