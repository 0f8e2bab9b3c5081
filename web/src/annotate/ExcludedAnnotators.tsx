import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { peopleQuery } from "./queries";
import styles from "./TaskPage.module.css";
import type { TaskInFull } from "./types";

/** Names the annotators without whose answers the figures of a task are computed. */
export function ExcludedAnnotators({ task }: { task: TaskInFull }) {
  const project = useProject();
  const { data } = useQuery(peopleQuery(project.id, task.id));
  const names = (data?.items ?? []).filter((it) => it.excluded).map((it) => it.name);
  if (names.length === 0) return null;
  return (
    <p className={styles.soft}>
      Answers of {names.join(", ")} are{" "}
      <Link to="/p/$project/annotate/$task/people" params={{ project: project.name, task: task.id }}>
        excluded
      </Link>{" "}
      and not part of these figures.
    </p>
  );
}
