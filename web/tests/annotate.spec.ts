// The annotator's screen, fed by fixtures, under the server's policy.
import { gzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { BENCH } from "../playwright.config";
import { expect, faultsOf, test } from "./place";

const submitted = async (page: Page) =>
  JSON.parse((await page.locator("[data-submitted]").getAttribute("data-submitted")) ?? "null");

test("by mouse: rate, quote, comment, be told what is missing, submit", async ({ sound: page }) => {
  await page.goto(`${BENCH}/#rubric`);
  const row = (name: string) => page.getByRole("radiogroup", { name });
  const level = page.getByText("Solves the problem correctly with only trivial issues remaining");
  await expect(level).toHaveCount(0);
  await row("Correctness").getByRole("radio", { name: /^4/ }).hover();
  await expect(level).toBeVisible();
  await row("Correctness").getByRole("radio", { name: /^4/ }).click();
  await row("Code Quality").getByRole("radio", { name: /^3/ }).click();
  await row("Efficiency").getByRole("radio", { name: /^5/ }).click();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("not rated")).toHaveCount(2);
  await expect(row("Documentation").getByRole("radio").first()).toBeFocused();
  expect(await faultsOf(page)).toEqual([]);
  await row("Documentation").getByRole("radio", { name: /^2/ }).click();
  await row("Error Handling").getByRole("radio", { name: /^3/ }).click();
  await expect(page.getByText("Weighted score 3.56")).toBeVisible();

  // A quote: select words, then say for which criterion.
  const words = page.getByText("Integer division drops the remainder.");
  await words.scrollIntoViewIfNeeded();
  await words.dblclick({ position: { x: 20, y: 10 } });
  await page.locator('[data-row="correctness"]').getByRole("button", { name: "quote" }).click();
  await expect(page.getByTitle("Show this quote in its context")).toHaveText("Integer");
  await page.locator('[data-row="correctness"]').getByRole("button", { name: "comment" }).click();
  await page.getByLabel("Comment on Correctness").fill("rounds up");
  await row("Overall Quality").getByRole("radio", { name: /^4/ }).click();
  await page.getByLabel("Additional Notes").fill("No test was added.");
  await page.getByRole("button", { name: "Submit" }).click();
  const { agent_quality } = await submitted(page);
  expect(agent_quality.criteria.correctness).toEqual({
    rating: { kind: "scored", value: 4 },
    comment: "rounds up",
    evidence: [{ part: "trace.4.reasoning", quote: "Integer", start: 0, end: 7 }],
  });
  expect(agent_quality.overall.rating.value).toBe(4);
  expect(agent_quality.notes).toBe("No test was added.");
});

test("by keyboard alone: digits, arrows, n, u, c, e, ?, Ctrl+Enter; the focus is never lost", async ({
  sound: page,
}) => {
  await page.goto(`${BENCH}/#rubric`);
  const focused = () =>
    page.evaluate(() => document.activeElement?.closest("[data-row]")?.getAttribute("data-row"));
  await expect.poll(focused).toBe("correctness");
  await page.keyboard.press("4");
  expect(await focused()).toBe("code_quality");
  await expect(page.getByText("Unreadable, no consistent style, no structure")).toBeVisible();
  await page.keyboard.press("n");
  await expect(page.locator('[data-row="code_quality"]')).toHaveAttribute("data-state", "not_applicable");
  await page.keyboard.press("u");
  await page.keyboard.press("c");
  await expect(page.getByLabel("Comment on Efficiency")).toBeFocused();
  await page.keyboard.type("3 is n or 5?");
  await page.keyboard.press("Escape");
  expect(await focused()).toBe("efficiency");
  await page.keyboard.press("e");
  await expect(page.getByText("Select text in the trace first")).toBeVisible();
  await page.keyboard.press("Control+Enter");
  expect(await focused()).toBe("documentation");
  // Along the scale by arrows, taken by Space.
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("5");
  await page.keyboard.press("1");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Help" })).toContainText("quote the selected text");
  await page.keyboard.press("Escape");
  await expect(page.getByText("All questions are answered.")).toBeVisible();
  await page.keyboard.press("Control+Enter");
  const { agent_quality } = await submitted(page);
  expect(agent_quality.criteria).toEqual({
    correctness: { rating: { kind: "scored", value: 4 } },
    code_quality: { rating: { kind: "not_applicable" } },
    efficiency: { rating: { kind: "abstained" }, comment: "3 is n or 5?" },
    documentation: { rating: { kind: "scored", value: 2 } },
    error_handling: { rating: { kind: "scored", value: 5 } },
  });
  expect(agent_quality.overall).toEqual({ rating: { kind: "scored", value: 1 } });
});

