import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Problem } from "../api/client";
import { faultsOf, placeOf } from "./problems";
import { SourceEditor } from "./SourceEditor";

test("each fault of a file stands at its line", () => {
  expect(faultsOf("monitor.yaml:3: `criteria` lists nothing\nmonitor.yaml:2: unknown key `a: b`")).toEqual([
    { severity: "error", line: 2, text: "unknown key `a: b`" },
    { severity: "error", line: 3, text: "`criteria` lists nothing" },
  ]);
  expect(faultsOf("the file has no monitor: it needs `agent`")).toEqual([
    { severity: "error", line: null, text: "the file has no monitor: it needs `agent`" },
  ]);
  expect(placeOf("ab\ncde\nf", 2)).toEqual([3, 6]);
  expect(placeOf("ab", 9)).toEqual([2, 2]);
});

test("a fault leads to its line, and Ctrl+Enter sends the file", () => {
  const onSave = vi.fn();
  const error = new Problem(422, "Invalid input", "monitor.yaml:2: unknown key `x`");
  render(
    <SourceEditor label="File" text={"a: 1\nx: 2\n"} onTextChange={() => {}} error={error} onSave={onSave} />,
  );
  fireEvent.click(screen.getByRole("button", { name: "line 2" }));
  const area = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "File" });
  expect([area.selectionStart, area.selectionEnd]).toEqual([5, 9]);
  fireEvent.keyDown(area, { key: "Enter", ctrlKey: true });
  expect(onSave).toHaveBeenCalledOnce();
});
