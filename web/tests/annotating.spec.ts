// Annotating before a server that is really started: from a configuration to labels and exports.
import type { Browser, BrowserContext, Page } from "@playwright/test";
import { answered, CONFIG, NAME, task, withJudge } from "./crowd";
import { expect, faultsOf, type Place, test, writeSuite } from "./place";

const ROWS = ["Correctness", "Code Quality", "Efficiency", "Documentation", "Error Handling"];

const row = (page: Page, name: string) => page.getByRole("radiogroup", { name });

/** Makes the task of the example by hand, and returns its id. */
async function made(page: Page, place: Place): Promise<string> {
  await page.goto(`${place.url}/p/default/annotate`);
  await page.getByRole("button", { name: "New task" }).first().click();
  await page.getByLabel("Configuration and data").setInputFiles(CONFIG);
  await page.getByRole("button", { name: "Create task" }).click();
  await expect(page.getByRole("heading", { name: "Settings" })).toBeVisible();
  await expect(page).toHaveURL(/\/annotate\/[^/]+\/overview$/);
  return /annotate\/([^/]+)\/overview/.exec(page.url())?.[1] ?? "";
}

/** Somebody in a browser of their own, who has said their name. */
async function somebody(browser: Browser, place: Place, task: string, name: string) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${place.url}/p/default/annotate/${task}`);
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Start" }).click();
  await expect(row(page, "Correctness").getByRole("radio").first()).toBeFocused();
  return { context, page };
}

/** Every row the same, by keyboard, and submitted. */
async function rateAll(page: Page, digit: string) {
  await expect(row(page, "Correctness").getByRole("radio").first()).toBeFocused();
  await expect(row(page, "Correctness").getByRole("radio", { checked: true })).toHaveCount(0);
  for (let n = 0; n < ROWS.length; n += 1) await page.keyboard.press(digit);
  const before = page.url();
  await page.keyboard.press("Control+Enter");
  await expect(page).not.toHaveURL(before);
}

/** Settings under which an item teaches, and everybody is too fast. */
const TAUGHT = {
  training: [
    {
      item: "trace_042",
      answers: { agent_quality: { correctness: 5, efficiency: 4 } },
      why: "The remainder is counted.",
    },
  ],
  min_seconds: 3600,
  completion_code: "C0FFEE",
};

test("an annotator jumps to any of their items and reads the guidelines", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  const id = await task(place);
  await page.goto(`${place.url}/p/default/annotate/${id}`);
  await expect(page.getByRole("heading", { name: `Annotate: ${NAME}` })).toBeVisible();
  await page.getByLabel("Your name").fill("Ana");
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.getByRole("button", { name: "Your items" })).toHaveCount(0);
  await rateAll(page, "4");
  // While the next item loads, the controls of the last one do not respond: the form they belong to is replaced.
  await page.route("**/api/v1/assignments/*", async (route) => {
    await new Promise((go) => setTimeout(go, 1500));
    await route.continue();
  });
  await rateAll(page, "3");
  await page.getByRole("button", { name: "Your items" }).click();
  await expect(page.getByRole("menuitemradio")).toHaveText([
    "Item 1, submitted",
    "Item 2, submitted",
    "Item 3, not submitted",
  ]);
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("menuitemradio", { name: "Item 1" }).click();
  await expect(page.getByText("submitted", { exact: true })).toBeVisible();
  await expect(row(page, "Correctness").getByRole("radio", { name: /^4/ })).toBeChecked();
  await page.getByRole("button", { name: "Guidelines" }).click();
  const guidelines = page.getByRole("dialog", { name: "Guidelines" });
  for (const name of ROWS) await expect(guidelines.getByRole("heading", { name })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
});

test("by mouse: practice, pace, back and forth, skipping, and the code at the end", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  await task(place, TAUGHT);
  await page.goto(`${place.url}/p/default/annotate`);
  await page.getByRole("link", { name: `Start ${NAME}` }).click();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByLabel("Your name").fill("Ana");
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.getByText("practice", { exact: true })).toBeVisible();
  for (const name of ROWS) await row(page, name).getByRole("radio", { name: /^4/ }).click();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Submit" }).click();
  const told = page.getByRole("region", { name: "Feedback" });
  await expect(told).toContainText("The remainder is counted.");
  await expect(told.getByRole("row", { name: /Correctness/ })).toContainText("✕ 4");
  await expect(told.getByRole("row", { name: /Efficiency/ })).toContainText("✓ 4");
  await expect(told.getByRole("button", { name: "Next item" })).toBeFocused();
  expect(await faultsOf(page)).toEqual([]);
  const first = page.url();
  await told.getByRole("button", { name: "Next item" }).click();
  await expect(page).not.toHaveURL(first);
  await expect(page.getByText("practice", { exact: true })).toHaveCount(0);
  const second = page.url();
  for (const name of ROWS) await row(page, name).getByRole("radio", { name: /^3/ }).click();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page).not.toHaveURL(second);
  await expect(page.getByText(/fast|quick/)).toBeVisible();
  await expect(page).not.toHaveURL(second);
  await page.getByRole("button", { name: "← Back" }).click();
  await expect(page).toHaveURL(second);
  await expect(page.getByText("submitted", { exact: true })).toBeVisible();
  await row(page, "Efficiency").getByRole("radio", { name: /^2/ }).click();
  await page.getByRole("button", { name: "Submit again" }).click();
  await expect(page).not.toHaveURL(second);
  await page.getByRole("button", { name: "Skip" }).click();
  await expect(page.getByRole("heading", { name: "All items are done" })).toBeVisible();
  await expect(page.locator("[data-code]")).toHaveText("C0FFEE");
  expect(await faultsOf(page)).toEqual([]);
});

test("by keyboard alone: the focus waits at the first open row of every item", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  const id = await task(place);
  const focused = () =>
    page.evaluate(() => document.activeElement?.closest("[data-row]")?.getAttribute("data-row"));
  await page.goto(`${place.url}/p/default/annotate`);
  await page.getByRole("link", { name: `Start ${NAME}` }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Your name")).toBeFocused();
  await page.keyboard.type("Ana");
  await page.keyboard.press("Enter");
  await rateAll(page, "3");
  // Somebody who has said who they are is here to annotate; budget and settings belong to the owner.
  await expect(page.getByRole("link", { name: "Annotate", exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: "Budget" })).toHaveCount(0);
  await expect(page.getByRole("link", { name: "Settings" })).toHaveCount(0);
  await rateAll(page, "4");
  await expect.poll(focused).toBe("correctness");
  await page.keyboard.press("5");
  await page.keyboard.press("c");
  await page.keyboard.type("as asked");
  await page.keyboard.press("Escape");
  expect(await focused()).toBe("correctness");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  // What is left open is where one comes back to, also by the short address; nobody asks for the name again.
  await page.goto(`${place.url}/annotate/${id}`);
  await expect(page.getByLabel("Comment on Correctness")).toHaveValue("as asked");
  await expect.poll(focused).toBe("code_quality");
  for (let n = 0; n < 4; n += 1) await page.keyboard.press("2");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("heading", { name: "All items are done" })).toBeVisible();
});

test("from a configuration to labels: two who rate all 1 and all 5, their disputes, and the export", async ({
  sound: page,
  browser,
  place: start,
}) => {
  const place = await start({});
  const task = await made(page, place);
  for (const [name, digit] of [
    ["Ana", "1"],
    ["Ben", "5"],
  ] as const) {
    const one = await somebody(browser, place, task, name);
    for (let n = 0; n < 3; n += 1) await rateAll(one.page, digit);
    await expect(one.page.getByRole("heading", { name: "All items are done" })).toBeVisible();
    await one.context.close();
  }
  await page.getByRole("link", { name: "Disputes" }).click();
  await expect(page.getByText("15 disputes to decide")).toBeVisible();
  // Each item is named once, with all that is disputed about it.
  const list = page.getByRole("list", { name: "Disputes" });
  await expect(list.locator("> li")).toHaveCount(3);
  await expect(list.getByRole("button")).toHaveCount(15);
  expect(await faultsOf(page)).toEqual([]);
  const panel = page.getByRole("region", {
    name: /Correctness|Code Quality|Efficiency|Documentation|Error Handling/,
  });
  await expect(panel).toContainText("Ana");
  await expect(panel).toContainText("5 (Superb)");
  // Nothing looks chosen yet; Tab leads to the scale.
  await expect(panel.getByRole("group", { name: "Your decision", exact: true })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(panel.getByRole("radio").first()).toBeFocused();
  await page.keyboard.press("4");
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await page.keyboard.type("one edge case is missed");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByText("14 disputes to decide")).toBeVisible();
  await page.getByLabel("Show decided disputes").check();
  await expect(page.getByRole("list", { name: "Disputes" }).getByText("✓ 4")).toHaveCount(1);

  await page.getByRole("link", { name: "Agreement" }).click();
  await expect(page.getByRole("row", { name: /Correctness/ }).first()).toContainText("−");
  await expect(page.getByRole("heading", { name: "Pairs of annotators" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "People" }).click();
  const people = page.getByRole("table", { name: "Annotators" });
  await expect(people.getByRole("row", { name: /Ana/ })).toContainText("3");
  expect(await faultsOf(page)).toEqual([]);

  await page.getByRole("navigation", { name: "Task" }).getByRole("link", { name: "Overview" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "JSON Lines" }).click(),
  ]);
  const lines = (await text(await download.createReadStream())).trim().split("\n");
  expect(lines.length).toBeGreaterThanOrEqual(6);
});

async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  let all = "";
  for await (const piece of stream) all += piece;
  return all;
}

test("what is entered survives a tab that dies and a server that is away", async ({
  page,
  browser,
  place: start,
}) => {
  const place = await start({});
  const task = await made(page, place);
  const ana = await somebody(browser, place, task, "Ana");
  await place.stop();
  await ana.page.keyboard.press("5");
  await ana.page.keyboard.press("c");
  await ana.page.keyboard.type("kept 🦉 مرحبا <b>");
  await expect(ana.page.getByText("Not saved yet: no connection to the server")).toBeVisible();
  const address = ana.page.url();
  await killed(ana.page);
  await place.start();
  const again = await ana.context.newPage();
  await again.goto(address);
  await expect(again.getByText("Unsaved answers were restored from this browser.")).toBeVisible();
  await expect(again.getByLabel("Comment on Correctness")).toHaveValue("kept 🦉 مرحبا <b>");
  await expect(again.getByText("Saved", { exact: true })).toBeVisible();
  // From now on the server has it, and so has any other browser.
  const other = await elsewhere(browser, ana.context);
  await other.goto(address);
  await expect(other.getByLabel("Comment on Correctness")).toHaveValue("kept 🦉 مرحبا <b>");
  // Away and back, without being closed.
  await place.stop();
  await again.locator("body").click();
  await again.getByRole("radiogroup", { name: "Efficiency" }).getByRole("radio", { name: /^2/ }).click();
  await expect(again.getByText("Not saved yet: no connection to the server")).toBeVisible();
  await place.start();
  await expect(again.getByText("Saved", { exact: true })).toBeVisible({ timeout: 120_000 });
});

/** Ends the tab's own process, as a crash would. */
async function killed(page: Page) {
  const crashed = page.waitForEvent("crash");
  page.goto("chrome://crash").catch(() => {});
  await crashed;
  await page.close();
}

/** The same person in another browser: who they are, and nothing else. */
async function elsewhere(browser: Browser, context: BrowserContext): Promise<Page> {
  const other = await browser.newContext();
  await other.addCookies(await context.cookies());
  return other.newPage();
}

test("two browsers: which one counts is asked, and nothing is lost before", async ({
  page,
  browser,
  place: start,
}) => {
  const place = await start({});
  const task = await made(page, place);
  const { page: here, context } = await somebody(browser, place, task, "Ana");
  const there = await elsewhere(browser, context);
  await there.goto(here.url());
  await expect(row(there, "Correctness").getByRole("radio").first()).toBeFocused();
  const saved = here.waitForResponse((it) => it.url().endsWith("/draft") && it.ok());
  await here.keyboard.press("5");
  await saved;
  await there.keyboard.press("1");
  const choice = there.getByRole("alert", { name: "Two versions" });
  await expect(choice.getByRole("row", { name: /Correctness/ })).toContainText("5 (Superb)");
  await choice.getByRole("button", { name: "Keep this version" }).click();
  await expect(choice).toHaveCount(0);
  await expect(there.getByText("Saved", { exact: true })).toBeVisible();
  await here.keyboard.press("ArrowUp");
  await here.keyboard.press("2");
  await here.getByRole("button", { name: "Use the other version" }).click();
  await expect(row(here, "Correctness").getByRole("radio", { name: /^1/ })).toBeChecked();
});

test("somebody joins by a link with a name, sees this task alone, and goes back and forth", async ({
  sound: page,
  browser,
  place: start,
}) => {
  const place = await start({ auth: true });
  await page.goto(place.link);
  await page.getByLabel("Your name").fill("Owner");
  await page.getByLabel("E-mail address").fill("owner@example.org");
  await page.getByLabel("Password").fill("analytical engine");
  await page.getByRole("button", { name: "Join" }).click();
  await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
  await made(page, place);
  await page.getByRole("button", { name: "Edit settings" }).click();
  await page.getByLabel("Open to crowd platforms").selectOption("yes");
  await page.getByRole("dialog").getByRole("button", { name: "Save settings" }).click();
  const crowdSetting = page.locator("dl > div").filter({ hasText: "Open to crowd platforms" });
  await expect(crowdSetting.locator("dd")).toHaveText("yes");
  await page.getByRole("button", { name: "Create link" }).click();
  await expect(page.locator("[data-secret]")).toHaveCount(2);
  const links = await page.locator("[data-secret]").allTextContents();
  const guest = await (await browser.newContext()).newPage();
  await guest.goto(links[0] ?? "");
  await guest.getByLabel("Your name").fill("Carla");
  await guest.keyboard.press("Enter");
  await rateAll(guest, "3");
  await expect(guest.getByText("1 of 3")).toBeVisible();
  await guest.getByRole("button", { name: "← Back" }).click();
  await expect(guest.getByText("submitted", { exact: true })).toBeVisible();
  await row(guest, "Efficiency").getByRole("radio", { name: /^2/ }).click();
  await guest.getByRole("button", { name: "Submit again" }).click();
  await expect(guest.getByText("submitted", { exact: true })).toHaveCount(0);
  expect(await faultsOf(guest)).toEqual([]);
  await guest.getByRole("link", { name: "Annotate" }).click();
  await expect(guest.getByRole("link", { name: `Continue ${NAME}` })).toBeVisible();
  await expect(guest.getByRole("link", { name: "Runs" })).toHaveCount(0);
  await expect(guest.getByRole("link", { name: NAME, exact: true })).toHaveCount(0);

  const crowd = await (await browser.newContext()).newPage();
  const url = new URL(links[1] ?? "");
  url.search = "?PROLIFIC_PID=5f00&STUDY_ID=1";
  await crowd.goto(url.href);
  await expect(row(crowd, "Correctness").getByRole("radio").first()).toBeFocused();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "People" }).click();
  await expect(page.getByRole("row", { name: /Carla/ })).toBeVisible();
});

test("the answers of an annotator are excluded and included again", async ({ sound: page, place: start }) => {
  const place = await start({});
  const id = await task(place);
  for (const [name, value] of [
    ["Ana", 4],
    ["Ben", 4],
    ["Cleo", 1],
  ] as const) {
    await answered(place, id, name, () => value);
  }
  await page.goto(`${place.url}/p/default/annotate/${id}/people`);
  const cleo = page.getByRole("row", { name: /Cleo/ });
  await cleo.getByRole("button", { name: "Exclude Cleo" }).click();
  await page.getByLabel("Reason").fill("answers at random");
  await page.getByRole("button", { name: "Exclude answers" }).click();
  await expect(cleo).toContainText("answers at random");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "Disputes" }).click();
  await expect(page.getByText("disputes to decide")).toHaveCount(0);
  for (const name of ["Agreement", "Results"]) {
    await page.getByRole("navigation", { name: "Task" }).getByRole("link", { name }).click();
    await expect(page.getByText("Answers of Cleo are excluded and not part of these figures.")).toBeVisible();
  }
  await page.getByRole("link", { name: "People" }).click();
  await cleo.getByRole("button", { name: "Include Cleo" }).click();
  await expect(cleo).not.toContainText("answers at random");
  await page.getByRole("link", { name: "Disputes" }).click();
  await expect(page.getByText("15 disputes to decide")).toBeVisible();
});

test("what a judge said in a run is confirmed and corrected", async ({ sound: page, place: start }) => {
  const place = await start({});
  await place.jurist("eval", writeSuite(place, 6), "--server", place.url);
  await page.goto(`${place.url}/p/default/annotate`);
  await page.getByRole("button", { name: "New task" }).first().click();
  await page.getByRole("tab", { name: "Verify a judge" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Is the judge right?");
  await expect(page.getByLabel("Answers of the judge in").getByRole("option")).toHaveCount(2);
  await page.getByLabel("Answers of the judge in").selectOption({ index: 1 });
  await page.getByRole("button", { name: "Create task" }).click();
  await expect(page.getByText("answers of a judge, confirmed or corrected")).toBeVisible();
  await page.getByRole("link", { name: "Annotate" }).first().click();
  await page.getByRole("link", { name: "Start Is the judge right?" }).click();
  await page.getByLabel("Your name").fill("Ana");
  await page.keyboard.press("Enter");
  const claims = page.locator("[data-row]");
  await expect(claims.first()).toBeFocused();
  await expect(page.getByText("Answer of the judge:").first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Input of the judge" })).toContainText("Context");
  expect(await faultsOf(page)).toEqual([]);
  const before = page.url();
  await page.keyboard.press("x");
  await page.keyboard.press("u");
  for (let n = (await claims.count()) - 1; n > 0; n -= 1) {
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("y");
  }
  await expect(page.getByText("All questions are answered.")).toBeVisible();
  await page.keyboard.press("Control+Enter");
  await expect(page).not.toHaveURL(before);
  await expect(claims.first()).toBeFocused();
});

test("owners change the rules, and see judges beside people; nothing keeps anybody from reading it", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  const id = await task(place);
  await answered(place, id, "Ana", () => 4);
  await page.goto(`${place.url}/p/default/annotate`);
  await expect(page.getByRole("link", { name: NAME, exact: true })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "New task" }).click();
  for (const name of ["From files", "A rubric over traces", "Verify a judge"]) {
    await page.getByRole("tab", { name }).click();
    expect(await faultsOf(page)).toEqual([]);
  }
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: NAME, exact: true }).click();
  await page.getByRole("button", { name: "Edit settings" }).click();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByLabel("Annotators per item").fill("2");
  await page.getByRole("dialog").getByRole("button", { name: "Save settings" }).click();
  const perItem = page.locator("dl > div").filter({ hasText: "Annotators per item" });
  await expect(perItem.locator("dd")).toHaveText("2");
  await expect(page.getByText("of 6 answers")).toBeVisible();
  await page.getByRole("button", { name: "Close task" }).click();
  await expect(page.getByRole("button", { name: "Reopen task" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${place.url}/p/default/annotate/${id}`);
  await page.getByLabel("Your name").fill("Ben");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "This task is closed" })).toBeVisible();

  await page.route("**/api/v1/**/agreement", (route) => route.fulfill({ json: withJudge }));
  await page.goto(`${place.url}/p/default/annotate/${id}/agreement`);
  const among = page.getByRole("table", { name: "Agreement for each criterion" });
  await expect(among.getByRole("row", { name: /^Correctness/ })).toContainText("0.72 to 0.93");
  await expect(among.getByText("everybody gave the same answer")).toBeVisible();
  await expect(page.getByRole("row", { name: /^5 / })).toContainText("11");
  const apart = page.getByRole("listitem").filter({ hasText: "trace_042" });
  await expect(apart).toContainText("judge 1 people 5 5 4");
  // Where people differ as well, it leads to what they said.
  await expect(apart.getByRole("link")).toHaveAttribute("href", /disputes\?item=itm_1&row=agent_quality/);
  expect(await faultsOf(page)).toEqual([]);
  // Where only the judge differs, it is shown what they saw.
  await page.route("**/api/v1/items/itm_3/answers", (route) =>
    route.fulfill({
      json: { item: { id: "itm_3", text: "All of it." }, schemes: [], answers: [], decisions: [] },
    }),
  );
  await page.getByRole("listitem").filter({ hasText: "trace_007" }).getByRole("link").press("Enter");
  await expect(page).toHaveURL(/item=itm_3/);
  const seen = page.getByRole("dialog", { name: "Say goodbye." });
  await expect(seen).toContainText("openai/gpt-5-mini 2 people 4 4");
  await expect(seen.getByText("All of it.")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(seen).toBeHidden();
  await expect(page).not.toHaveURL(/item=/);
  // Which judge is looked at stands in the address.
  await page.getByRole("button", { name: "Efficiency" }).click();
  await expect(page).toHaveURL(/judge=openai.*on=efficiency/);
  await expect(page.getByRole("region", { name: "Efficiency: openai/gpt-5-mini" })).toContainText("None.");
});

