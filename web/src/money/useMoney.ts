import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { money } from "../ui/format";
import { formatMoney } from "./format";
import { spendQuery } from "./queries";

/** Formats dollars in the currency of the project's cap, so that all pages use one currency. */
export function useMoney(): (dollars: number | null | undefined) => string {
  const project = useProject();
  const { data, isPending } = useQuery({
    ...spendQuery(project.id),
    refetchInterval: false,
    staleTime: 60_000,
  });
  const cap = data?.cap;
  return (dollars) => {
    if (dollars == null) return "–";
    // A placeholder while the currency is unknown.
    if (isPending) return "…";
    return cap && cap.currency !== "USD" ? formatMoney(dollars, cap) : money(dollars);
  };
}
