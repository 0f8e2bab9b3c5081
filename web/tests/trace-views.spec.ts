// Views of one trace and of the list of traces, errors with their request ids, and links into the book.
import { readFileSync } from "node:fs";
import { expect, faultsOf, sendTrace, test } from "./place";
import { TIMED } from "./watched";

test("a trace is shown as steps, as a timeline and as JSON", async ({ sound: page, place: start }) => {
  const place = await start({});
  await sendTrace(place, "timed", "desk", TIMED);
  await page.goto(`${place.url}/p/default/traces/timed?view=timeline`);
  const timeline = page.getByRole("region", { name: "Timeline" });
  await expect(timeline.getByRole("rowheader")).toHaveCount(4);
  const call = timeline.getByRole("row", { name: /find_order/ });
  await expect(call).toContainText("500 ms");
  await expect(call).toContainText("failed");
  await expect(timeline.getByRole("row", { name: /Look it up/ })).toContainText("812 → 44");
  expect(await faultsOf(page)).toEqual([]);
  await timeline.getByRole("button", { name: "Parts of step 2" }).click();
  await expect(call).toHaveCount(0);
  await timeline.getByRole("button", { name: "Parts of step 2" }).press("Enter");

  // A row leads to its step: that of a call to its result.
  await call.getByRole("button", { name: /find_order/ }).click();
  await expect(page).toHaveURL(/step=3/);
  await expect(page.getByRole("tab", { name: "Steps" })).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("article", { name: "Step 3, tool" })).toBeVisible();

  await page.getByRole("tab", { name: "Raw JSON" }).click();
  await expect(page.getByRole("region", { name: "Raw JSON" })).toContainText('"duration_ms": 2000');
  expect(await faultsOf(page)).toEqual([]);
});

test("a view of the list is saved, chosen and deleted; chosen traces are exported", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  for (const id of ["one", "two", "three"])
    await sendTrace(place, id, id === "three" ? "other" : "desk", TIMED);
  await page.goto(`${place.url}/p/default/traces`);
  const rows = page.getByRole("rowheader");
  await expect(rows).toHaveCount(3);
  // A value in a row is a filter.
  await page.getByRole("link", { name: "desk", exact: true }).first().click();
  await expect(page).toHaveURL(/agent=desk/);
  await expect(rows).toHaveCount(2);
  await page.getByRole("button", { name: /^View:/ }).click();
  await page.getByRole("menuitem", { name: "Save this view…" }).click();
  await page.getByLabel("Name").fill("Of the desk");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("button", { name: /^View:/ })).toContainText("Of the desk");

  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect(rows).toHaveCount(3);
  await page.reload();
  await page.getByRole("button", { name: /^View:/ }).click();
  await page.getByRole("menuitemradio", { name: "Of the desk" }).click();
  await expect(rows).toHaveCount(2);

  await page.getByLabel("Select all shown traces").check();
  const exported = async (name: string) => {
    await page.getByRole("button", { name: "Export the selection" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name }).click(),
    ]);
    return readFileSync(await download.path(), "utf8");
  };
  const table = (await exported("Table (CSV)")).trim().split("\r\n");
  expect(table).toHaveLength(3);
  expect(table[0]).toContain("id,title,agent");
  const lines = (await exported("Traces with steps (JSON Lines)")).trim().split("\n");
  expect(lines.map((it) => JSON.parse(it).trace.steps.length)).toEqual([4, 4]);

  await page.getByRole("button", { name: /^View:/ }).click();
  await page.getByRole("menuitem", { name: "Delete views…" }).click();
  await page.getByRole("button", { name: "Delete Of the desk" }).click();
  await expect(page.getByText("No saved views.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: /^View:/ })).toContainText("custom");

  // Traces began in March: the last week has none, and two days have all.
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Time range").selectOption("last 7 days");
  await expect(page).toHaveURL(/from=/);
  await page.getByLabel("Time range").selectOption("between days…");
  await page.getByLabel("Since (UTC)").fill("2026-01-01");
  await page.getByLabel("Until (UTC)").fill("2099-12-31");
  await expect(rows).toHaveCount(3);
  await expect(page).toHaveURL(/until=2100-01-01/);
});

test("an error says what happened, what to do and its request id", async ({ sound: page, open }) => {
  const [answer] = await Promise.all([
    page.waitForResponse(/api\/v1\/traces\/never-was$/),
    page.goto(`${open}/p/default/traces/never-was`),
  ]);
  const id = answer.headers()["x-request-id"] ?? "";
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect((await answer.json()).request_id).toBe(id);
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  await expect(page.getByText("Check the address. It may also have been deleted.")).toBeVisible();
  await expect(page.getByText(/^HTTP 404 · .* · request [0-9a-f]{16}$/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Copy" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
});

test("terms and pages lead into the book", async ({ sound: page, open }) => {
  await page.goto(`${open}/p/default/monitors`);
  await expect(page.getByRole("link", { name: "Documentation" })).toHaveAttribute(
    "href",
    "/docs/monitor.html",
  );
  await page.keyboard.press("?");
  await expect(page.getByRole("link", { name: "Stratum" })).toHaveAttribute(
    "href",
    "/docs/glossary.html#stratum",
  );
  await page.keyboard.press("Escape");
  // An explanation with a link stays while the pointer or the focus is in it.
  await page.goto(`${open}/p/default/runs`);
  await page.getByRole("link", { name: "support desk" }).first().click();
  await page.getByRole("button", { name: /^pass rate/ }).focus();
  const more = page.getByRole("link", { name: "Glossary" });
  await expect(more).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(more).toBeFocused();
  await expect(more).toHaveAttribute("href", "/docs/glossary.html#verdict");
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(more).toBeHidden();
});
