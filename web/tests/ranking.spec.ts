// Two agents before a judge, task by task, and what that says of them.
import { fixed, percent, percentRange, signed, signedRange } from "../src/chart/figures";
import { expect, faultsOf, test } from "./place";
import { apply, ask, DESKS, finish, settled } from "./watched";

test("strengths, wins and the place are those of the API and of the command line", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await page.goto(`${place.url}/p/default/ranking`);
  await expect(page.getByRole("heading", { name: "No comparisons yet" })).toBeVisible();
  await expect(page.locator("pre")).toContainText("jurist monitor compare MONITOR");
  expect(await faultsOf(page)).toEqual([]);
  await apply(place, "desks", DESKS);
  await page.reload();
  await expect(page.locator("pre")).toContainText(/jurist monitor compare desks .\s+desk:version=1 /);
  // The second desk is better more often than not.
  const worths = ["53", "24", "35", "45", "33", "54", "25", "14"];
  for (const [at, [desk = "3", help = "3"]] of worths.map((it) => it.split("")).entries()) {
    await finish(place, `desk-${at}`, desk, "desk", false, `task ${at}`);
    await finish(place, `help-${at}`, help, "help", false, `task ${at}`);
  }
  await settled(place, "desks", 2 * worths.length);
  const compare = ["monitor", "compare", "desks", "desk", "help", "--server", place.url];
  await place.jurist(...compare, "--yes");
  await expect
    .poll(async () => (await ask(place, "GET", "/ranking")).n, { timeout: 120_000 })
    .toBe(worths.length);
  await page.reload();
  const told = await ask(place, "GET", "/ranking");
  expect(told.sides).toEqual(["help", "desk"]);
  expect(told.wins).toEqual([
    [0, 5],
    [2, 0],
  ]);
  const strengths = page.getByRole("table", { name: "Strengths", exact: true });
  for (const it of told.bradley_terry) {
    const row = strengths.getByRole("row", { name: new RegExp(`^${it.rank}\\. ${it.side}`) });
    await expect(row).toContainText(`${signed(it.strength)} ${signedRange(it.interval)}`);
    await expect(row).toContainText(fixed(it.elo, 0));
  }
  const picture = page.getByRole("figure", { name: "Strengths with 95 % intervals" });
  await expect(picture.getByRole("img")).toBeVisible();
  const wins = page.getByRole("table", { name: "How often each row won against each column" });
  await expect(wins.getByRole("row", { name: /^help/ })).toContainText(`${percent(told.rates[0][1])} 5 : 2`);
  // One comparison alone is what the command line tells of.
  const listed = await place.jurist("monitor", "comparisons", "desks", "--server", place.url, "--json");
  const [one] = JSON.parse(listed);
  expect([one.n_a, one.n_b, one.n_ties, one.n_errors]).toEqual([2, 5, told.ties, told.errors]);
  await expect(page.getByText(`of 8 comparisons with 1 tie`)).toBeVisible();
  const { rate, interval } = told.position;
  expect(one.first_rate).toBeCloseTo(rate);
  await expect(page.getByText("The answer shown first won")).toContainText(
    `${percent(rate)} ${percentRange(interval)}`,
  );
  expect(await faultsOf(page)).toEqual([]);

  await page.getByLabel("Judge").selectOption("openai/gpt-5-mini");
  await expect(page).toHaveURL(/judge=openai/);
  await expect(strengths).toBeVisible();
  await page.goto(`${place.url}/p/default/ranking?monitor=never-was`);
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
});

test("a ranking that cannot be had says so", async ({ page, open }) => {
  await page.route("**/api/v1/ranking*", (route) => route.abort());
  await page.goto(`${open}/p/default/ranking`);
  await expect(page.getByRole("heading", { name: "The server does not answer" })).toBeVisible();
});
