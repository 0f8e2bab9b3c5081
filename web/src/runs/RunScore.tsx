import type { Schemas } from "../api/client";
import { ScaledScore } from "../chart/ScaledScore";

/** The mean score of a run on the scale that its rubrics share, if there is one, and from 0 to 1 next to it. */
export function RunScore({ run: { score, scale } }: { run: Pick<Schemas["RunLine"], "score" | "scale"> }) {
  return <ScaledScore mean={score} scale={scale} isMinor digits={2} />;
}
