import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { type OpenProject, sessionQuery } from "../api/session";
import { versionQuery } from "./queries";
import { VersionScore } from "./VersionScore";

vi.mock("@tanstack/react-router", () => ({ useParams: () => ({ project: "p" }) }));

test("the score of a trace is on the scale of its rubric version, and from 0 to 1", () => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const project = { id: "prj_1", name: "p", scopes: ["read"] } as unknown as OpenProject;
  queries.setQueryData(sessionQuery.queryKey, { projects: [project] });
  for (const [version, canonical] of Object.entries({
    five: { scale: { likert: { min: 1, max: 5 } } },
    unit: {},
  }))
    queries.setQueryData(versionQuery(project.id, version).queryKey, { canonical } as never);
  const text = (version: string | null, score: number | null) =>
    render(
      <QueryClientProvider client={queries}>
        <VersionScore version={version} score={score} />
      </QueryClientProvider>,
    ).container.textContent;
  expect(text("five", 0.25)).toBe("2.00 on 1–5 0.25");
  expect(text("unit", 0.25)).toBe("0.25");
  expect(text(null, 0.25)).toBe("0.25");
  expect(text("five", null)).toBe("–");
});
