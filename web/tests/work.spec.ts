// Annotating from the first link to the label, before invented doors.
import type { BrowserContext, Page } from "@playwright/test";
import { rubricTask } from "../workbench/fixtures";
import { annotated as annotatedBefore, Fake } from "./fake";
import { expect, faultsOf, test } from "./place";

const items = [1, 2, 3].map((n) => ({ ...rubricTask.item, id: `item ${n}`, task: `Fix page ${n}.` }));
const made = { name: "Agent quality", items, schemes: rubricTask.schemes, code: "C0FFEE" };
const ROWS = [
  "Correctness",
  "Code Quality",
  "Efficiency",
  "Documentation",
  "Error Handling",
  "Overall Quality",
];

const row = (page: Page, name: string) => page.getByRole("radiogroup", { name });
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest("[data-row]")?.getAttribute("data-row"));

/** Every row the same, by keyboard, and submitted. */
async function rateAll(page: Page, digit: string) {
  await expect(row(page, "Correctness").getByRole("radio").first()).toBeFocused();
  for (let n = 0; n < ROWS.length; n += 1) {
    await page.keyboard.press(digit);
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Control+Enter");
}

test("by mouse: from the list to the last item, back and forth, and the code", async ({
  open,
  sound: page,
  context,
}) => {
  const fake = new Fake(made);
  await fake.attach(context, "ana");
  await page.goto(`${open}/p/default/annotate`);
  await expect(page.getByText("3 items for you")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "Start Agent quality" }).click();
  await expect(page.getByText("Fix page 1.")).toBeVisible();
  for (const name of ROWS) await row(page, name).getByRole("radio", { name: /^4/ }).click();
  await expect(page.getByText("Saved")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Fix page 2.")).toBeVisible();
  await expect(page.getByText("1 of 3")).toBeVisible();
  await page.getByRole("button", { name: "← Back" }).click();
  await expect(page.getByText("Fix page 1.")).toBeVisible();
  await expect(page.getByText("submitted", { exact: true })).toBeVisible();
  await row(page, "Efficiency").getByRole("radio", { name: /^2/ }).click();
  await page.getByRole("button", { name: "Submit again" }).click();
  await expect(page.getByText("Fix page 2.")).toBeVisible();
  await page.getByRole("button", { name: "Skip" }).click();
  await expect(page.getByText("Fix page 3.")).toBeVisible();
  for (const name of ROWS) await row(page, name).getByRole("radio", { name: /^5/ }).click();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByRole("heading", { name: "Everything is done" })).toBeVisible();
  await expect(page.locator("[data-code]")).toHaveText("C0FFEE");
  expect(await faultsOf(page)).toEqual([]);
  const first = fake.submitted("ana")[0]?.agent_quality;
  expect(first?.kind === "rubric" && first.criteria.efficiency?.rating).toEqual({ kind: "scored", value: 2 });
});

