// Two runs of one suite, before and after an answer got worse.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, faultsOf, test } from "./place";

const suite = (answers: Record<string, string>) => ({
  name: "capitals",
  evals: Object.entries(answers).map(([name, response]) => ({
    name,
    prompt: "What is the capital of France?",
    response,
    checks: [
      { type: "contains", value: "Paris" },
      { type: "ends-with", value: "." },
    ],
  })),
});

test("what got worse stands first, with the differences of the command line", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 1 });
  await page.goto(`${place.url}/p/default/compare`);
  await expect(page.getByRole("heading", { name: "Two runs are needed" })).toBeVisible();
  const graded = async (file: string, answers: Record<string, string>) => {
    writeFileSync(join(place.folder, file), JSON.stringify(suite(answers)));
    await place.jurist("eval", file, "--server", place.url, "--reporter", `json=${file}.run.json`);
  };
  await graded("before.json", { one: "Paris.", two: "Lyon", three: "Paris.", four: "Paris", gone: "Paris." });
  await graded("after.json", { one: "Lyon", two: "Paris.", three: "Paris.", four: "Paris" });
  await page.goto(`${place.url}/p/default/runs`);
  await page.getByRole("link", { name: "capitals" }).first().click();
  await page.getByRole("link", { name: "compare" }).click();
  await expect(page.getByRole("heading", { name: "2 cases of 4 changed" })).toBeVisible();
  const cases = page.getByRole("table", { name: "Cases" });
  await expect(cases.getByRole("rowheader")).toHaveText(["one", "two"]);
  await expect(cases.getByRole("row", { name: /^one/ })).toContainText("-1.000");
  const told = await place.jurist("compare", "before.json.run.json", "after.json.run.json");
  const totals = page.getByRole("table", { name: "Differences" });
  for (const name of ["score", "pass rate"]) {
    const figures = new RegExp(`^${name} +(\\S+) +(\\S+) +(\\S+)`, "m").exec(told)?.slice(1) ?? ["none"];
    const row = totals.getByRole("row", { name: new RegExp(`^${name}`) });
    for (const figure of figures) await expect(row).toContainText(figure);
  }
  await expect(page.getByText("Only before: 1 case")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByLabel("those that did not as well").check();
  await expect(cases.getByRole("rowheader")).toHaveCount(4);
  await expect(page).toHaveURL(/all=true/);
  await page.getByRole("button", { name: "Swap" }).click();
  await expect(cases.getByRole("rowheader").first()).toHaveText("two");
  await cases.getByRole("link", { name: "two" }).click();
  await expect(page.getByRole("region", { name: "Scorecard" })).toContainText("two");
  await page.goto(`${place.url}/p/default/compare?before=run_nowhere&after=run_never`);
  await expect(page.getByRole("heading", { name: /There is nothing here|Bad request/ })).toBeVisible();
});
