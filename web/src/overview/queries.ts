// What the first page of a project shows, in one query.
import { queryOptions } from "@tanstack/react-query";
import { fetchTasks } from "../annotate/queries";
import { api, unwrap } from "../api/client";
import { may, type OpenProject } from "../api/session";
import { monitorsOf } from "../monitors/queries";

const N_LATEST_RUNS = 5;

/** All four together, so that the page is drawn once. */
export const overviewQuery = (project: OpenProject) =>
  queryOptions({
    queryKey: ["overview", project.id],
    queryFn: async () => {
      const client = api(project.id);
      const [agents, monitors, runs, tasks] = await Promise.all([
        unwrap(client.GET("/api/v1/agents")),
        monitorsOf(project.id),
        unwrap(client.GET("/api/v1/runs", { params: { query: { limit: N_LATEST_RUNS } } })),
        may(project, "annotate") ? fetchTasks(project.id) : { items: [] },
      ]);
      return { agents, monitors, runs: runs.items, tasks: tasks.items };
    },
    refetchInterval: 10_000,
  });