test("by keyboard alone: the focus waits at the first open row of every item", async ({
  open,
  sound: page,
  context,
}) => {
  const fake = new Fake(made);
  await fake.attach(context, "ana");
  await page.goto(`${open}/p/default/annotate`);
  await page.getByRole("link", { name: "Start Agent quality" }).focus();
  await page.keyboard.press("Enter");
  await rateAll(page, "3");
  await expect(page.getByText("Fix page 2.")).toBeVisible();
  expect(await focused(page)).toBe("correctness");
  await rateAll(page, "4");
  await expect(page.getByText("Fix page 3.")).toBeVisible();
  await page.keyboard.press("5");
  await page.keyboard.press("c");
  await page.keyboard.type("as asked");
  await page.keyboard.press("Escape");
  // What is left open is where one comes back to.
  await expect(page.getByText("Saved")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Comment on Correctness")).toHaveValue("as asked");
  await expect.poll(() => focused(page)).toBe("code_quality");
  expect(fake.submitted("ana")).toHaveLength(2);
});

test("what is entered survives a tab that dies, and a server that is away", async ({
  open,
  page,
  context,
}) => {
  const fake = new Fake(made);
  await fake.attach(context, "ana");
  await page.goto(`${open}/p/default/annotate/tsk_1`);
  await expect(page.getByText("Fix page 1.")).toBeVisible();
  // Nothing reaches the server any more.
  await context.route("**/api/v1/assignments/*/draft", (route) => route.abort());
  await page.keyboard.press("5");
  await page.keyboard.press("c");
  await page.keyboard.type("kept 🦉 مرحبا");
  await expect(page.getByText("Not saved yet: the server is away")).toBeVisible();
  const address = page.url();
  await killed(page);
  await context.unroute("**/api/v1/assignments/*/draft");
  expect(fake.draftsOf("ana")).toEqual([{}]);
  const again = await context.newPage();
  await again.goto(address);
  await expect(again.getByLabel("Comment on Correctness")).toHaveValue("kept 🦉 مرحبا");
  await expect(again.getByText("What had not reached the server is back.")).toBeVisible();
  await expect(again.getByText("Saved", { exact: true })).toBeVisible();
  await expect
    .poll(() => fake.draftsOf("ana")[0]?.agent_quality)
    .toMatchObject({ criteria: { correctness: { rating: { value: 5 }, comment: "kept 🦉 مرحبا" } } });
  expect(
    await again.evaluate(() => Object.keys(localStorage).filter((it) => it.startsWith("jurist.draft"))),
  ).toEqual([]);
});

/** Ends the tab's own process, as a crash would. */
async function killed(page: Page) {
  const crashed = page.waitForEvent("crash");
  page.goto("chrome://crash").catch(() => {});
  await crashed;
  await page.close();
}

test("offline and back: it is tried again by itself", async ({ open, page, context }) => {
  const fake = new Fake(made);
  await fake.attach(context, "ana");
  await page.goto(`${open}/p/default/annotate/tsk_1`);
  await expect(page.getByText("Fix page 1.")).toBeVisible();
  const away = (route: { abort: () => Promise<void> }) => route.abort();
  await context.route("**/api/v1/assignments/**", away);
  await page.keyboard.press("2");
  await expect(page.getByText("Not saved yet: the server is away")).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("3");
  await context.unroute("**/api/v1/assignments/**", away);
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  await expect
    .poll(() => fake.draftsOf("ana")[0]?.agent_quality)
    .toMatchObject({
      criteria: { correctness: { rating: { value: 2 } }, code_quality: { rating: { value: 3 } } },
    });
});

test("two tabs: which one counts is asked, and nothing is lost before", async ({
  open,
  sound: page,
  context,
}) => {
  const fake = new Fake(made);
  await fake.attach(context, "ana");
  await page.goto(`${open}/p/default/annotate/tsk_1`);
  await expect(page.getByText("Fix page 1.")).toBeVisible();
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByText("Fix page 1.")).toBeVisible();
  await page.keyboard.press("5");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  await expect.poll(() => fake.draftsOf("ana")[0]?.agent_quality).toBeTruthy();
  await other.keyboard.press("1");
  const choice = other.getByRole("alert", { name: "Two versions" });
  await expect(choice).toBeVisible();
  await expect(choice.getByRole("row", { name: /Correctness/ })).toContainText("5 Excellent");
  expect(await faultsOf(other)).toEqual([]);
  await choice.getByRole("button", { name: "Keep what is here" }).click();
  await expect(choice).toHaveCount(0);
  await expect
    .poll(() => fake.draftsOf("ana")[0]?.agent_quality)
    .toMatchObject({ criteria: { correctness: { rating: { value: 1 } } } });
  await page.keyboard.press("2");
  await page.getByRole("button", { name: "Take what is there" }).click();
  await expect(row(page, "Correctness").getByRole("radio", { name: /^1/ })).toBeChecked();
});

test("a practice item says what was expected, and whoever is fast is told so", async ({
  open,
  sound: page,
  context,
}) => {
  const training = [{ item: "item 1", answers: {}, why: "All edge cases are handled." }];
  const fake = new Fake({ ...made, settings: { training } });
  fake.pace = "That was quick: most people take a minute.";
  await fake.attach(context, "ana");
  await page.goto(`${open}/p/default/annotate/tsk_1`);
  await expect(page.getByText("practice", { exact: true })).toBeVisible();
  await rateAll(page, "4");
  const told = page.getByRole("region", { name: "Feedback" });
  await expect(told).toContainText("All edge cases are handled.");
  await expect(told.getByRole("button", { name: "Next item" })).toBeFocused();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await expect(page.getByText("Fix page 2.")).toBeVisible();
  await expect(page.getByText("That was quick")).toBeVisible();
});

