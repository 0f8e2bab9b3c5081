import { expect, test } from "vitest";
import type { Item } from "../annotate/types";
import { buildEntry, describeWritten, failedRubric, preselectDataset, recordOfItem } from "./datasetChoice";
import type { Dataset } from "./queries";

const dataset = (name: string, archived: string | null = null): Dataset => ({
  id: `dst_${name}`,
  name,
  test_share: 0.2,
  created: "2026-03-01T00:00:00Z",
  archived,
});

test("the dataset that was chosen last is preselected, unless it is archived", () => {
  const datasets = [dataset("billing"), dataset("old", "2026-03-02T00:00:00Z"), dataset("support")];
  expect(preselectDataset(datasets, "support")).toBe("support");
  expect(preselectDataset(datasets, "old")).toBe("billing");
  expect(preselectDataset(datasets, null)).toBe("billing");
  expect(preselectDataset([], "support")).toBe("");
});

test("the rubric of the newest failed verdict is preselected", () => {
  const verdict = (status: string, version: string, day: number) => ({
    status,
    rubric_version: version,
    time: `2026-03-0${day}T00:00:00Z`,
  });
  expect(failedRubric([verdict("fail", "a", 1), verdict("fail", "b", 2), verdict("pass", "c", 3)])).toBe("b");
  expect(failedRubric([verdict("error", "a", 1)])).toBeUndefined();
});

test("an item of an annotation task becomes a record with the fields of its row", () => {
  const item = {
    id: "itm_1",
    task: "Where is my order?",
    text: "On its way.",
    fields: [{ key: "customer", label: "Customer", text: "Ana" }],
  } as unknown as Item;
  expect(recordOfItem("i01", item)).toEqual({
    customer: "Ana",
    input: "Where is my order?",
    response: "On its way.",
    id: "i01",
  });
});

test("what is not chosen is not sent", () => {
  const nothing = { rubric: "", note: " " };
  expect(buildEntry({ kind: "traces", traces: ["a"] }, nothing)).toEqual({ traces: ["a"] });
  expect(buildEntry({ kind: "filter", search: { failed: true } }, { rubric: "tone", note: "n" })).toEqual({
    trace_filter: { failed: true, limit: 1000 },
    rubric: "tone",
    note: "n",
  });
  expect(buildEntry({ kind: "task", task: "tsk_1" }, nothing)).toEqual({ annotation_task: "tsk_1" });
  expect(buildEntry({ kind: "record", record: { id: "x" } }, nothing)).toEqual({ records: [{ id: "x" }] });
});

test("a written version is described by what it changed", () => {
  const none = { version: 2, is_new: true, n_cases: 9, n_added: 0, n_changed: 0, n_removed: 0 };
  const written = { ...none, n_unchanged: 0, n_skipped: 0 };
  expect(describeWritten({ ...written, n_added: 1, n_unchanged: 3, n_skipped: 2 })).toBe(
    "1 case added, 3 already there, 2 traces without content left out",
  );
  expect(describeWritten(written)).toBe("nothing changed");
});
