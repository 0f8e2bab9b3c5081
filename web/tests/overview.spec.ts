// The first page of a project: full, empty, and before a server that is away.
import { expect, faultsOf, test } from "./place";
import { ask, finish, watch } from "./watched";

test("agents with their figures, the month, alerts and runs, each leading on", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await page.goto(place.url);
  await expect(page.getByRole("heading", { name: /^Nothing is here yet/ })).toBeVisible();
  await expect(page.getByRole("link", { name: "Write one" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await watch(place);
  await finish(place, "elsewhere", "5", "unwatched");
  await page.reload();
  const rows = page.getByRole("table", { name: "Agents" }).getByRole("row");
  const desk = rows.filter({ has: page.getByRole("link", { name: "desk", exact: true }) }).first();
  const told = await place.jurist("monitor", "show", "desk", "--server", place.url);
  await expect(desk).toContainText(/whole +score (\S+ \[\S+ \S+\])/.exec(told)?.[1] ?? "none");
  await expect(desk).toContainText(/judge errors (\S+ %)/.exec(told)?.[1] ?? "none");
  await expect(desk).toContainText("7 of 8");
  await expect(rows.filter({ hasText: "unwatched" })).toContainText("nobody");
  const spent = /(£\S+) of £50\.00, \d+ %/.exec(await place.jurist("spend", "--server", place.url))?.[0];
  await expect(page.getByText(spent ?? "none")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);

  // A cap that nothing fits under is told of here.
  await ask(place, "PUT", "/spend/cap", { amount: 0.0001, currency: "USD" });
  await finish(place, "late", "4");
  await expect
    .poll(async () => (await ask(place, "GET", "/alerts")).items.length, { timeout: 30_000 })
    .toBeGreaterThan(0);
  await page.reload();
  const alerts = page.getByRole("region", { name: "Alerts that hold" });
  await expect(alerts).toContainText("judging has stopped");
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
  await expect(page.getByRole("heading", { name: /^Nothing is here yet/ })).toBeVisible();
});
