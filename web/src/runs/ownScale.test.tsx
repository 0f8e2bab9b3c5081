import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { type OpenProject, sessionQuery } from "../api/session";
import type { ScaleEnds } from "../chart/figures";
import { FlakyCases } from "./FlakyCases";
import { HistoryChange, sharedScaleOfRuns } from "./HistoryPage";
import { type CriterionMean, flakyQuery, type HistoryPoint, type RunInFull } from "./queries";
import { AnswerCell } from "./RunAnswers";
import { CriterionMeanTable } from "./RunCriteria";
import { RunFigures } from "./RunPage";
import { RunScore } from "./RunScore";
import { GradeAnswer, VerdictScore } from "./Scorecard";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children }: { children: ReactNode }) => <a href="/">{children}</a>,
  useParams: () => ({ project: "p" }),
}));

afterEach(() => vi.unstubAllGlobals());

const LIKERT = { likert: { min: 1, max: 5 } };
const RUBRIC = { criteria: [{ name: "tone", scale: LIKERT }] };
const COUNTS = { scored: 1 };

test("an answer is shown on the scale of its criterion, and from 0 to 1 beside it", () => {
  const answer = (value: number | boolean, unit: number, scale?: { min: number; max: number }) => {
    const { container } = render(<GradeAnswer outcome={{ kind: "scored", value, unit }} scale={scale} />);
    return container.textContent;
  };
  expect(answer(2, 0.25, { min: 1, max: 5 })).toBe("2 on 1–5 0.25");
  expect(answer(0.25, 0.25)).toBe("0.25");
  expect(answer(true, 1)).toBe("yes");
});

test("the score of a case is on the scale of its rubric, and from 0 to 1 beside it", () => {
  const verdict = { status: "fail" as const, score: 0.25, native: 2, counts: COUNTS };
  const grade = {
    candidate: "c",
    criterion: "tone",
    grader: { kind: "judge" as const, name: "m1" },
    outcome: { kind: "scored" as const, value: 2, unit: 0.25 },
    rubric: "r",
  };
  const shown = (rubric: object | undefined) => {
    const { container } = render(
      <VerdictScore rubric={rubric as Record<string, unknown>} verdict={verdict} grades={[grade as never]} />,
    );
    return container.textContent;
  };
  expect(shown(RUBRIC)).toBe("2.00 on 1–5 0.25");
  expect(shown({ criteria: [{ name: "tone", scale: "binary" }] })).toBe("0.25");
  expect(shown(undefined)).toBe("0.25");
});

test("means of criteria are on their scales, where the rubrics of the run give them one", () => {
  const criteria: CriterionMean[] = [
    { criterion: "tone", mean: 0.75, interval: [0.7, 0.8], n_cases: 4 },
    { criterion: "said", mean: 0.5, interval: [0.4, 0.6], n_cases: 4 },
    { criterion: "once", mean: 1, interval: null, n_cases: 1 },
  ];
  render(<CriterionMeanTable criteria={criteria} rubrics={{ r: RUBRIC }} />);
  const cellsOf = (name: string) =>
    [...screen.getByRole("row", { name: new RegExp(`^${name}`) }).children].map((cell) => cell.textContent);
  expect(cellsOf("tone").slice(1, 3)).toEqual(["4.00 on 1–5 0.75", "[3.80, 4.20] ([0.700, 0.800])"]);
  expect(cellsOf("said").slice(1, 3)).toEqual(["0.50", "[0.400, 0.600]"]);
  expect(cellsOf("once").slice(1, 3)).toEqual(["1.00", "–"]);
  expect(screen.getByRole("img", { name: "4.00 on 1–5 [3.80, 4.20] (0.750 [0.700, 0.800])" })).toBeTruthy();
});

