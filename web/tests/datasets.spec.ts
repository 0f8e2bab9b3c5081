// Datasets: ten thousand cases, versions, and failures that become regression cases in two clicks.
import { answered, NAME, task } from "./crowd";
import { expect, faultsOf, type Place, test } from "./place";
import { apply, ask, finish, MONITOR, settled } from "./watched";

const N_CASES = 10_000;

/** Ten thousand cases in the first version; the second changes one, removes one and adds one. */
async function fillDataset(place: Pick<Place, "url">) {
  await ask(place, "POST", "/datasets", { name: "support", description: "Questions of customers" });
  const records = Array.from({ length: N_CASES }, (_, n) => ({
    id: `case-${n}`,
    input: `Where is order ${n}?`,
    reference: `Order ${n} is on its way.`,
  }));
  await ask(place, "POST", "/datasets/support/versions", { base: 0, records, note: "first import" });
  await ask(place, "POST", "/datasets/support/versions", {
    base: 1,
    records: [
      { ...records[7], reference: "Order 7 was lost." },
      { id: "case-new", input: "Where is my refund?" },
    ],
    remove: ["case-3"],
  });
}

test("ten thousand cases are listed, filtered, compared and exported", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  await page.goto(`${place.url}/p/default/datasets`);
  await expect(page.getByRole("heading", { name: "No datasets yet" })).toBeVisible();
  await expect(page.getByText("jurist dataset add support cases.jsonl")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await fillDataset(place);

  await page.reload();
  const row = page.getByRole("row", { name: /^support/ });
  await expect(row).toContainText("10,000");
  expect(await faultsOf(page)).toEqual([]);
  await row.getByRole("link", { name: "support" }).click();
  await expect(page.getByText("1 added, 1 changed, 1 removed")).toBeVisible();
  const table = page.getByRole("table", { name: "Cases" });
  await expect(table).toHaveAttribute("aria-rowcount", String(N_CASES + 1));
  await expect(table.getByText("Where is order 0?")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);

  // To the last case by keyboard: pages are loaded on the way, and only visible rows are drawn.
  await page.getByRole("group", { name: "Cases, scrolling" }).focus();
  await expect(async () => {
    await page.keyboard.press("End");
    await expect(table.getByText("Where is my refund?")).toBeVisible({ timeout: 300 });
  }).toPass({ timeout: 120_000, intervals: [50] });
  expect(await page.locator("tbody tr[data-index]").count()).toBeLessThan(80);

  // One case, by its text.
  await page.getByLabel("Search").fill("order 9876?");
  await expect(table.getByRole("rowheader")).toHaveCount(1);
  await table.getByRole("button", { name: "Where is order 9876?" }).click();
  const dialog = page.getByRole("dialog", { name: "Case case-9876" });
  await expect(dialog).toContainText("Order 9876 is on its way.");
  expect(await faultsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).click();

  // One split; the numbers are those of the API.
  const { newest } = await ask(place, "GET", "/datasets/support");
  expect(newest.n_dev + newest.n_test).toBe(N_CASES);
  await page.getByLabel("Search").fill("");
  await page.getByLabel("Split").selectOption("test");
  await expect(page).toHaveURL(/split=test/);
  await expect(table.getByText("test", { exact: true }).first()).toBeVisible();
  await expect(table.getByText("dev", { exact: true })).toHaveCount(0);

  // An export has the cases of the shown split.
  await page.getByRole("button", { name: "Export" }).click();
  const link = page.getByRole("menuitem", { name: "JSON Lines, test cases" });
  const file = await fetch(new URL((await link.getAttribute("href")) ?? "", place.url));
  expect((await file.text()).trim().split("\n")).toHaveLength(newest.n_test);
  await page.keyboard.press("Escape");

  // Another version, and what changed.
  await page.goto(`${place.url}/p/default/datasets/support?view=changes`);
  const changes = page.getByRole("table", { name: "Changes" });
  await expect(changes.getByRole("row", { name: /case-7\b/ })).toContainText("reference");
  await expect(changes.getByRole("row", { name: /case-3\b/ })).toContainText("removed");
  await expect(changes.getByRole("row", { name: /case-new/ })).toContainText("added");
  await changes
    .getByRole("row", { name: /case-7\b/ })
    .getByRole("button")
    .click();
  const both = page.getByRole("dialog", { name: "Case case-7" });
  await expect(both.getByRole("region", { name: "v1" })).toContainText("Order 7 is on its way.");
  await expect(both.getByRole("region", { name: "v2" })).toContainText("Order 7 was lost.");
  expect(await faultsOf(page)).toEqual([]);
  await both.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("Version").selectOption("1");
  await expect(page).toHaveURL(/version=1/);
  await expect(page.getByText("first import")).toBeVisible();

  await page.getByRole("button", { name: "Archive" }).click();
  await expect(page.getByRole("button", { name: "Restore" })).toBeVisible();
  await page.goto(`${place.url}/p/default/datasets`);
  await expect(page.getByRole("heading", { name: "No datasets yet" })).toBeVisible();
  await page.getByLabel("Show archived").check();
  await expect(page.getByRole("row", { name: /^support archived/ })).toBeVisible();
});

