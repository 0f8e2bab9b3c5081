// Two runs of one suite, before and after an answer got worse.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chance, score3, signed, signedRange } from "../src/chart/figures";
import type { Difference } from "../src/compare/queries";
import { askTwice } from "./asking";
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
  // One run by itself is compared with nothing.
  await page.goto(`${place.url}/p/default/runs`);
  await page.getByRole("link", { name: "capitals" }).hover();
  await expect(page.getByRole("link", { name: "Compare" })).toHaveCount(0);
  await expect(page.getByRole("columnheader", { name: "Compare" })).toHaveCount(0);
  await page.getByRole("link", { name: "capitals" }).click();
  await expect(page.getByRole("link", { name: "report" })).toBeVisible();
  await expect(page.getByRole("link", { name: "compare" })).toHaveCount(0);
  await graded("after.json", { one: "Lyon", two: "Paris.", three: "Paris.", four: "Paris" });
  await page.goto(`${place.url}/p/default/runs`);
  await page.getByRole("link", { name: "capitals" }).first().click();
  await page.getByRole("link", { name: "compare" }).click();
  await expect(page.getByRole("heading", { name: "Verdict changed in 2 cases of 4" })).toBeVisible();
  const cases = page.getByRole("table", { name: "Cases that changed" });
  await expect(cases.getByRole("rowheader")).toHaveText(["one", "two"]);
  await expect(cases.getByRole("row", { name: /^one/ })).toContainText("-1.000");
  const compared = async () =>
    JSON.parse(
      await place.jurist("compare", "before.json.run.json", "after.json.run.json", "--format", "json"),
    );
  const told = await compared();
  const totals = page.getByRole("table", { name: "Differences" });
  const all = { score: told.score, "pass rate": told.pass_rate, ...told.criteria };
  expect(Object.keys(all).length).toBeGreaterThan(2);
  for (const [name, it] of Object.entries<Difference>(all)) {
    const row = totals.getByRole("row", { name }).first();
    await expect(row).toContainText(`${score3(it.before)}${score3(it.after)}${signed(it.difference)}`);
    await expect(row).toContainText(it.interval ? signedRange(it.interval) : "");
    await expect(row).toContainText(chance(it.p));
  }
  const text = await place.jurist("compare", "before.json.run.json", "after.json.run.json");
  const sentence = /No significant difference of the score[^\n]*?includes zero/.exec(text)?.[0] ?? "none";
  await expect(page.getByText(sentence)).toBeVisible();
  const forest = page.getByRole("figure", { name: "Differences (after − before)" });
  await expect(forest.getByRole("img")).toBeVisible();
  await forest.getByText("Show as table").press("Enter");
  await expect(forest.getByRole("row", { name: /^score/ })).toContainText(/-?0\.\d/);
  await expect(page.getByRole("figure", { name: "By criterion" })).toBeVisible();
  await expect(page.getByText("Only before: 1 case")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Swap" }).click();
  await expect(cases.getByRole("rowheader").first()).toHaveText("two");
  await cases.getByRole("link", { name: "two" }).click();
  await expect(page.getByRole("region", { name: "Scorecard" })).toContainText("two");
  await page.goto(`${place.url}/p/default/compare?before=run_nowhere&after=run_never`);
  await expect(page.getByRole("heading", { name: /Not found|Bad request/ })).toBeVisible();

  // Three at once, chosen from the list.
  await graded("last.json", { one: "Lyon", two: "Lyon", three: "Paris.", four: "Paris" });
  await page.goto(`${place.url}/p/default/runs`);
  await expect(page.getByRole("checkbox")).toHaveCount(3);
  for (const it of await page.getByRole("checkbox").all()) await it.press("Space");
  await page.getByRole("link", { name: "Compare 3 runs" }).click();
  await expect(page.getByRole("heading", { level: 2, name: /^Compared with capitals/ })).toHaveCount(2);
  await expect(page.getByRole("table", { name: "Differences" })).toHaveCount(2);
  await expect(page.getByRole("figure", { name: "By criterion" })).toHaveCount(1);
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove a run" }).click();
  await expect(page.getByRole("table", { name: "Differences" })).toHaveCount(1);
  // Whoever chose another run goes on from there.
  const select = page.getByLabel("Before", { exact: true });
  await select.focus();
  await select.press("ArrowDown");
  await expect(page).toHaveURL(/before=run_/);
  await expect(select).toBeFocused();
});

test("the comparison opens on two runs of one suite and counts trials as their cases", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await askTwice(place);
  // Another suite ran last.
  writeFileSync(join(place.folder, "other.json"), JSON.stringify(suite({ one: "Paris." })));
  await place.jurist("eval", "other.json", "--server", place.url);
  await page.goto(`${place.url}/p/default/compare`);
  const selected = (label: string) =>
    page.getByLabel(label, { exact: true }).evaluate((it: HTMLSelectElement) => it.selectedOptions[0]?.text);
  // Ten orders, two prompts and two agents are 40 cases, each with three trials.
  await expect(
    page.getByRole("heading", { name: "Verdict changed in 12 cases of 40 (14 trials)" }),
  ).toBeVisible();
  expect(await selected("Before")).toMatch(/^two ways to ask, /);
  expect(await selected("After")).toMatch(/^two ways to ask, /);
  expect(await selected("After")).not.toBe(await selected("Before"));
  // The number of the trial is a tag, not a part of the name.
  const cases = page.getByRole("table", { name: "Cases that changed" });
  await expect(cases.getByRole("rowheader").first()).toHaveText(
    "order status row 1 prompt 2 quick-invented trial 2",
  );
  await expect(page.getByText("14 of 14 trials")).toBeVisible();
  await page.goto(`${place.url}/p/default/history`);
  await expect(page.getByLabel("Suite")).toHaveValue("two ways to ask");

  // A run has intervals beside its means.
  await page.goto(`${place.url}/p/default/runs`);
  await page.getByRole("link", { name: "two ways to ask" }).first().click();
  await expect(page.getByText("40 cases, 120 trials")).toBeVisible();
  await expect(page.getByText(/^pass rate \[\d+ %, \d+ %\]$/)).toBeVisible();
  await page.getByRole("tab", { name: "Criteria" }).click();
  const criteria = page.getByRole("table", { name: "Criteria" });
  await expect(criteria.getByRole("row").nth(1)).toContainText(/\[\d\.\d+, \d\.\d+\]/);
});
