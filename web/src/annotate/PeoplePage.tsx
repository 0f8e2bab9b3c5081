import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { count, duration, score } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import { people } from "./doors";
import { TaskFrame } from "./TaskFrame";
import styles from "./TaskPage.module.css";
import type { Person, Right, TaskInFull } from "./types";

/** Who works on a task, how fast, and how well where that is known. */
export function PeoplePage() {
  return <TaskFrame>{(task) => <People task={task} />}</TaskFrame>;
}

function People({ task }: { task: TaskInFull }) {
  const project = useProject();
  const found = useQuery({
    queryKey: ["people", project.id, task.id],
    queryFn: () => people(project.id, task.id),
  });
  return (
    <Loaded query={found} what="people">
      {({ items }) =>
        items.length === 0 ? (
          <State title="Nobody has begun yet">
            <p>Who answers an item appears here.</p>
          </State>
        ) : (
          <Table caption="People" columns={columns} rows={items} keyOf={(it) => it.account} />
        )
      }
    </Loaded>
  );
}

const columns: Column<Person>[] = [
  { name: "name", head: "Name", cell: (it) => it.name },
  { name: "done", head: "Done", align: "end", cell: (it) => count(it.n_done) },
  {
    name: "pace",
    head: "Median time",
    align: "end",
    cell: (it) => (it.median_seconds == null ? "–" : duration(1000 * it.median_seconds)),
  },
  { name: "fast", head: "Too fast", align: "end", cell: (it) => it.too_fast || "–", wide: true },
  { name: "training", head: "Practice", align: "end", cell: (it) => right(it.training), wide: true },
  { name: "gold", head: "Gold", align: "end", cell: (it) => right(it.gold) },
  { name: "attention", head: "Attention", align: "end", cell: (it) => right(it.attention), wide: true },
  {
    name: "drift",
    head: (
      <abbr title="The mean of their ratings, on 0 to 1, in the first and the second half of their work">
        Over time
      </abbr>
    ),
    align: "end",
    wide: true,
    cell: (it) => (it.drift ? `${score(it.drift.first)} → ${score(it.drift.second)}` : "–"),
  },
  {
    name: "warnings",
    head: "To look at",
    cell: (it) => (
      <span className={styles.doing}>
        {it.warnings.map((warning) => (
          <Badge key={warning} tone="fail">
            {warning}
          </Badge>
        ))}
      </span>
    ),
  },
  {
    name: "last",
    head: "Last",
    align: "end",
    cell: (it) => (it.last ? <Time at={it.last} /> : "–"),
    wide: true,
  },
];

const right = (it: Right): string => (it.all === 0 ? "–" : `${it.right}/${it.all}`);
