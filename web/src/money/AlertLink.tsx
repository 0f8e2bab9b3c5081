import { Link } from "@tanstack/react-router";
import { useProject } from "../api/session";
import type { Alert } from "./queries";

/** The monitor, agent and criterion that an alert is about, with the trend that shows it. */
export function AlertLink({ alert }: { alert: Alert }) {
  const project = useProject();
  if (!alert.monitor) return null;
  const parts = [alert.monitor, alert.agent, alert.criterion].filter((part) => part != null);
  return (
    <Link
      to="/p/$project/monitors/$monitor"
      params={{ project: project.name, monitor: alert.monitor }}
      search={{
        view: "trend",
        agent: alert.agent ?? undefined,
        criterion: alert.criterion ?? undefined,
      }}
    >
      {parts.join(" / ")}
    </Link>
  );
}
