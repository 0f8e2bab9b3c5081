import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { formatCap } from "../money/format";
import { spendQuery } from "../money/queries";
import { capitalize, day, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { projectsQuery } from "./queries";
import { SettingsLayout } from "./SettingsLayout";
import styles from "./SettingsLayout.module.css";

const EXPORTS = [
  { what: "grades", about: "one row per grade: score of each grader for each criterion" },
  { what: "verdicts", about: "one row per verdict: overall score and status of each trace" },
  { what: "traces", about: "one row per trace" },
];

/** What identifies the project, and the settings of other pages. */
function ProjectFacts({ project }: { project: Schemas["ProjectView"] | undefined }) {
  const here = useProject();
  const spend = useQuery(spendQuery(here.id));
  if (!project) return null;
  const cap = spend.data?.cap;
  return (
    <dl className={styles.facts}>
      <div>
        <dt>Name</dt>
        <dd>{project.name}</dd>
      </div>
      <div>
        <dt>Id</dt>
        <dd>
          <code>{project.id}</code>
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>{day(project.created)}</dd>
      </div>
      <div>
        <dt>Monthly cap</dt>
        <dd>
          {cap ? formatCap(cap) : "not set"}{" "}
          <Link to="/p/$project/budget" params={{ project: here.name }}>
            Budget
          </Link>
        </dd>
      </div>
    </dl>
  );
}

/** The project, retention and export. */
export function DataPage() {
  const project = useProject();
  const projects = useQuery(projectsQuery(project.id));
  const address = (what: string, format: string) =>
    `/api/v1/export?${new URLSearchParams({ project: project.id, what, format })}`;
  return (
    <SettingsLayout>
      <h2>Project</h2>
      <Loaded query={projects} what="the project">
        {(all) => <ProjectFacts project={all.find((it) => it.id === project.id)} />}
      </Loaded>
      <h2>Retention</h2>
      <Loaded query={projects} what="retention">
        {(all) => {
          const days = all.find((it) => it.id === project.id)?.retention_days;
          return (
            <p>
              {days == null
                ? "The content of traces is kept until it is erased."
                : `The content of traces is erased ${plural(days, "day")} after they finish; scores are kept.`}{" "}
              The flag <code>--retention</code> of <code>jurist serve</code> sets it.
            </p>
          );
        }}
      </Loaded>
      <h2>Export</h2>
      <ul className={styles.exports}>
        {EXPORTS.map(({ what, about }) => (
          <li key={what}>
            <b>{capitalize(what)}</b>
            <span className={styles.muted}>{about}</span>
            <a href={address(what, "csv")} download={`${what}.csv`}>
              CSV<span className="visually-hidden"> of {what}</span>
            </a>
            <a href={address(what, "jsonl")} download={`${what}.jsonl`}>
              JSON Lines<span className="visually-hidden"> of {what}</span>
            </a>
            {what === "traces" && (
              <a href={`${address(what, "jsonl")}&contents=true`} download="traces-with-steps.jsonl">
                JSON Lines with steps
              </a>
            )}
          </li>
        ))}
      </ul>
    </SettingsLayout>
  );
}
