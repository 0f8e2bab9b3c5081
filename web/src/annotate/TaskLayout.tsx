import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { Loaded } from "../ui/Loaded";
import { Nav, PageLinks } from "../ui/Nav";
import { PageHead } from "../ui/PageHead";
import { taskQuery } from "./queries";
import type { TaskInFull } from "./types";

const PAGES = [
  { to: "/p/$project/annotate/$task/overview", label: "Overview" },
  { to: "/p/$project/annotate/$task/results", label: "Results" },
  { to: "/p/$project/annotate/$task/people", label: "People" },
  { to: "/p/$project/annotate/$task/disputes", label: "Disputes" },
  { to: "/p/$project/annotate/$task/agreement", label: "Agreement" },
] as const;

/** Frame of the owner's pages of a task: title and navigation. */
export function TaskLayout({ children }: { children: (task: TaskInFull) => ReactNode }) {
  const project = useProject();
  const { task: id } = useParams({ strict: false });
  const found = useQuery(taskQuery(project.id, id ?? ""));
  const params = { project: project.name, task: id ?? "" };
  return (
    <Loaded query={found} what="the task">
      {(it) => (
        <>
          <PageHead
            up={
              <Link to="/p/$project/annotate" params={params}>
                Annotate
              </Link>
            }
            title={it.name}
          >
            {it.state === "closed" && <Badge>closed</Badge>}
          </PageHead>
          <Nav label="Task">
            <PageLinks params={params} pages={PAGES} />
          </Nav>
          {children(it)}
        </>
      )}
    </Loaded>
  );
}
