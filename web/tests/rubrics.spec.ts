// Rubrics: written, tried, changed and compared.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, faultsOf, test } from "./place";
import { ask } from "./watched";

const FIRST = `threshold: 0.7
criteria:
  - {name: tone, description: How friendly is it?, scale: {likert: {min: 1, max: 5}}, levels: {1: Rude., 5: Warm.}}
  - {name: right, description: It is right., scale: binary}
`;
const SECOND = FIRST.replace("How friendly is it?", "How warm is it?").replace("threshold: 0.7\n", "");

test("a rubric is written with faults at their lines, tried, changed, and compared in words", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await page.goto(`${place.url}/p/default/rubrics`);
  await expect(page.getByRole("heading", { name: "No rubrics yet" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "New rubric" }).click();
  await page.getByLabel("Name").fill("greeting");
  const file = page.getByLabel("The rubric's file");
  await file.fill("criteria: [{nam: a}]\nthreshold: 7\n");
  await page.getByRole("button", { name: "Make it" }).click();
  await expect(page.getByRole("alert")).toContainText("`threshold` is 7; allowed is 0 to 1");
  await expect(page.getByRole("button", { name: "line 2" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await file.fill(FIRST);
  await file.press("Control+Enter");
  await expect(page.getByRole("heading", { name: "greeting" })).toBeVisible();

  // As an annotator sees it.
  const tone = page.getByRole("radiogroup", { name: "tone" });
  await tone.getByRole("radio", { name: /^5/ }).hover();
  await expect(page.getByText("Warm.")).toBeVisible();
  await tone.getByRole("radio", { name: /^5/ }).click();
  await expect(tone.getByRole("radio", { name: /^5/ })).toBeChecked();
  expect(await faultsOf(page)).toEqual([]);

  await page.getByRole("tab", { name: "What changed" }).click();
  await expect(page.getByRole("heading", { name: "There is nothing to compare it with" })).toBeVisible();
  await page.getByRole("tab", { name: "File" }).click();
  await file.fill(SECOND);
  await page.getByRole("button", { name: "Make a new version" }).click();
  await expect(page.getByText("2 versions")).toBeVisible();
  await page.getByRole("tab", { name: "What changed" }).click();
  await expect(page).toHaveURL(/view=changes/);
  // The same changes as the command line tells.
  writeFileSync(join(place.folder, "old.yaml"), FIRST);
  writeFileSync(join(place.folder, "new.yaml"), SECOND);
  const told = await place.jurist("diff", "old.yaml", "new.yaml");
  const shown = await page.getByRole("list", { name: "Changes" }).getByRole("listitem").all();
  const words = await Promise.all(
    shown.map(async (it) => {
      const [from, to] = [await it.locator("del").textContent(), await it.locator("ins").textContent()];
      return `${await it.locator("b").textContent()}: ${from} → ${to}`;
    }),
  );
  expect(words.sort()).toEqual(
    told
      .trim()
      .split("\n")
      .slice(1)
      .map((it) => it.trim())
      .sort(),
  );
  expect(await faultsOf(page)).toEqual([]);
  await page.getByLabel("Version").selectOption({ index: 1 });
  await expect(page).toHaveURL(/version=rubv_/);
  await page.getByRole("button", { name: "Take out of use" }).click();
  await expect(page.getByText("out of use", { exact: true })).toBeVisible();
  expect((await ask(place, "GET", "/rubrics"))[0].archived).not.toBeNull();
});

test("whoever was slower is told so, and loses nothing", async ({ page, place: start }) => {
  const place = await start({ workers: 0 });
  const made = await ask(place, "POST", "/rubrics", { name: "greeting", source: FIRST });
  await page.goto(`${place.url}/p/default/rubrics/${made.id}?view=file`);
  await expect(page.getByLabel("The rubric's file")).toHaveValue(FIRST);
  await ask(place, "POST", `/rubrics/${made.id}/versions`, { source: FIRST.replace("0.7", "0.8") });
  await page.getByLabel("The rubric's file").fill(SECOND);
  await page.getByRole("button", { name: "Make a new version" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await expect(page.getByLabel("The rubric's file")).toHaveValue(SECOND);
  await page.goto(`${place.url}/p/default/rubrics/rub_00000000000000000000000000000000`);
  await expect(page.getByRole("heading", { name: /There is nothing here|Bad request/ })).toBeVisible();
});
