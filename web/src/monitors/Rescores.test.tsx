import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { type OpenProject, sessionQuery } from "../api/session";
import { type Monitor, type Rescore, rescoresQuery } from "./queries";
import { Rescores } from "./Rescores";

vi.mock("@tanstack/react-router", () => ({ useParams: () => ({ project: "p" }) }));

afterEach(() => vi.unstubAllGlobals());

test("the score of a re-score and its offsets are on the scale of the rubric, where it has one, and from 0 to 1", () => {
  // Names of versions are not part of this test.
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const project = { id: "prj_1", name: "p", scopes: ["read"] } as unknown as OpenProject;
  queries.setQueryData(sessionQuery.queryKey, { projects: [project] });
  const five = { min: 1, max: 5 };
  const offset = (criterion: string, scale?: typeof five) => ({
    criterion,
    from_version: "old",
    judge: "m1",
    n: 9,
    mean: -0.25,
    interval: [-0.4, -0.1],
    scale,
  });
  const rescore = (id: string, scale?: typeof five) => ({
    id,
    created: "2026-11-01T10:00:00Z",
    rubric_version: id,
    scale,
    n_traces: 9,
    n_scored: 9,
    n_errors: 0,
    offsets: [offset(`tone ${id}`, scale)],
    score: { mean: 0.75, interval: [0.7, 0.8] },
  });
  const all = [rescore("five", five), rescore("unit")] as unknown as Rescore[];
  queries.setQueryData(rescoresQuery(project.id, "desk").queryKey, all);
  render(
    <QueryClientProvider client={queries}>
      <Rescores monitor={{ name: "desk" } as Monitor} />
    </QueryClientProvider>,
  );
  const scores = screen.getAllByText(/^Estimated score/).map((it) => it.textContent?.split(": ")[1]);
  expect(scores).toEqual(["4.00 on 1–5 [3.80, 4.20] 0.750 [0.700, 0.800]", "0.750 [0.700, 0.800]"]);
  const offsetOf = (name: string) => screen.getByRole("row", { name: new RegExp(`^${name}`) }).children[1];
  expect(offsetOf("tone five")?.textContent).toBe("-1.00 on 1–5 [-1.60, -0.40] -0.250 [-0.400, -0.100]");
  expect(offsetOf("tone unit")?.textContent).toBe("-0.250 [-0.400, -0.100]");
});
