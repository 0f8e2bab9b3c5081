import { Link } from "@tanstack/react-router";
import { may, useProject } from "../api/session";
import { CodeBlock } from "../ui/CodeBlock";
import styles from "./Overview.module.css";

/** The way into an empty project: commands to copy, in the order in which most people need them. */
export function FirstSteps() {
  const project = useProject();
  const params = { project: project.name };
  const here = location.origin;
  return (
    <section className={styles.first}>
      <h2>Get started</h2>
      <p>This project is empty. Start with any of these steps.</p>
      <ol>
        <li>
          <h3>Run a suite</h3>
          <p>A suite is a file with cases and a rubric. These commands create an example and grade it.</p>
          <CodeBlock text={`jurist init\njurist eval suite.yaml --server ${here}`} />
        </li>
        <li>
          <h3>Send traces of your agents</h3>
          <p>Set this variable for an OpenTelemetry exporter:</p>
          <CodeBlock text={`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${here}/v1/traces`} />
          <p>Or upload recorded traces from a file:</p>
          <CodeBlock text={`jurist ingest traces.jsonl --server ${here} --agent support`} />
        </li>
        <li>
          <h3>Create a monitor</h3>
          <p>
            A monitor grades a sample of the finished traces and estimates the score of all traffic.{" "}
            {may(project, "write") && (
              <Link to="/p/$project/new-monitor" params={params}>
                Create a monitor
              </Link>
            )}
          </p>
        </li>
        <li>
          <h3>Collect human annotations</h3>
          <p>
            People grade with the same rubric as judges, so that you can measure judge–human agreement.{" "}
            <Link to="/p/$project/annotate" params={params}>
              Annotation tasks
            </Link>
          </p>
        </li>
        {may(project, "manage") && (
          <li>
            <h3>Give access to people and programs</h3>
            <p>
              <Link to="/p/$project/settings/members" params={params}>
                Invite members
              </Link>{" "}
              and create{" "}
              <Link to="/p/$project/settings/tokens" params={params}>
                API tokens
              </Link>
              .
            </p>
          </li>
        )}
      </ol>
      <p>
        Press <kbd>?</kbd> on any page for an explanation of terms and keyboard shortcuts.
      </p>
    </section>
  );
}
