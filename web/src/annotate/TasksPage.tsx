import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { may, useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { BookLink } from "../ui/BookLink";
import { Button } from "../ui/Button";
import buttons from "../ui/Button.module.css";
import { CodeBlock } from "../ui/CodeBlock";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { NewTaskDialog } from "./NewTaskDialog";
import { tasksQuery } from "./queries";
import styles from "./TasksPage.module.css";
import type { Task } from "./types";

/** Annotation tasks with the person's own items and the overall progress. */
export function TasksPage() {
  const project = useProject();
  const found = useQuery(tasksQuery(project.id));
  const [adding, setAdding] = useState(false);
  const mayAdd = may(project, "write");
  return (
    <>
      <PageHead
        title="Annotate"
        about="Annotation tasks of this project."
        book="tutorials/annotation-study.html"
      >
        {mayAdd && (
          <Button look="main" onClick={() => setAdding(true)}>
            New task
          </Button>
        )}
      </PageHead>
      <Loaded query={found} what="tasks">
        {({ items }) =>
          items.length === 0 ? (
            <NoTasks mayAdd={mayAdd} />
          ) : (
            <ul className={styles.tasks}>
              {items.toSorted(byUrgency).map((it) => (
                <TaskCard key={it.id} task={it} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {adding && <NewTaskDialog onClose={() => setAdding(false)} />}
    </>
  );
}

const isWaiting = (it: Task): boolean => it.state === "open" && it.may.annotate && it.mine.left !== 0;

/** Tasks with items for the person first, then the newest. */
const byUrgency = (a: Task, b: Task): number =>
  Number(isWaiting(b)) - Number(isWaiting(a)) || b.created.localeCompare(a.created);

function TaskCard({ task }: { task: Task }) {
  const params = { project: useProject().name, task: task.id };
  const { mine, progress } = task;
  const told = mineInWords(task);
  return (
    <li className={styles.task} data-waiting={isWaiting(task) || undefined}>
      <div className={styles.about}>
        <h2>
          {task.may.manage ? (
            <Link to="/p/$project/annotate/$task/overview" params={params}>
              {task.name}
            </Link>
          ) : (
            task.name
          )}{" "}
          {task.state === "closed" && <Badge>closed</Badge>}
        </h2>
        {task.description && (
          <p className={styles.description} dir="auto">
            {task.description}
          </p>
        )}
        {task.may.manage && (
          <p className={styles.whole}>
            <progress
              max={Math.max(1, progress.n_items)}
              value={progress.n_done}
              aria-label={`Completed items of ${task.name}`}
            />
            <span>
              {count(progress.n_done)} of {plural(progress.n_items, "item")} done,{" "}
              {plural(progress.n_submitted, "answer")}
            </span>
          </p>
        )}
      </div>
      <div className={styles.mine}>
        {told && <p>{told}</p>}
        {isWaiting(task) && (
          <Link
            to="/p/$project/annotate/$task"
            params={params}
            className={buttons.button}
            data-look="main"
            aria-label={`${mine.done > 0 ? "Continue" : "Start"} ${task.name}`}
          >
            {mine.done > 0 ? "Continue" : "Start"}
          </Link>
        )}
      </div>
    </li>
  );
}

function mineInWords({ may, mine, state }: Task): string {
  if (!may.annotate) return "";
  if (state === "closed") return mine.done > 0 ? `You answered ${plural(mine.done, "item")}.` : "";
  if (mine.left === 0)
    return mine.done > 0 ? `You answered all ${plural(mine.done, "item")}.` : "No items for you.";
  if (mine.left == null) return mine.done > 0 ? `${plural(mine.done, "item")} done` : "";
  return mine.done > 0
    ? `${mine.done} of ${mine.done + mine.left} done`
    : `${plural(mine.left, "item")} for you`;
}

function NoTasks({ mayAdd }: { mayAdd: boolean }) {
  return (
    <Notice title="No annotation tasks">
      {mayAdd ? (
        <>
          <p>
            Create a task from a configuration with its data, or from a rubric and traces. Or start one from
            the command line:
          </p>
          <CodeBlock text="jurist start config.yaml" />
          <p>
            <BookLink page="tutorials/annotation-study.html">Tutorial: run an annotation study</BookLink>
          </p>
        </>
      ) : (
        <p>Tasks appear here when a member of this project creates one.</p>
      )}
    </Notice>
  );
}
