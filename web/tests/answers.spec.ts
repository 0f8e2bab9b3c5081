// Answers of a run side by side, labels of people beside verdicts, and cases that are run again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, faultsOf, type Place, test } from "./place";
import { ask } from "./watched";

const RUN = "run_0190c4d27e1b7a3c9f50b8e6d1a24c7e";
const RUBRIC = "r".repeat(64);

/** The result of one place: two models for each question; the small one fails every fifth, and both agree on every tenth. */
function resultOf(place: number) {
  const [question, model] = [Math.floor(place / 2), place % 2 === 0 ? "small" : "large"];
  const isPassed = model === "large" || question % 5 !== 0;
  const name = `question ${question} [${model}]`;
  const score = isPassed ? 1 : 0;
  const author = question % 10 === 2 ? "both models" : `the ${model} model`;
  const long = question === 1 ? ` ${"It goes through every step of the way. ".repeat(60)}The end.` : "";
  return {
    case: name,
    parts: { written: `question ${question}`, variant: [model] },
    candidate: name,
    rubric: RUBRIC,
    spend: {},
    verdict: { status: isPassed ? "pass" : "fail", score, counts: {} },
    grades: [
      {
        candidate: name,
        criterion: "right",
        grader: { kind: "judge", name: "m1" },
        outcome: { kind: "scored", value: score, unit: score },
      },
    ],
    material: { task: `Question ${question}?`, response: `Answer ${question} of ${author}.${long}` },
  };
}

/** Sends a run that was graded elsewhere. */
async function pushRun(place: Pick<Place, "url">, n: number) {
  const started = "2026-03-01T00:00:00Z";
  const head = { format: 1, suite: "grid", started, seed: 7, rubrics: { [RUBRIC]: {} } };
  await ask(place, "PUT", `/runs/${RUN}`, head);
  for (let from = 0; from < n; from += 500) {
    const places = Array.from({ length: Math.min(500, n - from) }, (_, at) => from + at);
    const items = places.map((at) => ({ place: at, result: resultOf(at) }));
    await ask(place, "PUT", `/runs/${RUN}/results`, { items });
  }
  await ask(place, "POST", `/runs/${RUN}/end`, { ended: "2026-03-01T00:01:00Z", n_results: n });
}

const rowsDrawn = (page: Page) => page.locator("tbody tr[data-index]").count();

test("ten thousand answers are read side by side, filtered and moved through by keyboard", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  await pushRun(place, 10_000);
  await page.goto(`${place.url}/p/default/runs/${RUN}`);
  await page.getByRole("tab", { name: "Answers" }).click();
  await expect(page).toHaveURL(/view=answers/);
  const table = page.getByRole("table", { name: "Answers" });
  await expect(page.getByText("5,000 of 5,000 cases")).toBeVisible();
  await expect(table).toHaveAttribute("aria-rowcount", "5001");
  await expect(table.getByRole("columnheader")).toHaveText([
    "Case",
    "small4,000 of 5,000 passed",
    "large5,000 of 5,000 passed",
  ]);
  await expect(table.getByText("Answer 0 of the small model.")).toBeVisible();
  await expect(table.getByText("Answer 0 of the large model.")).toBeVisible();
  expect(await rowsDrawn(page)).toBeLessThan(60);
  expect(await faultsOf(page)).toEqual([]);

  // A long answer is cut, and shown in full on demand.
  const second = table.getByRole("row", { name: /^question 1 / });
  await expect(second.getByText("The end.")).toHaveCount(0);
  await second.getByRole("button", { name: "Show all" }).first().click();
  await expect(second.getByText("The end.").first()).toBeVisible();
  await second.getByRole("button", { name: "Show less" }).click();

  // A click makes its cell the current one: keys go on from there.
  await second.getByText("Answer 1 of the small model.").first().click();
  await page.keyboard.press("ArrowRight");
  await expect(table.locator('[aria-current="true"]')).toContainText("Answer 1 of the large model.");

  // By wheel: rows far away are drawn with their answers, and those that were left are not kept.
  const pane = page.getByRole("group", { name: "Answers, scrolling" });
  await pane.evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }));
  await expect(table.getByText(/^Answer 2\d\d\d of the small model\.$/).first()).toBeVisible();
  expect(await rowsDrawn(page)).toBeLessThan(60);

  // By keyboard: to the last row, its second answer, and its scorecard.
  await pane.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("End");
  await expect(table.getByText("Answer 4999 of the small model.")).toBeVisible();
  await expect(page.getByText("question 4999", { exact: true }).first()).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(table.locator('[aria-current="true"]')).toContainText("Answer 4999 of the large model.");
  await expect(page.getByText("question 4999, large, pass, score 1.00")).toBeAttached();
  await page.keyboard.press("o");
  await expect(page).toHaveURL(/case=9999/);
  await expect(page.getByRole("region", { name: "Scorecard" })).toContainText("Answer 4999 of the large");

  await page.goto(`${place.url}/p/default/runs/${RUN}?view=answers`);
  await page.getByRole("button", { name: "Verdicts differ 1,000" }).click();
  await expect(page).toHaveURL(/only=verdicts/);
  await expect(page.getByText("1,000 of 5,000 cases")).toBeVisible();
  await expect(table.getByRole("rowheader").nth(1)).toHaveText("question 5");

  // Answers are compared by their text: both models pass question 3 with different answers, and agree on question 2.
  await page.getByRole("button", { name: "Answers differ" }).click();
  await expect(page).toHaveURL(/only=answers/);
  await expect(page.getByText("4,500 of 5,000 cases")).toBeVisible();
  await expect(table.getByRole("rowheader").nth(2)).toHaveText("question 3");
  await page.getByRole("button", { name: "Answers differ 4,500" }).click();
  await page.getByRole("button", { name: "Verdicts differ 1,000" }).click();

  await page.getByLabel("Find a case").fill("question 4995");
  await expect(page.getByText("1 of 5,000 cases")).toBeVisible();
  await page.getByLabel("Find a case").fill("no such case");
  await page.getByRole("button", { name: "Show all cases" }).click();
  await expect(page.getByText("5,000 of 5,000 cases")).toBeVisible();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await faultsOf(page)).toEqual([]);
  }
});

