import { act, fireEvent, render, screen } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { KeyName } from "./KeyName";
import { SortHead } from "./SortHead";
import { Table } from "./Table";
import { useOverflow } from "./useOverflow";

afterEach(() => vi.unstubAllGlobals());

test("cells of a stacked table have the heads that a narrow screen does not draw", () => {
  const columns = [
    { name: "name", head: "Alert", cell: () => "it fell" },
    { name: "state", head: "State", cell: () => "active" },
    { name: "actions", head: <span>Actions</span>, cell: () => "Snooze" },
  ];
  const table = (stacked: boolean) =>
    render(
      <Table caption="Alerts" columns={columns} rows={["one"]} keyOf={(row) => row} stacked={stacked} />,
    );
  table(true);
  expect(screen.getByRole("cell", { name: "active" }).dataset.head).toBe("State");
  expect(screen.getByRole("cell", { name: "Snooze" }).dataset.head).toBeUndefined();
  expect(screen.getByRole("rowheader").dataset.head).toBeUndefined();
});

test("a child that replaces another is observed, so that its size counts", async () => {
  const observed = new Set<Element>();
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe = (element: Element) => observed.add(element);
      disconnect = () => observed.clear();
    },
  );
  function Frame() {
    const frame = useRef<HTMLDivElement>(null);
    useOverflow(frame, "inline");
    return <div ref={frame} data-testid="frame" />;
  }
  render(<Frame />);
  const frame = screen.getByTestId("frame");
  const [first, second] = [document.createElement("p"), document.createElement("p")];
  await act(async () => frame.replaceChildren(first));
  await vi.waitFor(() => expect(observed).toEqual(new Set([frame, first])));
  await act(async () => frame.replaceChildren(second));
  await vi.waitFor(() => expect(observed).toEqual(new Set([frame, second])));
});

test("shortcuts are named by the keys of this keyboard", () => {
  render(<KeyName name="Ctrl K" />);
  expect(screen.getByText("Ctrl K")).toBeTruthy();
  vi.stubGlobal("navigator", { platform: "MacIntel" });
  render(<KeyName name="Ctrl K" />);
  expect(screen.getByText("⌘K").getAttribute("aria-hidden")).toBe("true");
  expect(screen.getByText("Command K")).toBeTruthy();
  render(<KeyName name="Ctrl Space" />);
  expect(screen.getByText("Ctrl Space")).toBeTruthy();
});

test("a head that sorts has its explanation beside it, not in its button", () => {
  const onSort = vi.fn();
  render(<SortHead label="Score" sorted="none" onSort={onSort} help={{ about: "From 0 to 1." }} />);
  fireEvent.click(screen.getByRole("button", { name: "Score" }));
  expect(onSort).toHaveBeenCalledOnce();
  expect(screen.getByRole("button", { name: "Explain score" })).toBeTruthy();
});
