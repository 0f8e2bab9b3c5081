import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { type OpenProject, sessionQuery } from "../api/session";
import { versionQuery } from "../rubrics/queries";
import { MonitorsPage } from "./MonitorsPage";
import { type Monitor, monitorsQuery } from "./queries";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children }: { children: ReactNode }) => <a href="/">{children}</a>,
  useParams: () => ({ project: "p" }),
}));

afterEach(() => vi.unstubAllGlobals());

test("the score of a monitor is on the scale of its rubric, where it has one, and from 0 to 1", () => {
  // Alerts and spend are not part of this test.
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const project = { id: "prj_1", name: "p", scopes: ["read"] } as unknown as OpenProject;
  const monitor = (name: string) => ({
    id: name,
    name,
    agents: ["desk"],
    judges: [],
    pass_mark: 0.7,
    sample_rate: 1,
    version: { rubric_version: `rubv_${name}` },
    figures: {
      agents: [],
      states: {},
      spent_this_month: 0,
      score: { mean: 0.75, low: 0.7, high: 0.8, n: 9 },
    },
  });
  queries.setQueryData(sessionQuery.queryKey, { projects: [project] });
  const monitors = [monitor("five"), monitor("unit")] as unknown as Monitor[];
  queries.setQueryData(monitorsQuery(project.id).queryKey, monitors);
  const scale = { likert: { min: 1, max: 5 } };
  for (const [name, canonical] of Object.entries({ five: { scale }, unit: {} }))
    queries.setQueryData(versionQuery(project.id, `rubv_${name}`).queryKey, { canonical } as never);
  render(
    <QueryClientProvider client={queries}>
      <MonitorsPage />
    </QueryClientProvider>,
  );
  const row = (name: string) => screen.getByRole("row", { name: new RegExp(`^${name}`) }).textContent;
  expect(row("five")).toContain("4.00 on 1–5 [3.80, 4.20] 0.750 [0.700, 0.800]");
  expect(row("unit")).toContain("0.750 [0.700, 0.800]");
  expect(row("unit")).not.toContain(" on ");
});
