// Rubrics: written, tried, changed and compared.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, faultsOf, test } from "./place";
import { ask, finish } from "./watched";

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
  const file = page.getByLabel("Rubric file");
  // Said while it is written; nothing is sent for that.
  await file.fill("criteria: [{nam: a}]\nthreshold: 7\n");
  await expect(page.getByRole("alert")).toContainText("threshold is 7; allowed is 0 to 1");
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

  await page.getByRole("tab", { name: "Changes" }).click();
  await expect(page.getByRole("heading", { name: "No earlier version" })).toBeVisible();
  await page.getByRole("tab", { name: "File" }).click();
  await file.fill(SECOND);
  await page.getByRole("button", { name: "Save as new version" }).click();
  await expect(page.getByText("2 versions")).toBeVisible();
  await page.getByRole("tab", { name: "Changes" }).click();
  await expect(page).toHaveURL(/view=changes/);
  // The same changes as the command line tells.
  writeFileSync(join(place.folder, "old.yaml"), FIRST);
  writeFileSync(join(place.folder, "new.yaml"), SECOND);
  const told = await place.jurist("diff", "old.yaml", "new.yaml");
  await expect(page.getByRole("list", { name: "Changes" })).toBeVisible();
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
  await page.getByRole("button", { name: "Archive" }).click();
  await expect(page.getByText("archived", { exact: true })).toBeVisible();
  expect((await ask(place, "GET", "/rubrics"))[0].archived).not.toBeNull();
});

test("words are completed, slips mended and prompts shown, all by keyboard", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await finish(place, "asked", "4");
  await page.goto(`${place.url}/p/default/new-rubric`);
  const file = page.getByLabel("Rubric file");
  await file.fill("");
  await file.pressSequentially("crit");
  const words = page.getByRole("listbox", { name: "Suggestions" });
  await expect(words.getByRole("option")).toHaveText([/^criteria/]);
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.keyboard.type("\n  - na");
  await page.keyboard.press("Tab");
  await page.keyboard.type("right\n    desc");
  await page.keyboard.press("Enter");
  await page.keyboard.type("The day is the one that the context names.\n    sc");
  await page.keyboard.press("Enter");
  await expect(words.getByRole("option").first()).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.type("bin");
  await page.keyboard.press("Enter");
  await page.keyboard.type("\n    wieght: 2\n");
  await expect(file).toHaveValue(
    "criteria: \n  - name: right\n    description: The day is the one that the context names.\n    scale: binary\n    wieght: 2\n",
  );
  await expect(words).toBeHidden();
  await page.keyboard.press("Control+Space");
  await expect(words).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(words).toBeHidden();

  // A slip, at its line, with what would have been right.
  await expect(page.getByRole("alert")).toContainText("wieght");
  await page.getByRole("button", { name: "Replace with weight" }).press("Enter");
  await expect(file).toHaveValue(/ {4}weight: 2/);
  await expect(page.getByRole("alert")).toBeHidden();
  await page.keyboard.press("Control+z");
  await expect(file).toHaveValue(/wieght/);
  await page.keyboard.press("Control+y");

  // What people are asked, and judges, word for word.
  await expect(page.getByRole("radiogroup", { name: "right" })).toBeVisible();
  await page.getByRole("tab", { name: "Annotator view" }).press("ArrowRight");
  const asked = page.getByRole("region", { name: "user message" });
  await expect(asked).toContainText("right: The day is the one that the context names.");
  await page.getByLabel("Trace", { exact: true }).selectOption("asked");
  await expect(asked).toContainText("Answer asked, worth 4.");
  expect(await faultsOf(page)).toEqual([]);
});

test("a preset is a beginning, and advice is no fault", async ({ sound: page, place: start }) => {
  const place = await start({ workers: 0 });
  await page.goto(`${place.url}/p/default/new-rubric`);
  const presets = await ask(place, "GET", "/presets");
  await page.getByLabel("Start from").selectOption("safety");
  const { source, description } = presets.find((it: { name: string }) => it.name === "safety");
  await expect(page.getByLabel("Rubric file")).toHaveValue(source);
  await expect(page.getByText(description, { exact: true }).first()).toBeVisible();
  await expect(page.getByRole("radiogroup").first()).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  const vague = "criteria: [{name: good, description: It is good and nice.}]\n";
  await page.getByLabel("Rubric file").fill(vague);
  const said = page.getByRole("list", { name: "Problems" }).getByRole("listitem");
  const { problems } = await ask(place, "POST", "/rubrics/check", { source: vague });
  expect(problems.length).toBeGreaterThan(0);
  await expect(said).toHaveCount(problems.length);
  await expect(said.first()).toContainText("advice");
  await expect(page.getByRole("alert")).toBeHidden();
  await page.getByLabel("Name").fill("good");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name: "good" })).toBeVisible();
  await page.getByRole("tab", { name: "Judge prompt" }).click();
  await expect(page.getByRole("region", { name: "user message" })).toContainText("It is good and nice.");
  await page.getByRole("tab", { name: "Try on traces" }).click();
  await expect(page.getByRole("heading", { name: "No trace has finished yet" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
});

test("a rubric that cannot be checked can still be written", async ({ page, place: start }) => {
  const place = await start({ workers: 0 });
  await page.route("**/api/v1/rubrics/check", () => {});
  await page.goto(`${place.url}/p/default/new-rubric`);
  await page.getByLabel("Name").fill("greeting");
  await page.getByLabel("Rubric file").fill(FIRST);
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name: "greeting" })).toBeVisible();
  const broken = { status: 422, json: { title: "Invalid input", detail: "it is in the log", status: 422 } };
  await page.route("**/api/v1/rubrics/prompt", (route) => route.fulfill(broken));
  await page.getByRole("tab", { name: "Judge prompt" }).click();
  await expect(page.getByText("it is in the log")).toBeVisible();
  await page.route("**/api/v1/rubrics", () => {});
  await page.goto(`${place.url}/p/default/rubrics`);
  await expect(page.getByText("Loading rubrics…")).toBeVisible();
});

test("whoever was slower is told so, and loses nothing", async ({ page, place: start }) => {
  const place = await start({ workers: 0 });
  const made = await ask(place, "POST", "/rubrics", { name: "greeting", source: FIRST });
  await page.goto(`${place.url}/p/default/rubrics/${made.id}?view=file`);
  await expect(page.getByLabel("Rubric file")).toHaveValue(FIRST);
  await ask(place, "POST", `/rubrics/${made.id}/versions`, { source: FIRST.replace("0.7", "0.8") });
  await page.getByLabel("Rubric file").fill(SECOND);
  await page.getByRole("button", { name: "Save as new version" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await expect(page.getByLabel("Rubric file")).toHaveValue(SECOND);
  await page.goto(`${place.url}/p/default/rubrics/rub_00000000000000000000000000000000`);
  await expect(page.getByRole("heading", { name: /Not found|Bad request/ })).toBeVisible();
});