test("steps first: marks, kinds of error, severities, and a score that is withheld", async ({
  sound: page,
}) => {
  await page.goto(`${BENCH}/#both`);
  await expect(page.getByText("The score is shown once every step is marked.")).toBeVisible();
  await expect(page.locator('[data-step="2"][data-current]')).toBeInViewport();
  await page.keyboard.press("1");
  await expect(page.getByText("1 step of 4 marked.")).toBeVisible();
  for (const n of [4, 6, 8]) {
    // Both go past steps that cannot be marked: `u` to the first open one, `j` to the next.
    await page.keyboard.press(n === 4 ? "j" : "u");
    await expect(page.locator(`[data-step="${n}"][data-current]`)).toBeVisible();
    await page.keyboard.press(n === 6 ? "2" : "1");
    if (n !== 6) continue;
    const step = page.locator('[data-step="6"]');
    await step.getByLabel("Kind of error").selectOption("premature_termination");
    await expect(page.getByText("The score is shown once every step is marked.")).toBeVisible();
    await step.getByLabel("major").check();
    await step.getByLabel("Why").fill("It never ran the whole suite.");
    await page.keyboard.press("Escape");
    await expect(page.getByRole("group", { name: "Steps, scrolling" })).toBeFocused();
  }
  await expect(page.getByText("Score 95 of 100")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Control+Enter");
  await expect(page.getByText("not rated")).toHaveCount(5);
  await page.getByRole("radiogroup", { name: "Correctness" }).getByRole("radio", { name: /^4/ }).focus();
  for (let n = 0; n < 6; n += 1) await page.keyboard.press("4");
  await page.keyboard.press("Control+Enter");
  const { step_eval } = await submitted(page);
  expect(step_eval.steps[6]).toEqual({
    mark: "incorrect",
    error: "premature_termination",
    severity: "major",
    rationale: "It never ran the whole suite.",
  });
});

test("pairs with ties, choices, likert and text; markup is text and letters run their own way", async ({
  sound: page,
}) => {
  await page.goto(`${BENCH}/#pair`);
  await expect(page.getByText("<b>not bold</b>")).toBeVisible();
  await page.keyboard.press("2");
  await expect(page.getByRole("radio", { name: "Answer B" })).toBeChecked();
  await page.keyboard.press("0");
  await expect(page.getByRole("radio", { name: "Equally good" })).toBeChecked();
  await page.getByRole("checkbox", { name: "tone" }).check();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Control+Enter");
  expect(await submitted(page)).toEqual({
    better: { kind: "pairwise", label: "Equally good" },
    why: { kind: "choice", labels: ["tone"] },
  });

  await page.goto(`${BENCH}/?plain#plain`);
  await expect(page.getByRole("group", { name: "Which language is it?" })).toBeVisible();
  await page.keyboard.press("1");
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("not answered")).toHaveCount(2);
  await expect(page.getByRole("combobox")).toBeFocused();
  await page.getByRole("combobox").selectOption("delivery");
  await page.getByRole("radio", { name: "6" }).check();
  await expect(page).toHaveTitle("Workbench");
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Control+Enter");
  expect(await submitted(page)).toEqual({
    language: { kind: "choice", labels: ["Arabic"] },
    topic: { kind: "choice", labels: ["delivery"] },
    friendly: { kind: "likert", value: 6 },
  });
});

test("a judge is checked by keyboard: y confirms, x and digits correct, what it said stands marked", async ({
  sound: page,
}) => {
  await page.goto(`${BENCH}/?verify#verify`);
  const claim = (name: string) => page.getByRole("listitem", { name });
  await expect(claim("The remainder is counted")).toBeFocused();
  expect(await page.evaluate(() => CSS.highlights.get("jurist-quote")?.size)).toBe(1);
  await page.keyboard.press("y");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("x");
  await page.keyboard.press("ArrowDown");
  // What the judge said already is no correction.
  await page.keyboard.press("4");
  await expect(claim("How clear is the summary?")).toHaveAttribute("data-state", "confirmed");
  await page.keyboard.press("2");
  await page.keyboard.press("Control+Enter");
  await expect(claim("A test was added")).toBeFocused();
  await expect(page.getByText("choose the right answer")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("1");
  await page.keyboard.press("c");
  await page.keyboard.type("none was added");
  await page.keyboard.press("Control+Enter");
  expect((await submitted(page)).judge.claims).toEqual({
    c1: { verdict: "confirmed" },
    c2: { verdict: "corrected", rating: { kind: "scored", value: false }, comment: "none was added" },
    c3: { verdict: "corrected", rating: { kind: "scored", value: 2 } },
  });
});

test("on a tablet everything is within reach", async ({ sound: page }) => {
  await page.setViewportSize({ width: 820, height: 1180 });
  await page.goto(`${BENCH}/#rubric`);
  await page.getByRole("radiogroup", { name: "Error Handling" }).getByRole("radio", { name: /^3/ }).click();
  await expect(page.getByRole("button", { name: "Submit" })).toBeInViewport();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
});

test("the annotator's page is small", async ({ sound: page }) => {
  const read: Promise<number>[] = [];
  page.on("response", (it) => {
    if (it.url().endsWith(".js")) read.push(it.body().then((body) => gzipSync(body).length));
  });
  await page.goto(`${BENCH}/#rubric`);
  // With everything that is loaded later, such as the colours of code.
  await expect(page.locator('[data-kind="keyword"]').first()).toBeVisible();
  await page.waitForLoadState("networkidle");
  const bytes = (await Promise.all(read)).reduce((sum, it) => sum + it, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(400_000);
});
