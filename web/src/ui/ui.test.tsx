import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Problem, ServerGone, unwrap } from "../api/client";
import { within as address } from "../shell/SignInPage";
import { FormError } from "./Form";
import { ago, duration, money, plural, score } from "./format";
import { Loaded } from "./Loaded";
import { ShortId } from "./ShortId";
import { Tabs } from "./Tabs";
import { PlannedTime } from "./Time";

const query = (error?: Error) => ({
  data: undefined,
  error: error ?? null,
  refetch: vi.fn(),
  isFetching: false,
});

test("each reason for nothing has its own words", () => {
  const draw = (error?: Error) =>
    render(
      <Loaded query={query(error)} what="runs">
        {() => null}
      </Loaded>,
    );
  draw();
  expect(screen.getByText("Loading runs…")).toBeTruthy();
  draw(new ServerGone());
  expect(screen.getByRole("heading", { name: "The server does not answer" })).toBeTruthy();
  draw(new Problem(403, "Not allowed", "this needs a role with `read`"));
  expect(screen.getByRole("heading", { name: "Access denied" })).toBeTruthy();
  draw(new Problem(404, "Not found", "`x` is not a run id such as run_0190c4d27e1b7a3c9f50b8e6d1a24c7e"));
  expect(screen.getByText("x").tagName).toBe("CODE");
  expect(screen.queryByRole("heading", { name: "Bad request" })).toBeNull();
  draw(new Problem(404, "Not found", "no endpoint at this address; /docs/api.html lists them"));
  expect(screen.getAllByRole("heading", { name: "Not found" })).toHaveLength(2);
  const request = { path: "/api/v1/runs", time: "2026-03-20T10:00:00.000Z", id: "req_7" };
  draw(new Problem(500, "Internal server error", "it is in the server's log", {}, request));
  expect(screen.getByText("It is in the server's log.")).toBeTruthy();
  expect(screen.getByText("HTTP 500 · /api/v1/runs · 2026-03-20T10:00:00.000Z · request req_7")).toBeTruthy();
  expect(screen.getByRole("link", { name: "How to read the log" }).getAttribute("href")).toBe(
    "/docs/server.html#metrics-and-logs",
  );
  draw(new Error("Failed to fetch dynamically imported module: /assets/TracesPage-1.js"));
  expect(screen.getByRole("heading", { name: "This page could not be loaded" })).toBeTruthy();
});

test("a form shows the request id of an error that the server's log has", () => {
  const request = { path: "/api/v1/tasks", time: "2026-03-20T10:00:00.000Z", id: "req_8" };
  const { rerender } = render(
    <FormError error={new Problem(500, "Error", "it is in the log", {}, request)} />,
  );
  expect(screen.getByRole("alert").textContent).toContain("It is in the log");
  expect(screen.getByRole("alert").textContent).toContain(
    "HTTP 500 · /api/v1/tasks · 2026-03-20T10:00:00.000Z · request req_8",
  );
  rerender(<FormError error={new Problem(422, "Invalid", "the name is empty", {}, request)} />);
  expect(screen.getByRole("alert").textContent).toBe("The name is empty");
});

test("the id of a failed request comes from the header or else from the body", async () => {
  const failed = (headers: Record<string, string>) => ({
    error: { title: "Internal server error", status: 500, detail: "no more", request_id: "of-body" },
    response: new Response(null, { status: 500, headers }),
  });
  for (const [headers, id] of [
    [{ "x-request-id": "of-header" }, "of-header"],
    [{}, "of-body"],
  ] as const) {
    const error = await unwrap(Promise.resolve(failed(headers))).catch((problem: Problem) => problem);
    expect((error as Problem).details()).toContain(`request ${id}`);
  }
});

test("numbers and times are said as people say them", () => {
  expect([plural(1, "run"), plural(1200, "run")]).toEqual(["1 run", "1,200 runs"]);
  expect([score(null), score(0), score(0.765)]).toEqual(["–", "0.00", "0.77"]);
  expect([money(null), money(0), money(0.0013), money(0.25), money(12.5)]).toEqual([
    "–",
    "$0",
    "$0.0013",
    "$0.250",
    "$12.50",
  ]);
  expect([duration(null), duration(40), duration(4500), duration(61_000), duration(7_260_000)]).toEqual([
    "–",
    "40 ms",
    "4.5 s",
    "1 min 1 s",
    "2 h 1 min",
  ]);
  expect([9960, 59_600, 119_600].map(duration)).toEqual(["10 s", "1 min 0 s", "2 min 0 s"]);
  const now = Date.parse("2026-03-20T10:00:00Z");
  expect([
    ago("2026-03-20T09:59:40Z", now),
    ago("2026-03-20T08:00:00Z", now),
    ago("2026-03-17T10:00:00Z", now),
  ]).toEqual(["just now", "2 h ago", "3 days ago"]);
});

test("a time that lies ahead is shown as a date and not as an age", () => {
  const tomorrow = new Date(Date.now() + 24 * 3_600_000);
  render(<PlannedTime at={tomorrow.toISOString()} />);
  const shown = screen.getByText(/^\d{1,2} \w{3,4}, \d\d:\d\d$/);
  expect(shown.textContent).toContain(String(tomorrow.getDate()));
  expect(shown.getAttribute("datetime")).toBe(tomorrow.toISOString());
});

test("signing in leads nowhere but here", () => {
  for (const next of [
    undefined,
    "https://elsewhere.example",
    "//elsewhere.example",
    "/\\elsewhere.example",
    "javascript:alert(1)",
  ]) {
    expect(address(next)).toBe("/");
  }
  expect(address("/p/default/runs?status=fail")).toBe("/p/default/runs?status=fail");
});

test("arrows move between tabs and around their ends", () => {
  const onSelect = vi.fn();
  const tabs = ["a", "b", "c"].map((name) => ({ name, label: name.toUpperCase() }));
  render(
    <Tabs label="Views" tabs={tabs} selected="a" onSelect={onSelect}>
      here
    </Tabs>,
  );
  fireEvent.keyDown(screen.getByRole("tab", { name: "A" }), { key: "ArrowLeft" });
  expect(onSelect).toHaveBeenLastCalledWith("c");
  expect(screen.getByRole("tabpanel", { name: "A" })).toBeTruthy();
});

test("an id is shown by its end, with all of it as a tooltip", () => {
  render(<ShortId id="run_0190c4d27e1b7a3c9f50b8e6d1a24c7e" />);
  expect(screen.getByText("…a24c7e").title).toBe("run_0190c4d27e1b7a3c9f50b8e6d1a24c7e");
});
