import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { may, sessionQuery, useProject } from "../api/session";
import { BookLink, type BookPage } from "../ui/BookLink";
import { CodeBlock } from "../ui/CodeBlock";
import styles from "./Overview.module.css";

/** The way into an empty project: commands to copy, in the order in which most people need them. */
export function FirstSteps() {
  const project = useProject();
  const session = useQuery(sessionQuery);
  const params = { project: project.name };
  const here = location.origin;
  return (
    <section className={styles.first}>
      <h2>Get started</h2>
      <p>
        This project is empty. The <BookLink page="quickstart.html">quickstart</BookLink> takes ten minutes
        and needs no API key. Or start with any of these steps.
      </p>
      <ol>
        <FirstStep title="Run a suite" book="tutorials/gate-an-agent.html" about="Gate an agent in CI">
          <p>A suite is a file with cases and a rubric. These commands create an example and grade it.</p>
          <CodeBlock text={`jurist init\njurist eval suite.yaml --server ${here}`} />
        </FirstStep>
        <FirstStep
          title="Send traces of your agents"
          book="how-to/opentelemetry.html"
          about="OpenTelemetry from common SDKs"
        >
          <p>Set this variable for an OpenTelemetry exporter:</p>
          <CodeBlock text={`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${here}/v1/traces`} />
          <p>Or upload recorded traces from a file:</p>
          <CodeBlock text={`jurist ingest traces.jsonl --server ${here} --agent support`} />
        </FirstStep>
        <FirstStep
          title="Create a monitor"
          book="tutorials/monitor-production.html"
          about="Monitor production within a budget"
        >
          <p>
            A monitor grades a sample of the finished traces and estimates the score of all traffic.{" "}
            {may(project, "write") && (
              <Link to="/p/$project/new-monitor" params={params}>
                Create a monitor
              </Link>
            )}
          </p>
        </FirstStep>
        <FirstStep
          title="Collect human annotations"
          book="tutorials/annotation-study.html"
          about="Run an annotation study"
        >
          <p>
            People grade with the same rubric as judges, so that you can measure judge–human agreement.{" "}
            <Link to="/p/$project/annotate" params={params}>
              Annotation tasks
            </Link>
          </p>
        </FirstStep>
        {may(project, "manage") && (
          <FirstStep
            title="Give access to people and programs"
            book="server.html#accounts-roles-and-tokens"
            about="Accounts, roles and tokens"
          >
            {session.data?.account ? (
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
            ) : (
              <p>
                This server runs without accounts: only people and programs on the same machine can use it. To
                give access to others, start it with <code>jurist serve --auth</code>.
              </p>
            )}
          </FirstStep>
        )}
      </ol>
      <p>
        Press <kbd>?</kbd> on any page for an explanation of terms and keyboard shortcuts. All documentation
        is on this server: <BookLink page="index.html">open it</BookLink>.
      </p>
    </section>
  );
}

type FirstStepProps = {
  title: string;
  book: BookPage;
  /** What the page of the book is called. */
  about: string;
  children: ReactNode;
};

/** One step: what to do, and the page of the book that explains it. */
function FirstStep({ title, book, about, children }: FirstStepProps) {
  return (
    <li>
      <h3>{title}</h3>
      {children}
      <p className={styles.read}>
        Read: <BookLink page={book}>{about}</BookLink>
      </p>
    </li>
  );
}
