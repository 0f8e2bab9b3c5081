import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { fitTokens, MOST_COLOURED } from "./colours";
import { SourceEditor } from "./SourceEditor";

const FILE = '# A rubric\nthreshold: 0.7\ncriteria:\n  - name: "tone"\n    scale: binary\n';

function renderEditor(text: string) {
  const editor = (value: string) => (
    <SourceEditor
      label="File"
      text={value}
      onTextChange={() => {}}
      error={null}
      onSave={() => {}}
      problems={[{ severity: "error", line: 2, text: "too low" }]}
    />
  );
  const { container, rerender } = render(editor(text));
  return {
    layer: () => container.querySelector<HTMLElement>("[data-layer]"),
    container,
    change: (value: string) => rerender(editor(value)),
  };
}

test("lines that changed have no colours until they are coloured again", () => {
  const tokens = (text: string) => [{ text, kind: "string" }];
  const coloured = ["a", "b", "c", "d"].map(tokens);
  expect(fitTokens("a\nb\nc\nd", coloured)).toEqual(coloured);
  // One line is changed, one is added, one is removed.
  expect(fitTokens("a\nx\nc\nd", coloured)).toEqual([tokens("a"), [{ text: "x" }], tokens("c"), tokens("d")]);
  expect(fitTokens("a\nb\n\nc\nd", coloured)).toEqual([
    ...coloured.slice(0, 2),
    [{ text: "" }],
    ...coloured.slice(2),
  ]);
  expect(fitTokens("a\nd", coloured)).toEqual([tokens("a"), tokens("d")]);
  expect(fitTokens("", coloured)).toEqual([[{ text: "" }]]);
});

test("a file has colours behind its text, which only eyes see", { timeout: 60_000 }, async () => {
  const { layer, container, change } = renderEditor(FILE);
  const area = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "File" });
  await waitFor(() => expect(layer()).not.toBeNull(), { timeout: 50_000 });
  expect(layer()?.textContent).toBe(FILE);
  expect(layer()?.getAttribute("aria-hidden")).toBe("true");
  const kindOf = (text: string) => within(layer() as HTMLElement).getByText(text).dataset.kind;
  expect(["# A rubric", "threshold", "0.7", '"tone"', "binary"].map(kindOf)).toEqual([
    "comment",
    "keyword",
    "number",
    "string",
    "string",
  ]);
  // The text, its name and the marks of problems are those of before.
  expect(area.value).toBe(FILE);
  expect(area.getAttribute("wrap")).toBe("off");
  expect(container.querySelector('[data-severity="error"]')?.textContent).toBe("2");
  // What is written is in the layer at once.
  change(`${FILE}strict: true\n`);
  expect(layer()?.textContent).toBe(`${FILE}strict: true\n`);
  // Both scroll together.
  area.scrollLeft = 40;
  fireEvent.scroll(area);
  expect(layer()?.querySelector("pre")?.style.transform).toBe(`translate(-${area.scrollLeft}px, 0px)`);
  // A file that has become too long has none.
  change("a".repeat(MOST_COLOURED + 1));
  expect(layer()).toBeNull();
});
