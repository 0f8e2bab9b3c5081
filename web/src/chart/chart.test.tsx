import { render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { fixed, percent, range3, signed } from "./figures";
import { RunTrendChart } from "./RunTrendChart";
import { ScaledScore } from "./ScaledScore";
import { cleaned, leastWidth, ServerChart } from "./ServerChart";
import { scoreDomain, stretches, ticks } from "./scale";
import { TrendChart } from "./TrendChart";

test("figures are rounded as the command line rounds them", () => {
  const said = (value: number, digits = 3) => fixed(value, digits);
  expect([said(0.0625), said(0.1875), said(0.8035), said(0.5)]).toEqual(["0.062", "0.188", "0.803", "0.500"]);
  expect([said(0.5, 0), said(1.5, 0), said(2.5, 0), said(210.4, 0)]).toEqual(["0", "2", "2", "210"]);
  expect([said(-0.0625), said(-0.1875), said(0), said(1)]).toEqual(["-0.062", "-0.188", "0.000", "1.000"]);
  expect([percent(0.791), percent(0.83), percent(0.0069), percent(1), percent(null)]).toEqual([
    "79.1 %",
    "83 %",
    "0.7 %",
    "100 %",
    "–",
  ]);
  expect([signed(0.02), signed(-0.0432), signed(0)]).toEqual(["+0.020", "-0.043", "+0.000"]);
  expect(range3([0.1, 0.25])).toBe("[0.100, 0.250]");
});

test("axes have round numbers that hold everything", () => {
  expect(ticks(0, 1)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  expect(ticks(0.71, 0.88)).toEqual([0.7, 0.75, 0.8, 0.85, 0.9]);
  expect(ticks(0.5, 0.5)).toEqual([0.5]);
  const [low, high] = scoreDomain([0.4, 0.41]);
  expect(low).toBeLessThan(0.4);
  expect(high).toBeGreaterThan(0.41);
  expect(scoreDomain([0, 1])).toEqual([0, 1]);
  expect(scoreDomain([])).toEqual([0, 1]);
});

test("days without a figure part a line", () => {
  expect(stretches([1, 2, 0, 3], (it) => it > 0)).toEqual([[1, 2], [3]]);
  expect(stretches([0], (it) => it > 0)).toEqual([]);
});

test("behind a trend stand its numbers, newest first", () => {
  const points = [
    { day: "2026-03-18T00:00:00Z", mean: 0.8, interval: [0.7, 0.9] as [number, number], n: 4, n_seen: 9 },
    { day: "2026-03-19T00:00:00Z", mean: null, n: 0, n_seen: 3 },
  ];
  render(<TrendChart title="Score by day" series={[{ name: "v1", points }]} />);
  const rows = screen.getAllByRole("row", { hidden: true }).map((it) => it.textContent);
  expect(rows.slice(1)).toEqual(["2026-03-190 of 3no estimate––", "2026-03-184 of 90.800[0.700, 0.900]–"]);
});

test("a trend of rubrics with one scale has it on the left axis, and 0 to 1 on the right one", () => {
  const width = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
  const points = [
    {
      day: "2026-03-18T00:00:00Z",
      mean: 0.25,
      interval: [0, 1] as [number, number],
      sequence: [0.1, 0.9] as [number, number],
      n: 4,
      n_seen: 9,
    },
  ];
  render(<TrendChart title="Score" series={[{ name: "v1", points }]} scale={{ min: 1, max: 5 }} />);
  width.mockRestore();
  const chart = screen.getByRole("figure", { name: /^Score; left axis on 1–5, right axis from 0 to 1/ });
  expect(chart.querySelector("svg")?.getAttribute("aria-label")).toContain("2.00 on 1–5 (0.250)");
  const ofLine = [...chart.querySelectorAll("svg g > g:has(> line)")].map((line) =>
    [...line.querySelectorAll("text")].map((text) => text.textContent),
  );
  expect(ofLine).toContainEqual(["2", "0.25"]);
  const label = "2026-03-18: 2.00 on 1–5 [1.00, 5.00] (0.250 [0.000, 1.000]), 4 of 9 scored";
  expect(chart.querySelector("[data-tip]")?.getAttribute("data-tip")).toBe(label);
  expect(screen.getAllByRole("row", { hidden: true })[1]?.textContent).toBe(
    "2026-03-184 of 92.00 on 1–5 0.250[1.00, 5.00] ([0.000, 1.000])[1.40, 4.60] ([0.100, 0.900])",
  );
});

test("what the server drew loses its style and whatever is no shape", () => {
  const svg =
    '<svg class="jurist-chart" role="img" viewBox="0 0 9 9"><title>T</title><style>.a{fill:red}</style><text>&lt;i&gt;</text>' +
    '<g onclick="x()"><circle class="s0 dot" cx="1" style="fill:red"><title>a &lt;b&gt;</title></circle></g>' +
    "<script>alert(1)</script><foreignObject><p>x</p></foreignObject><text>&lt;i&gt;</text></svg>";
  const picture = cleaned(svg);
  expect(picture?.querySelectorAll("style, script, foreignObject, p").length).toBe(0);
  expect(picture?.querySelector("circle")?.getAttributeNames()).toEqual(["class", "cx", "data-tip"]);
  expect(picture?.querySelector("circle")?.getAttribute("data-tip")).toBe("a <b>");
  expect(picture?.querySelector("g")?.getAttributeNames()).toEqual([]);
  expect(picture?.querySelector("text")?.textContent).toBe("<i>");
  expect(cleaned("no picture")).toBeNull();
});

test("a trend marks what happened on its days, and tells it", () => {
  const points = ["18", "19"].map((it) => ({ day: `2026-03-${it}T00:00:00Z`, mean: 0.8, n: 4, n_seen: 9 }));
  const signs = [
    { time: "2026-03-19T15:00:00Z", text: "the score fell" },
    { time: "2026-01-01T15:00:00Z", text: "long ago" },
  ];
  render(<TrendChart title="Score" series={[{ name: "v2", points }]} signs={signs} />);
  expect(screen.getByText("2026-03-19: the score fell")).toBeTruthy();
});

test("a chart of runs describes significant changes in words", () => {
  const width = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
  const change = { direction: "worse" as const, text: "The score fell by 0.300." };
  const points = [
    { id: "a", name: "1111111", mean: 0.9, interval: [0.8, 0.95] as [number, number] },
    { id: "b", name: "2222222", mean: null },
    { id: "c", name: "3333333", mean: 0.6, change },
  ];
  render(
    <RunTrendChart
      title="Score"
      points={points}
      linkOf={(_point, _label, mark) => mark}
      table={<p>numbers</p>}
    />,
  );
  const figure = screen.getByRole("figure", { name: "Score" });
  width.mockRestore();
  expect(figure.textContent).toContain("numbers");
  const picture = figure.querySelector("svg");
  expect(picture?.getAttribute("aria-label")).toBe(
    "Score: 0.900 in the first and 0.600 in the last of 2 runs; 3333333: 0.600; The score fell by 0.300.",
  );
  // A run without a figure has no mark, and one change has one triangle.
  expect(picture?.querySelectorAll("[data-tip]").length).toBe(2);
  expect(picture?.querySelectorAll("[data-direction=worse] path").length).toBe(1);
});

test("a chart of runs with one scale has it on the left axis, and 0 to 1 on the right one", () => {
  const width = vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
  const points = [
    { id: "a", name: "1111111", mean: 0.75 },
    { id: "b", name: "2222222", mean: 0.5 },
  ];
  render(
    <RunTrendChart
      title="Score"
      points={points}
      scale={{ min: 1, max: 5 }}
      linkOf={(_point, _label, mark) => mark}
      table={null}
    />,
  );
  width.mockRestore();
  const picture = screen
    .getByRole("figure", { name: "Score; left axis on 1–5, right axis from 0 to 1" })
    .querySelector("svg");
  expect(picture?.getAttribute("aria-label")).toBe(
    "Score: 4.00 on 1–5 (0.750) in the first and 3.00 on 1–5 (0.500) in the last of 2 runs",
  );
  expect(picture?.querySelector("[data-tip]")?.getAttribute("data-tip")).toMatch(/^1111111: 4\.00 on 1–5/);
  const numbers = [...(picture?.querySelectorAll("text") ?? [])].map((it) => it.textContent);
  expect(numbers).toEqual(expect.arrayContaining(["4", "0.75"]));
});

test("a chart of the server is so wide that its letters have at least nine pixels", () => {
  // Letters have eleven units.
  for (const units of [420, 640]) expect((11 * leastWidth(units)) / units).toBeGreaterThanOrEqual(9);
});

test("a chart that is wider than its frame can get the focus before a frame is painted", () => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.spyOn(HTMLElement.prototype, "scrollWidth", "get").mockImplementation(function (this: HTMLElement) {
    return this.querySelector("svg") ? 420 : 0;
  });
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(300);
  const svg = '<svg viewBox="0 0 420 300"><circle r="3"/></svg>';
  render(<ServerChart title="By criterion" drawn={{ svg, table: { columns: [], rows: [] } }} />);
  expect(screen.getByRole("group", { name: "By criterion" }).tabIndex).toBe(0);
  expect(screen.getByText("Show as table").closest("details")?.open).toBe(true);
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test("a score is on the scale of its rubric, where it has one, and from 0 to 1 beside it", () => {
  const shown = (scale: { min: number; max: number } | null) =>
    render(<ScaledScore mean={0.7875} interval={[0.7, 0.85]} scale={scale} />).container.textContent;
  expect(shown({ min: 1, max: 5 })).toBe("4.15 on 1–5 [3.80, 4.40] 0.787 [0.700, 0.850]");
  expect(shown(null)).toBe("0.787 [0.700, 0.850]");
});
