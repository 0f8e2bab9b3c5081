import { beforeEach, expect, test } from "vitest";
import { deleteView, isSameView, readViews, saveView } from "./savedViews";

beforeEach(() => localStorage.clear());

test("a view is stored for its project, replaced by its name and deleted", () => {
  saveView("one", { name: " Refunds ", search: { search: "refund", verdict: "fail" } });
  saveView("one", { name: "Slow", search: { min_duration_ms: 60_000, sort: "-duration" } });
  saveView("one", { name: "Refunds", search: { search: "refund", agent: undefined } });
  expect(readViews("two")).toEqual([]);
  expect(readViews("one")).toEqual([
    { name: "Slow", search: { min_duration_ms: 60_000, sort: "-duration" } },
    { name: "Refunds", search: { search: "refund" } },
  ]);
  expect(deleteView("one", "Slow").map((it) => it.name)).toEqual(["Refunds"]);
});

test("what is not a view is left out, and no filter comes through that the page does not know", () => {
  localStorage.setItem("jurist.trace-views.one", "{");
  expect(readViews("one")).toEqual([]);
  const stored = [{ name: "a", search: { verdict: "perhaps", state: "open", evil: 1 } }, { name: 7 }, null];
  localStorage.setItem("jurist.trace-views.one", JSON.stringify(stored));
  expect(readViews("one")).toEqual([{ name: "a", search: { state: "open" } }]);
});

test("views are equal whatever the order of their filters", () => {
  expect(isSameView({ agent: "a", failed: true }, { failed: true, agent: "a", state: undefined })).toBe(true);
  expect(isSameView({ agent: "a" }, {})).toBe(false);
});
