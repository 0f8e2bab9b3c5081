import { Badge } from "../ui/Badge";
import { Term } from "../ui/Term";
import { describeState } from "./traceStates";

/** The state of a trace, with an explanation on hover and focus. */
export function StateBadge({ state }: { state: string }) {
  const { label, means, tone } = describeState(state);
  const badge = <Badge tone={tone}>{label}</Badge>;
  return means ? <Term about={means}>{badge}</Term> : badge;
}
