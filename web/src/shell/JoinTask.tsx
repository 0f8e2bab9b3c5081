import { useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { Navigate, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { type JoiningTask, joinTask, tasksQuery } from "../annotate/queries";
import { type OpenProject, sessionQuery } from "../api/session";
import { Field } from "../ui/Field";
import { Form, FormError, useFields } from "../ui/Form";
import { LoadingNotice, Notice } from "../ui/Notice";
import { AuthLayout } from "./AuthLayout";

/** Search parameters in which crowd platforms pass their id of a person. */
const CROWD = ["PROLIFIC_PID", "workerId", "participant"];

/** Joins a task, then opens it. */
function useJoining() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async (asked: JoiningTask) => {
      const { project, task } = await joinTask(asked);
      await queries.resetQueries({ queryKey: ["session"] });
      const { projects } = await queries.fetchQuery(sessionQuery);
      const name = projects.find((it) => it.id === project || it.name === project)?.name ?? project;
      await navigate({ to: "/p/$project/annotate/$task", params: { project: name, task }, replace: true });
    },
  });
}

type ByNameProps = {
  /** The token of an invitation link, or the task on a server without accounts. */
  by: { token: string } | { task: string };
  /** The name of the task, where it is known: it is in the link, or the server has no accounts. */
  task?: string;
};

/** Asks for a name, then starts the task. */
export function JoinByName({ by, task }: ByNameProps) {
  return (
    <AuthLayout title={task ?? "Annotate"} after="You need no password: this browser remembers you.">
      {task && <p>You are invited to annotate. Enter a name to start.</p>}
      <JoinTaskForm by={by} />
    </AuthLayout>
  );
}

export function JoinTaskForm({ by }: Pick<ByNameProps, "by">) {
  const joining = useJoining();
  const [entered, bind] = useFields({ name: "" });
  const asked = { ...joining, mutate: () => joining.mutate({ ...by, name: entered.name }) };
  return (
    <Form asked={asked} does="Start" doing="Joining…">
      <Field
        label="Your name"
        hint="Shown to the owners of the task."
        autoComplete="name"
        required
        maxLength={100}
        autoFocus
        {...bind("name")}
      />
    </Form>
  );
}

/** The name of a task in one of these projects; on a server with accounts, people who did not join have none. */
function useTaskName(projects: OpenProject[], task: string): string | undefined {
  const found = useQueries({ queries: projects.map((project) => tasksQuery(project.id)) });
  return found.flatMap(({ data }) => data?.items ?? []).find((it) => it.id === task)?.name;
}

/** People who joined before continue; others enter a name. */
function JoinOrContinue({ task }: { task: string }) {
  const session = useQuery(sessionQuery);
  const projects = session.data?.projects ?? [];
  const [project, ...more] = projects;
  const name = useTaskName(projects, task);
  if (session.isPending) return <LoadingNotice what="the task" />;
  if (!session.data?.account || !project || more.length > 0) {
    return <JoinByName by={{ task }} task={name} />;
  }
  return <Navigate to="/p/$project/annotate/$task" params={{ project: project.name, task }} replace />;
}

/** Joins from a crowd platform by the person's id in the address; without an id, asks for a name. */
export function JoinByCrowd() {
  const { task } = useParams({ from: "/annotate/$task" });
  const search: Record<string, unknown> = useSearch({ strict: false });
  // A private platform may use any parameter name.
  const key = [...CROWD, ...Object.keys(search)].find((it) => search[it] !== undefined && search[it] !== "");
  const joining = useJoining();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as one arrives.
  useEffect(() => {
    if (key) joining.mutate({ task, crowd: { key, id: String(search[key]) } });
  }, []);
  if (!key) return <JoinOrContinue task={task} />;
  return (
    <AuthLayout title="Annotate">
      {joining.error ? (
        <>
          <FormError error={joining.error} />
          <Notice title="You could not join">
            <p>
              Open the link from the crowd platform again. If this happens twice, contact the owner of the
              task.
            </p>
          </Notice>
        </>
      ) : (
        <LoadingNotice what="the task" />
      )}
    </AuthLayout>
  );
}