test("the mean score of a run is on the scale that its rubrics share, also in lists of runs", () => {
  const outcome = { case: "a", place: 0, status: "fail" as const, score: 0.25 };
  const followed = { outcomes: [outcome], nUnits: 1, nResults: 1, ended: true, broken: false };
  const shown = (scale: ScaleEnds | null) => {
    const run = { scale } as RunInFull;
    const { container } = render(<RunFigures run={run} followed={followed} total={1} />);
    return container.querySelector("[data-name=score]")?.textContent;
  };
  expect(shown({ min: 1, max: 5 })).toMatch(/^2\.00 on 1–5mean score, 0\.25 on 0–1/);
  expect(shown(null)).toMatch(/^0\.25mean score/);
  const listed = (score: number | null, scale: ScaleEnds | null) =>
    render(<RunScore run={{ score, scale }} />).container.textContent;
  expect(listed(0.25, { min: 1, max: 5 })).toBe("2.00 on 1–5 0.25");
  expect(listed(0.25, null)).toBe("0.25");
  expect(listed(null, { min: 1, max: 5 })).toBe("–");
});

test("a history is on the scale that all its runs share; runs without a score do not count", () => {
  const five = { score: 0.5, scale: { min: 1, max: 5 } };
  const waiting = { score: null, scale: null };
  expect(sharedScaleOfRuns([five, waiting, five])).toEqual({ min: 1, max: 5 });
  expect(sharedScaleOfRuns([five, { score: 0.5, scale: { min: 1, max: 7 } }])).toBeUndefined();
  expect(sharedScaleOfRuns([five, { score: 0.5, scale: null }])).toBeUndefined();
  expect(sharedScaleOfRuns([waiting])).toBeUndefined();
});

test("the change from one run to the next is on the scale that both share", () => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const project = { id: "prj_1", name: "p", scopes: ["read"] } as unknown as OpenProject;
  queries.setQueryData(sessionQuery.queryKey, { projects: [project] });
  const five = { min: 1, max: 5 };
  const score = { difference: 0.25, interval: [0.1, 0.4] };
  const run = (shared: ScaleEnds | null) => {
    const change = { baseline: "a", n_cases: 9, direction: "better", score, scale: shared };
    const figures = { started: "2026-11-01T10:00:00Z", score: 0.5, scale: five };
    return { id: "b", ...figures, change } as unknown as HistoryPoint;
  };
  const shown = (shared: ScaleEnds | null) =>
    render(
      <QueryClientProvider client={queries}>
        <HistoryChange point={run(shared)} />
      </QueryClientProvider>,
    ).container.textContent;
  expect(shown(five)).toContain("better+1.00 on 1–5 [+0.40, +1.60] +0.250 [+0.100, +0.400]");
  expect(shown(null)).toContain("better+0.250 [+0.100, +0.400]");
});

test("answers and flaky cases have scores on the scale that the rubrics of the run share", () => {
  // The text of the answer is not part of this test.
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const project = { id: "prj_1", name: "p", scopes: ["read"] } as unknown as OpenProject;
  queries.setQueryData(sessionQuery.queryKey, { projects: [project] });
  const trials = { case: "a", flip_rate: 0.5, n: 2, passed: 1, pass_k: [0.5, 0], scores: [0.75, null] };
  const found = { k: 2, n_cases: 1, any: 1, all: 0, cases: [trials] };
  queries.setQueryData(flakyQuery(project.id, "run_1").queryKey, found);
  const shown = (part: ReactNode) =>
    render(<QueryClientProvider client={queries}>{part}</QueryClientProvider>).container.textContent;
  const outcome = { case: "a", place: 0, status: "fail" as const, score: 0.25 };
  for (const [scale, answer, tries] of [
    [{ min: 1, max: 5 }, "2.00 on 1–5 0.25", "4.00 on 1–5 0.75–"],
    [null, " 0.25", "0.75–"],
  ] as const) {
    const run = { id: "run_1", scale } as RunInFull;
    const cell = (
      <AnswerCell run={run} outcome={outcome} nKnown={0} labels={[]} isExpanded={false} onToggle={vi.fn()} />
    );
    expect(shown(cell)).toContain(answer);
    expect(shown(<FlakyCases run={run} outcomes={[outcome]} />)).toContain(`0 %${tries}`);
  }
});
