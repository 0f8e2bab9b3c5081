// The first page of a project: full, empty, and before a server that is away.
import { fixed } from "../src/chart/figures";
import { answered, NAME, task } from "./crowd";
import { expect, faultsOf, test } from "./place";
import { apply, ask, DESKS, finish, MONITOR, settled, watch } from "./watched";

test("agents with their figures, the month, alerts and runs, each leading on", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await page.goto(place.url);
  await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Create a monitor" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Copy" })).toHaveCount(3);
  expect(await faultsOf(page)).toEqual([]);
  await watch(place);
  await finish(place, "elsewhere", "5", "unwatched");
  await page.reload();
  const rows = page.getByRole("table", { name: "Agents" }).getByRole("row");
  const desk = rows.filter({ has: page.getByRole("link", { name: "desk", exact: true }) }).first();
  const told = await place.jurist("monitor", "show", "desk", "--server", place.url);
  await expect(desk).toContainText(
    /overall +score \S+ \[\S+ \S+\] \((\S+ \[\S+ \S+\])\)/.exec(told)?.[1] ?? "none",
  );
  await expect(desk).toContainText(/judge errors (\S+ %)/.exec(told)?.[1] ?? "none");
  await expect(desk).toContainText("7 of 8");
  // Bars instead of a radar, since the monitor has two criteria; a chart that scrolls is a group.
  const bars = page.getByRole("figure", { name: "Score by criterion: desk" });
  await expect(bars.getByRole("img")).toBeVisible();
  await expect(bars.getByRole("group", { name: "Score by criterion: desk" })).toHaveCount(0);
  await expect(rows.filter({ hasText: "unwatched" })).toContainText("none");
  const [, spent = "none", share = "none"] =
    /(£\S+) (?:spent )?of £50\.00\D+(\d+ %)/.exec(await place.jurist("spend", "--server", place.url)) ?? [];
  const month = page.getByRole("region", { name: "This month" });
  await expect(month).toContainText(spent);
  await expect(month).toContainText(`spent of £50.00 (${share})`);
  await expect(month).toContainText("projected month-end spend");
  expect(await faultsOf(page)).toEqual([]);

  // A cap that nothing fits under is told of here.
  await ask(place, "PUT", "/spend/cap", { amount: 0.0001, currency: "USD" });
  await finish(place, "late", "4");
  await expect
    .poll(async () => (await ask(place, "GET", "/alerts")).items.length, { timeout: 120_000 })
    .toBeGreaterThan(0);
  await page.reload();
  const alerts = page.getByRole("region", { name: "Active alerts" });
  await expect(alerts).toContainText("Judging has stopped");
  expect(await faultsOf(page)).toEqual([]);
  await alerts.getByRole("link", { name: "Alerts" }).click();
  await expect(page.getByRole("heading", { name: "Alerts" })).toBeVisible();
  await page.getByRole("link", { name: "Overview" }).click();
  await desk.getByRole("link", { name: "desk", exact: true }).first().click();
  await expect(page).toHaveURL(/traces\?agent=desk/);
});

test("what cannot be loaded is said, and is there once it can", async ({ page, place: start }) => {
  const place = await start({ workers: 0 });
  await page.route("**/api/v1/agents", (route) => route.abort());
  await page.goto(place.url);
  await expect(page.getByRole("heading", { name: "The server does not answer" })).toBeVisible();
  await page.unroute("**/api/v1/agents");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
});

test("what people are asked stands there, and leads to how far they agree", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  const id = await task(place);
  await answered(place, id, "Ana", () => 4);
  await finish(place, "one", "4");
  await page.goto(place.url);
  const people = page.getByRole("table", { name: "Annotation tasks" });
  const { progress } = (await ask(place, "GET", `/tasks/${id}`)) as { progress: Record<string, number> };
  await expect(people.getByRole("row", { name: new RegExp(NAME) })).toContainText(
    `${progress.n_submitted} of ${progress.n_wanted}`,
  );
  expect(await faultsOf(page)).toEqual([]);
  await people.getByRole("link", { name: `Agreement on ${NAME}` }).click();
  await expect(page).toHaveURL(new RegExp(`${id}/agreement`));
});

