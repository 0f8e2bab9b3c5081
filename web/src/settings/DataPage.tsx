import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { projectsQuery } from "./queries";
import { SettingsLayout } from "./SettingsLayout";
import styles from "./SettingsLayout.module.css";

const EXPORTS = [
  { what: "grades", about: "each answer of each grader, in numbers" },
  { what: "verdicts", about: "what the whole rubric said of each trace" },
  { what: "traces", about: "what is known of each without its steps" },
];

/** How long things are kept, and how to take them along. */
export function DataPage() {
  const project = useProject();
  const projects = useQuery(projectsQuery(project.id));
  const address = (what: string, format: string) =>
    `/api/v1/export?${new URLSearchParams({ project: project.id, what, format })}`;
  return (
    <SettingsLayout>
      <h2>Retention</h2>
      <Loaded query={projects} what="how long things are kept">
        {(all) => {
          const days = all.find((it) => it.id === project.id)?.retention_days;
          return (
            <p>
              {days == null
                ? "What traces say is kept until somebody erases it."
                : `What traces say is erased ${plural(days, "day")} after they finished; scores stay.`}{" "}
              Whoever starts the server decides, by <code>--retention</code>.
            </p>
          );
        }}
      </Loaded>
      <h2>Export</h2>
      <ul className={styles.exports}>
        {EXPORTS.map(({ what, about }) => (
          <li key={what}>
            <b>{what}</b>
            <a href={address(what, "csv")} download={`${what}.csv`}>
              CSV<span className="visually-hidden"> of {what}</span>
            </a>
            <a href={address(what, "jsonl")} download={`${what}.jsonl`}>
              JSON Lines<span className="visually-hidden"> of {what}</span>
            </a>
            <span className={styles.muted}>{about}</span>
          </li>
        ))}
      </ul>
    </SettingsLayout>
  );
}
