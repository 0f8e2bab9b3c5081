import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useProject } from "../api/session";
import { PageHead } from "../shell/Shell";
import { Badge } from "../ui/Badge";
import { Loaded } from "../ui/Loaded";
import { Nav } from "../ui/Nav";
import { task } from "./doors";
import styles from "./TaskFrame.module.css";
import type { TaskInFull } from "./types";

/** What the owner's pages of a task share: what it is called, and where one is among them. */
export function TaskFrame({ children }: { children: (task: TaskInFull) => ReactNode }) {
  const project = useProject();
  const { task: id } = useParams({ strict: false });
  const found = useQuery({
    queryKey: ["task", project.id, id],
    queryFn: () => task(project.id, id ?? ""),
  });
  const params = { project: project.name, task: id ?? "" };
  return (
    <Loaded query={found} what="the task">
      {(it) => (
        <>
          <p className={styles.up}>
            <Link to="/p/$project/annotate" params={params}>
              Annotate
            </Link>
          </p>
          <PageHead title={it.name}>{it.state === "closed" && <Badge>closed</Badge>}</PageHead>
          <Nav label="Task">
            <Link to="/p/$project/annotate/$task/overview" params={params}>
              Overview
            </Link>
            <Link to="/p/$project/annotate/$task/people" params={params}>
              People
            </Link>
            <Link to="/p/$project/annotate/$task/disputes" params={params}>
              Disputes
            </Link>
            <Link to="/p/$project/annotate/$task/agreement" params={params}>
              Agreement
            </Link>
          </Nav>
          {children(it)}
        </>
      )}
    </Loaded>
  );
}