test("two who rate all 1 and all 5 fill the queue, and each dispute is decided by keyboard", async ({
  open,
  sound: page,
  browser,
  context,
}) => {
  const fake = new Fake({ ...made, items: items.slice(0, 1) });
  await fake.attach(context, "ana");
  const bens = await browser.newContext();
  await fake.attach(bens, "ben");
  await annotated(context, open, "1");
  await annotated(bens, open, "5");
  await bens.close();
  await page.goto(`${open}/p/default/annotate/tsk_1/disputes`);
  await expect(page.getByText("5 disputes to decide")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await expect(page.getByRole("region", { name: "Correctness" })).toContainText("ben");
  await page.keyboard.press("4");
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await page.keyboard.type("one edge case is missed");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByText("4 disputes to decide")).toBeVisible();
  await expect(page.getByRole("region", { name: "Code Quality" })).toBeVisible();
  for (const n of [3, 2, 1]) {
    await page.keyboard.press("3");
    await page.keyboard.press("Control+Enter");
    await expect(page.getByText(new RegExp(`^${n} disputes? to decide`))).toBeVisible();
  }
  await page.keyboard.press("n");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("heading", { name: "All is decided" })).toBeVisible();
  await page.getByLabel("decided ones as well").check();
  await expect(
    page.getByRole("list", { name: "Disputes" }).getByRole("button", { name: /Correctness/ }),
  ).toContainText("✓ 4");
});

async function annotated(context: BrowserContext, open: string, digit: string) {
  const page = await context.newPage();
  await page.goto(`${open}/p/default/annotate/tsk_1`);
  await rateAll(page, digit);
  await expect(page.getByRole("heading", { name: "Everything is done" })).toBeVisible();
  await page.close();
}

test("one joins by a link with a name, or by the id of a crowd platform", async ({
  open,
  sound: page,
  context,
}) => {
  const fake = new Fake(made);
  await fake.attach(context, "ana");
  await page.goto(`${open}/join#task=abc`);
  await expect(page.getByLabel("Your name")).toBeFocused();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.type("Ana");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Fix page 1.")).toBeVisible();
  await page.goto(`${open}/annotate/tsk_1?PROLIFIC_PID=5f&STUDY_ID=9`);
  await expect(page.getByText("Fix page 1.")).toBeVisible();
  expect(fake.joined).toEqual([
    { token: "abc", name: "Ana" },
    { task: "tsk_1", crowd: { key: "PROLIFIC_PID", id: "5f" } },
  ]);
});

test("owners see people, agreement and rules; nothing keeps anybody from reading it", async ({
  open,
  sound: page,
  context,
}) => {
  await annotatedBefore().attach(context, "Ana");
  await page.goto(`${open}/p/default/annotate`);
  await page.getByRole("link", { name: "Quality of coding agents", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Rules" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Change them" }).click();
  await page.getByLabel("People for each item").fill("3");
  await page.getByRole("button", { name: "Change them" }).last().click();
  await expect(page.getByText("people for each item3")).toBeVisible();
  await page.getByRole("button", { name: "Make a link" }).click();
  await expect(page.getByText(`${open}/join#task=abc`)).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "People" }).click();
  await expect(page.getByRole("row", { name: /Dimitri/ })).toContainText("missed 2 attention checks");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "Agreement" }).click();
  await expect(page.getByRole("row", { name: /Correctness/ }).first()).toContainText("0.72 to 0.93");
  await expect(page.getByText("everybody gave the same answer")).toBeVisible();
  await expect(page.getByRole("row", { name: /^5 / }).last()).toContainText("11");
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${open}/p/default/annotate`);
  await page.getByRole("button", { name: "New task" }).click();
  for (const name of ["From files", "A rubric over traces", "Check a judge"]) {
    await page.getByRole("tab", { name }).click();
    expect(await faultsOf(page)).toEqual([]);
  }
});

test("what the annotator loads is small", async ({ open, sound: page, context }) => {
  await new Fake(made).attach(context, "ana");
  let bytes = 0;
  page.on("response", async (it) => {
    if (it.url().endsWith(".js")) bytes += Number((await it.allHeaders())["content-length"]);
  });
  await page.goto(`${open}/p/default/annotate/tsk_1`);
  // With everything that is loaded later, such as the colours of code.
  await expect(page.locator('[data-kind="keyword"]').first()).toBeVisible();
  await page.waitForLoadState("networkidle");
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(400_000);
});
