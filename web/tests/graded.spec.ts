// One trace: why it has a score or none, and what each grader said.
import { expect, faultsOf, test } from "./place";
import { apply, ask, finish, MONITOR, watch } from "./watched";

test("why a trace has no score, grades side by side, and quotes where they stand", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await watch(place);
  await page.goto(`${place.url}/p/default/traces/desk-4`);
  const why = page.getByRole("region", { name: "Why it has a score, or none" });
  await expect(why.getByText("judge error").first()).toBeVisible();
  await expect(why).toContainText("malformed: the reply has no `score`");
  await expect(why).toContainText("sampled with probability 100 %");
  expect(await faultsOf(page)).toEqual([]);

  // Two judges, and where they are apart.
  await page.goto(`${place.url}/p/default/traces/desk-2`);
  await expect(why).toContainText("judges disagree: 0.50 apart");
  const grades = page.getByRole("region", { name: "Grades" });
  const tables = grades.getByRole("table");
  await expect(tables).toHaveCount(2);
  const two = tables.filter({ hasText: "gpt-5-nano" });
  const { items } = await ask(
    place,
    "GET",
    "/grades?candidate=desk-2&criterion=right&grader=openai/gpt-5-nano",
  );
  await expect(two.getByRole("row", { name: /^right/ })).toContainText(items[0].score.toFixed(2));
  await expect(two.getByRole("row", { name: /^right/ })).toContainText("✕ fails");
  expect(await faultsOf(page)).toEqual([]);

  // Where a server tells reasons and quotes, they lead into the steps.
  await page.route("**/api/v1/grades?*", async (route) => {
    const answer = await (await route.fetch()).json();
    const found = { in: "trace.2.text", start: 0, end: 6 };
    for (const it of answer.items) {
      it.reason = "It says what it is worth.";
      it.evidence = [{ quote: "Answer", found }, { quote: "never said" }];
    }
    await route.fulfill({ json: answer });
  });
  await page.reload();
  await expect(grades.getByText("It says what it is worth.").first()).toBeVisible();
  await expect(grades.getByText("does not stand there").first()).toBeVisible();
  await grades.getByRole("button", { name: "Answer" }).first().click();
  await expect(page).toHaveURL(/step=2/);
  await expect(page.getByRole("article", { name: /^Step 2/ })).toBeInViewport();
  expect(await faultsOf(page)).toEqual([]);
});

test("a trace that nobody watched, and one that was left out, say so", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await finish(place, "alone", "4", "nobody");
  await page.goto(`${place.url}/p/default/traces/alone`);
  await expect(page.getByText("No monitor watched its agent when it finished")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await apply(place, "desk", `${MONITOR}filter: {min_steps: 50}\n`);
  await finish(place, "short", "4");
  await expect.poll(async () => (await ask(place, "GET", "/traces/short/decisions")).length).toBe(1);
  await page.goto(`${place.url}/p/default/traces/short`);
  await expect(page.getByRole("region", { name: "Why it has a score, or none" })).toContainText("filtered");
});