test("a verdict and a comment on a case are a label of its author, which can be changed and removed", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  await pushRun(place, 20);
  await page.goto(`${place.url}/p/default/runs/${RUN}?case=0`);
  const card = page.getByRole("region", { name: "Scorecard" });
  const own = card.getByRole("group", { name: "Your label" });
  await own.getByRole("button", { name: "pass" }).click();
  await expect(own.getByRole("button", { name: "pass" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByText("1 case labelled by people; the verdict agrees with 0 of 1")).toBeVisible();
  const comment = "The answer is right, the reference is old.";
  await card.getByLabel("Comment").fill(comment);
  await card.getByRole("button", { name: "Save comment" }).click();
  // The button is also disabled while the comment is being saved.
  await expect
    .poll(async () => (await ask(place, "GET", `/runs/${RUN}/labels`)).items)
    .toMatchObject([{ place: 0, case: "question 0 [small]", is_passed: true, comment }]);
  expect(await faultsOf(page)).toEqual([]);

  await page.getByText("Measure the agreement").click();
  await expect(page.getByText(`jurist align --human ${RUN} --judge ${RUN}`)).toBeVisible();

  await page.reload();
  await expect(card.getByLabel("Comment")).toHaveValue(comment);
  // By keyboard: the button keeps the focus after it is pressed.
  await own.getByRole("button", { name: "fail" }).press("Enter");
  await expect(page.getByText("the verdict agrees with 1 of 1 label.")).toBeVisible();
  await expect(own.getByRole("button", { name: "fail" })).toBeFocused();
  await page.getByRole("tab", { name: "Answers" }).click();
  await expect(page.getByRole("row", { name: /^question 0 / })).toContainText("people: 1 fail");
  await page.goto(`${place.url}/p/default/runs/${RUN}?case=0`);
  await own.getByRole("button", { name: "fail" }).click();
  await expect(own.getByRole("button", { name: "fail" })).toHaveAttribute("aria-pressed", "false");
  await expect.poll(async () => (await ask(place, "GET", `/runs/${RUN}/labels`)).items).toEqual([]);
});

test("a case is run again by the server that has its files, else by a command", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 1 });
  const evals = [1, 2].map((n) => ({
    name: `capital ${n}`,
    response: "Paris",
    checks: [{ type: "contains", value: "Paris" }],
  }));
  writeFileSync(join(place.folder, "capitals.json"), JSON.stringify({ name: "capitals", evals }));
  await place.jurist("eval", "capitals.json", "--server", place.url);
  const { items } = await ask(place, "GET", "/runs");
  await page.goto(`${place.url}/p/default/runs/${items[0].id}?case=1`);
  await page.getByRole("button", { name: "Re-run" }).click();
  await expect(page).not.toHaveURL(new RegExp(items[0].id));
  await expect(page.getByText("1 case", { exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: "Scorecard" })).toContainText("capital 2");

  await pushRun(place, 2);
  await page.goto(`${place.url}/p/default/runs/${RUN}`);
  await page.getByRole("button", { name: "Re-run…" }).click();
  await expect(page.getByRole("dialog", { name: "Re-run the case" })).toContainText(
    "jurist eval SUITE.yaml --only 'question 0 [small]'",
  );
  expect(await faultsOf(page)).toEqual([]);
});