test("a failed trace becomes a regression case with its rubric in two clicks", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  await apply(place, "desk", MONITOR);
  await finish(place, "bad", "1");
  await finish(place, "good", "5");
  await settled(place, "desk", 2);
  await page.goto(`${place.url}/p/default/traces/bad`);
  await page.getByRole("button", { name: "Add to dataset…" }).click();
  const dialog = page.getByRole("dialog", { name: "Add 1 trace to a dataset" });
  await expect(dialog.getByLabel("Name")).toHaveValue("regressions");
  await expect(dialog.getByLabel("Rubric").locator("option:checked")).toContainText(
    "by which the trace failed",
  );
  expect(await faultsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("1 case added: regressions v1.");
  await expect(dialog.getByRole("status")).toBeFocused();
  const { items } = await ask(place, "GET", "/datasets/regressions/cases");
  expect(items).toMatchObject([{ trace: "bad", rubric: { name: expect.any(String) } }]);

  // The dataset that was chosen before is preselected: on the list, for all traces of the filter.
  await page.goto(`${place.url}/p/default/traces?agent=desk`);
  await page.getByRole("button", { name: "Add all matching to dataset…" }).click();
  const list = page.getByRole("dialog", { name: "Add the matching traces to a dataset" });
  await expect(list.getByLabel("Dataset")).toHaveValue("regressions");
  await list.getByRole("button", { name: "Add", exact: true }).click();
  await expect(list.getByRole("status")).toContainText("1 case added, 1 already there: regressions v2.");
  await list.getByRole("link", { name: "regressions v2" }).click();
  await expect(page.getByRole("table", { name: "Cases" }).getByRole("rowheader")).toHaveCount(2);

  // Selected traces have a button of their own.
  await page.goto(`${place.url}/p/default/traces?agent=desk`);
  await page.getByLabel("Select good").check();
  await expect(page.getByRole("button", { name: "Add all matching to dataset…" })).toBeVisible();
  await page.getByRole("button", { name: "Add selected to dataset…" }).click();
  const selected = page.getByRole("dialog", { name: "Add 1 trace to a dataset" });
  await selected.getByRole("button", { name: "Add", exact: true }).click();
  await expect(selected.getByRole("status")).toContainText("1 already there: regressions v2.");
  await page.goto(`${place.url}/p/default/datasets/regressions`);
  await expect(page.getByRole("table", { name: "Cases" }).getByRole("rowheader")).toHaveCount(2);

  // By keyboard: the dialog of a case has the link to its trace.
  await page.getByRole("group", { name: "Cases, scrolling" }).focus();
  await page.keyboard.press("Enter");
  const one = page.getByRole("dialog", { name: /^Case / });
  await expect(one.getByRole("link", { name: /^trace / })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("group", { name: "Cases, scrolling" })).toBeFocused();

  // A case is removed from the newest version, and stays in the older ones.
  await page.goto(`${place.url}/p/default/datasets/regressions?version=2`);
  await page.getByRole("table", { name: "Cases" }).getByRole("rowheader").first().getByRole("button").click();
  await page.getByRole("button", { name: "Remove from the dataset" }).click();
  await expect(page.getByText("It stays in older versions.")).toBeVisible();
  await expect(page.getByRole("table", { name: "Cases" }).getByRole("rowheader")).toHaveCount(1);
  await page.goto(`${place.url}/p/default/datasets/regressions?version=9`);
  await expect(page.getByRole("heading", { name: "There is no version 9" })).toBeVisible();
  await page.getByRole("button", { name: "Show the newest version" }).click();
  await expect(page.getByRole("table", { name: "Cases" }).getByRole("rowheader")).toHaveCount(1);
});

test("the items of an annotation task become cases with the labels of people", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  const id = await task(place);
  await answered(place, id, "Ana", () => 4);
  await page.goto(`${place.url}/p/default/annotate/${id}/overview`);
  await expect(page.getByRole("heading", { name: NAME })).toBeVisible();
  await page.getByRole("button", { name: "Add to dataset…" }).click();
  const dialog = page.getByRole("dialog", { name: "Add the items of the task to a dataset" });
  await expect(dialog.getByLabel("Rubric").locator("option:checked")).toHaveText(
    "the rubric of the task, if it has one",
  );
  expect(await faultsOf(page)).toEqual([]);
  await dialog.getByLabel("Name").fill("reviewed");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText(/^\d+ cases added: reviewed v1\.$/);
  const { progress } = await ask(place, "GET", `/tasks/${id}`);
  const { items } = await ask(place, "GET", "/datasets/reviewed/cases");
  expect(items).toHaveLength(progress.n_items);
});

test("an item that people disagree on becomes a case with its answer", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  const id = await task(place);
  await answered(place, id, "Ana", () => 5);
  await answered(place, id, "Ben", () => 1);
  await page.goto(`${place.url}/p/default/annotate/${id}/disputes`);
  await expect(page.getByRole("list", { name: "Disputes" })).toBeVisible();
  await page.getByRole("button", { name: "Add to dataset…" }).click();
  const dialog = page.getByRole("dialog", { name: "Add the item to a dataset" });
  expect(await faultsOf(page)).toEqual([]);
  await dialog.getByLabel("Name").fill("disputed");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText("1 case added: disputed v1.");
  const { items } = await ask(place, "GET", "/datasets/disputed/cases");
  expect(items).toHaveLength(1);
});
