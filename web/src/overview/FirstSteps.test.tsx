import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { type OpenProject, type Session, sessionQuery } from "../api/session";
import { FirstSteps } from "./FirstSteps";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ to, children }: { to: string; children: ReactNode }) => <a href={to}>{children}</a>,
  useParams: () => ({ project: "p" }),
}));

function renderSteps(account: Session["account"]) {
  const queries = new QueryClient();
  const project = { id: "prj_1", name: "p", scopes: ["read", "write", "manage"] } as OpenProject;
  queries.setQueryData(sessionQuery.queryKey, { account, projects: [project] });
  render(
    <QueryClientProvider client={queries}>
      <FirstSteps />
    </QueryClientProvider>,
  );
}

test("owners are led to members and tokens where the server has accounts", () => {
  renderSteps({ id: "acc_1", name: "Ada" } as Session["account"]);
  expect(screen.getByRole("link", { name: "Invite members" })).toBeTruthy();
  expect(screen.getByRole("link", { name: "API tokens" })).toBeTruthy();
  expect(screen.queryByText("jurist serve --auth")).toBeNull();
});

test("a server without accounts offers neither, and says how to get them", () => {
  renderSteps(null);
  expect(screen.queryByRole("link", { name: "Invite members" })).toBeNull();
  expect(screen.queryByRole("link", { name: "API tokens" })).toBeNull();
  expect(screen.getByText("jurist serve --auth")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Accounts, roles and tokens" })).toBeTruthy();
});
