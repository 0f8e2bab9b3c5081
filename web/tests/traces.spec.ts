// The list of traces: chosen, sorted and searched in the address; why each has a score or none.
import { expect, faultsOf, test } from "./place";
import { ask, watch } from "./watched";

test("scores and reasons stand in the list, which is sorted and searched in the address", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await watch(place);
  await page.goto(`${place.url}/p/default/traces`);
  const rows = page.getByRole("rowheader");
  await expect(rows).toHaveCount(8);
  const row = (id: string) => page.getByRole("row", { name: new RegExp(id) });
  await expect(row("desk-4")).toContainText("judge error");
  await expect(row("desk-4")).toContainText("malformed");
  const { items } = await ask(place, "GET", "/verdicts?candidate=desk-2");
  for (const { status, score } of items)
    await expect(row("desk-2")).toContainText(
      `${status} ${(1 + 4 * score).toFixed(2)} on 1–5 ${score.toFixed(2)}`,
    );
  expect(await faultsOf(page)).toEqual([]);
  // Those without a score stand with their monitors, by their reason.
  await page.getByText("Why traces have no score").getByRole("link", { name: "two judges" }).press("Enter");
  await expect(page).toHaveURL(/monitors\/two%20judges\?view=traces/);
  await page.goBack();

  await expect(page.getByLabel("Score", { exact: true })).toContainText(/has no score \([1-9]/);
  await page.getByLabel("Score", { exact: true }).selectOption("false");
  await expect(page).toHaveURL(/scored=false/);
  await expect(rows).toHaveCount(1);
  await page.getByLabel("Score", { exact: true }).selectOption("any");
  await expect(rows).toHaveCount(8);

  // By keyboard: the best first, then the worst; those without a score are named as missing.
  const sort = page.getByRole("columnheader", { name: "Score" });
  await expect(sort).toHaveAttribute("aria-sort", "none");
  const sortByScore = sort.getByRole("button", { name: "Score", exact: true });
  await sortByScore.press("Enter");
  await expect(page).toHaveURL(/sort=-score/);
  await expect(sort).toHaveAttribute("aria-sort", "descending");
  await expect(rows).toHaveCount(7);
  await expect(page.getByText("Traces without a score are not listed when sorted by score.")).toBeVisible();
  await sortByScore.press("Enter");
  await expect(page).toHaveURL(/sort=score/);
  await expect(rows.first()).toContainText("desk-7");

  await page.reload();
  await expect(rows.first()).toContainText("desk-7");
  await page.getByLabel("Search").fill("DESK-3");
  await expect(page).toHaveURL(/search=DESK-3/);
  await expect(rows).toHaveText([/desk-3/]);
  // One goes on typing where one was.
  await expect(page.getByLabel("Search")).toBeFocused();
  await page.getByLabel("Search").fill("nowhere");
  await expect(page.getByRole("heading", { name: "No matching traces" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  // Nor does the field go while all traces are loaded for the first time, after a search without a match.
  await page.reload();
  await expect(page.getByRole("heading", { name: "No matching traces" })).toBeVisible();
  let answer = () => {};
  const answered = new Promise<void>((done) => {
    answer = done;
  });
  await page.route(/api\/v1\/traces\?(?!.*search=)/, async (route) => {
    await answered;
    await route.continue();
  });
  await page.getByLabel("Search").fill("");
  await expect(page).not.toHaveURL(/search/);
  await expect(page.getByRole("heading", { name: "No matching traces" })).toBeVisible();
  await expect(page.getByLabel("Search")).toBeFocused();
  answer();
  await expect(rows.first()).toContainText("desk-7");
  await page.getByLabel("Search").fill("nowhere");
  await page.getByRole("button", { name: "Show all traces" }).click();
  await expect(rows).toHaveCount(8);
  await expect(page).not.toHaveURL(/search|sort/);
  await expect(page.getByLabel("Search")).toHaveValue("");
});

test("a rubric is tried on chosen traces, its price first", async ({ sound: page, place: start }) => {
  const place = await start({ workers: 2 });
  await watch(place);
  const source = "criteria: [{name: answers, description: It answers., scale: binary}]\n";
  const made = await ask(place, "POST", "/rubrics", { name: "answers", source });
  await page.goto(`${place.url}/p/default/traces`);
  await page.getByLabel("Select desk-0").check();
  await page.getByLabel("Select desk-1").press("Space");
  await page.getByRole("button", { name: "Try a rubric…" }).click();
  await page.getByLabel("Rubric", { exact: true }).selectOption("answers");
  await page.getByRole("button", { name: "Show cost" }).click();
  await expect(page).toHaveURL(new RegExp(`rubrics/${made.id}.*view=try`));
  await page.getByLabel("Judge").fill("openai/gpt-5-mini");
  const takes = page.getByRole("region", { name: "Cost of the trial" });
  await expect(takes.getByRole("status")).toContainText("2 traces, at most 2 calls of openai/gpt-5-mini");
  const told = await ask(place, "POST", "/rubrics/try", {
    source,
    traces: ["desk-0", "desk-1"],
    judge: "openai/gpt-5-mini",
    spend: false,
  });
  expect(told.cost).toBeGreaterThan(0);
  expect((await ask(place, "GET", "/runs")).items).toEqual([]);
  await takes.getByText("Cost by trace").click();
  await expect(takes.getByRole("rowheader")).toHaveText(["desk-0", "desk-1"]);
  expect(await faultsOf(page)).toEqual([]);
  await takes.getByRole("button", { name: /^Start trial \(up to £0\.00/ }).click();
  await expect(page).toHaveURL(/runs\/run_/);
  await expect(page.getByText("2 cases", { exact: true })).toBeVisible();
});

test("no traces, a list that cannot be read, and one that is on its way", async ({ page, place: start }) => {
  const place = await start({ workers: 0 });
  const here = `${place.url}/p/default/traces`;
  await page.goto(here);
  await expect(page.getByRole("heading", { name: "No traces yet" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.route("**/api/v1/traces**", () => {});
  await page.reload();
  await expect(page.getByText("Loading traces…")).toBeVisible();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  const broken = { status: 422, json: { title: "Invalid input", detail: "it is in the log", status: 422 } };
  await page.route("**/api/v1/traces**", (route) => route.fulfill(broken));
  await page.reload();
  await expect(page.getByText("it is in the log")).toBeVisible({ timeout: 120_000 });
  expect(await faultsOf(page)).toEqual([]);
});