test("which criterion fell last week is said in words, and agents are drawn over each other", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await apply(place, "desks", DESKS);
  for (const [at, worth] of ["5", "4", "3", "5"].entries()) {
    await finish(place, `desk-${at}`, worth);
    await finish(place, `help-${at}`, worth === "3" ? "5" : worth, "help");
  }
  await settled(place, "desks", 8);
  await apply(place, "alone", MONITOR.replace("agent: desk", "agent: elsewhere"));
  // What was is what is, but for one criterion; a server has no past of its own on its first day.
  const now = await ask(place, "GET", "/monitors/desks/estimates");
  const [judged] = now.judges;
  const kind = judged.criteria.find((it: { criterion: string }) => it.criterion === "kind");
  await page.route(/monitors\/desks\/estimates\?.*until=/, (route) => {
    const criteria = judged.criteria.map((it: typeof kind) =>
      it === kind ? { ...it, score: { ...it.score, mean: it.score.mean + 0.125, se: 0.01 } } : it,
    );
    return route.fulfill({ json: { ...now, judges: [{ ...judged, criteria }] } });
  });
  await page.goto(`${place.url}/p/default?monitor=desks`);
  const week = page.getByRole("region", { name: "Last 7 days compared with the 7 days before" });
  await expect(week).toContainText("Significant drops: kind of desk, help by 0.50 on 1–5 (0.125).");
  const row = week.getByRole("row").nth(1);
  await expect(row).toContainText("fell");
  await expect(row).toContainText("desk, help");
  await expect(row).toContainText(fixed(kind.score.mean, 3));
  await expect(row).toContainText("-0.50 on 1–5 [-0.58, -0.42] -0.125 [-0.145, -0.105]");
  await expect(week.getByRole("row").nth(2)).toContainText("not significant");

  // The picture is the server's, in the page's own colours; its table is behind it.
  const radar = await ask(place, "GET", "/monitors/desks/radar?agent=desk&agent=help");
  const picture = page.getByRole("figure", { name: "Score by criterion: desk, help" });
  await expect(picture.getByRole("img")).toBeVisible();
  await expect(picture.locator("style")).toHaveCount(0);
  await picture.getByText("Show as table").press("Enter");
  const rows = picture.getByRole("row");
  await expect(rows).toHaveCount(radar.table.rows.length + 1);
  for (const [at, cells] of radar.table.rows.entries()) {
    await expect(rows.nth(at + 1)).toHaveText(cells.join(""));
  }
  const ink = () =>
    picture
      .locator("svg .s0.stroke")
      .first()
      .evaluate((it) => getComputedStyle(it).stroke);
  await page.emulateMedia({ colorScheme: "light" });
  const byDay = await ink();
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await ink()).not.toBe(byDay);
  expect(await faultsOf(page)).toEqual([]);
  await page.getByLabel("Agent", { exact: true }).selectOption("help");
  await expect(page).toHaveURL(/monitor=desks&agent=help/);
  await expect(page.getByRole("figure", { name: "Score by criterion: help" })).toBeVisible();
  await page.getByLabel("Monitor", { exact: true }).selectOption("alone");
  await expect(page.getByRole("heading", { name: "No day has a score yet" })).toBeVisible();
  await week.getByRole("link", { name: "kind" }).press("Enter");
  await expect(page).toHaveURL(/monitors\/desks\?view=trend&criterion=kind/);
});

test("what of the overview cannot be had says so by itself, and nothing moves", async ({
  page,
  place: start,
}) => {
  const place = await start({ workers: 1 });
  await apply(place, "desk", MONITOR);
  let open = () => {};
  const opened = new Promise<void>((done) => {
    open = done;
  });
  await page.route("**/monitors/desk/radar*", async (route) => {
    await opened;
    await route.fulfill({ status: 500, json: { title: "Internal server error", detail: "no radar today" } });
  });
  await page.goto(place.url);
  await expect(page.getByText("Loading the radar…")).toBeVisible();
  const runs = page.getByRole("heading", { name: "Latest runs" });
  await expect(page.getByText(/^No comparison yet/)).toBeVisible();
  await expect(page.getByRole("heading", { name: "No day has a score yet" })).toBeVisible();
  const before = await runs.boundingBox();
  open();
  await expect(page.getByText("no radar today")).toBeVisible();
  expect((await runs.boundingBox())?.y).toBe(before?.y);
  await expect(page.getByText("no projection yet")).toBeVisible();
});
