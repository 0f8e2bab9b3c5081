import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { tasksQuery } from "../annotate/queries";
import { type OpenProject, type Session, sessionQuery } from "../api/session";
import { JoinByCrowd } from "./JoinTask";

vi.mock("@tanstack/react-router", () => ({
  Navigate: () => null,
  useNavigate: () => vi.fn(),
  useParams: () => ({ task: "task_2" }),
  useSearch: () => ({}),
}));

afterEach(() => vi.unstubAllGlobals());

function renderJoin(tasks: { id: string; name: string }[]) {
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const project = { id: "prj_1", name: "p", scopes: ["annotate"] } as unknown as OpenProject;
  queries.setQueryData(sessionQuery.queryKey, { account: null, projects: [project] } as unknown as Session);
  queries.setQueryData(tasksQuery(project.id).queryKey, { items: tasks } as never);
  render(
    <QueryClientProvider client={queries}>
      <JoinByCrowd />
    </QueryClientProvider>,
  );
}

test("the page that asks for a name has the name of the task as its title, where the server tells it", () => {
  renderJoin([
    { id: "task_1", name: "Other" },
    { id: "task_2", name: "Review of answers" },
  ]);
  expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("Review of answers");
  expect(screen.getByRole("textbox", { name: /^Your name/ })).toBeTruthy();
});

test("a task that is not in the list has no name", () => {
  renderJoin([]);
  expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("Annotate");
});
