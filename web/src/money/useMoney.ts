import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { money } from "../ui/format";
import { formatMoney } from "./format";
import { spendQuery } from "./queries";

/** Says dollars in the currency that the project's cap is in, so that all of its pages speak of one. */
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
    // Better nothing for a moment than an amount in another currency.
    if (isPending) return "…";
    return cap && cap.currency !== "USD" ? formatMoney(dollars, cap) : money(dollars);
  };
}
