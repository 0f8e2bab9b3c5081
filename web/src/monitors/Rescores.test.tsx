import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { type OpenProject, sessionQuery } from "../api/session";
import { versionQuery } from "../rubrics/queries";
import { type Monitor, type Rescore, rescoresQuery } from "./queries";
import { Rescores } from "./Rescores";

vi.mock("@tanstack/react-router", () => ({ useParams: () => ({ project: "p" }) }));

afterEach(() => vi.unstubAllGlobals());

test("the score of a re-score is on the scale of its rubric version, where it has one, and from 0 to 1", () => {
  // Names of versions are not part of this test.
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const project = { id: "prj_1", name: "p", scopes: ["read"] } as unknown as OpenProject;
  queries.setQueryData(sessionQuery.queryKey, { projects: [project] });
  const rescore = (rubric: string) => ({
    id: rubric,
    created: "2026-11-01T10:00:00Z",
    rubric_version: rubric,
    n_traces: 9,
    n_scored: 9,
    n_errors: 0,
    offsets: [],
    score: { mean: 0.75, interval: [0.7, 0.8] },
  });
  const all = [rescore("five"), rescore("unit")] as unknown as Rescore[];
  queries.setQueryData(rescoresQuery(project.id, "desk").queryKey, all);
  const scale = { likert: { min: 1, max: 5 } };
  for (const [version, canonical] of Object.entries({ five: { scale }, unit: {} }))
    queries.setQueryData(versionQuery(project.id, version).queryKey, { canonical } as never);
  render(
    <QueryClientProvider client={queries}>
      <Rescores monitor={{ name: "desk" } as Monitor} />
    </QueryClientProvider>,
  );
  const scores = screen.getAllByText(/^Estimated score/).map((it) => it.textContent?.split(": ")[1]);
  expect(scores).toEqual(["4.00 on 1–5 0.750 [0.700, 0.800]", "0.750 [0.700, 0.800]"]);
});
