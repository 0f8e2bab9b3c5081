import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { type OpenProject, sessionQuery } from "../api/session";
import { AuditTarget } from "./AuditPage";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children, params }: { children: ReactNode; params: { run: string } }) => (
    <a href={`/runs/${params.run}`}>{children}</a>
  ),
  useParams: () => ({ project: "p" }),
}));

test("the audit log shows the end of an id, with all of it in the tooltip, and links runs", () => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  queries.setQueryData(sessionQuery.queryKey, {
    projects: [{ id: "prj_1", name: "p", scopes: ["read"] } as unknown as OpenProject],
  });
  const shown = (target: string) =>
    render(
      <QueryClientProvider client={queries}>
        <AuditTarget target={target} />
      </QueryClientProvider>,
    ).container;
  const id = "0190c4d27e1b7a3c9f50b8e6d1a24c7e";
  const run = shown(`run_${id}`);
  expect(run.textContent).toBe("run …a24c7e");
  expect(run.querySelector("a")?.getAttribute("href")).toBe(`/runs/run_${id}`);
  const version = shown(`rubv_local_${id}`);
  expect(version.textContent).toBe("…a24c7e");
  expect(version.querySelector("a")).toBeNull();
  expect(version.querySelector("code")?.title).toBe(`rubv_local_${id}`);
  expect(shown("support desk").textContent).toBe("support desk");
});