test("items are added while a task goes on, and a line that is none is named", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  const id = await task(place);
  await page.goto(`${place.url}/p/default/annotate/${id}/overview`);
  await expect(page.getByText("of 3 items done")).toBeVisible();
  await page.getByRole("button", { name: "Add items" }).click();
  const dialog = page.getByRole("dialog");
  expect(await faultsOf(page)).toEqual([]);
  const row = (id: string) => JSON.stringify({ trace_id: id, task: "Say hello.", steps: [] });
  await dialog.getByLabel("Or paste rows").fill(`${row("new")}\n{"trace_id":`);
  await dialog.getByRole("button", { name: "Add items" }).click();
  await expect(dialog.getByRole("alert")).toContainText("Line 2 is not a JSON object");
  const buffer = Buffer.from(`${row("new")}\n${row("trace_042")}\n`);
  await dialog
    .getByLabel("File", { exact: true })
    .setInputFiles({ name: "more.jsonl", mimeType: "text/plain", buffer });
  await expect(dialog.getByLabel("Or paste rows")).toHaveValue(/trace_042/);
  await dialog.getByRole("button", { name: "Add items" }).click();
  await expect(page.getByText("1 item added; 1 already there.")).toBeVisible();
  await expect(page.getByText("of 4 items done")).toBeVisible();
  await page.getByRole("button", { name: "Add items" }).click();
  await page.getByRole("tab", { name: "Stored traces" }).click();
  expect(await faultsOf(page)).toEqual([]);
});

test("what the annotator loads is small", async ({ sound: page, place: start }) => {
  const place = await start({});
  const id = await task(place);
  let bytes = 0;
  page.on("response", async (it) => {
    if (it.url().endsWith(".js")) bytes += Number((await it.allHeaders())["content-length"]);
  });
  await page.goto(`${place.url}/p/default/annotate/${id}`);
  await page.getByLabel("Your name").fill("Ana");
  await page.keyboard.press("Enter");
  // With everything that is loaded later, such as the colours of code.
  await expect(page.locator("[data-kind]").first()).toBeVisible();
  await page.waitForLoadState("networkidle");
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(400_000);
});
