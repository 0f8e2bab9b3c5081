// One trace: why it has a score or none, and what each grader said.
import { expect, faultsOf, test } from "./place";
import { apply, ask, finish, MONITOR, QUOTING, settled, watch } from "./watched";

test("why a trace has no score, grades side by side, and quotes where they stand", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await watch(place);
  await page.goto(`${place.url}/p/default/traces/desk-4`);
  const why = page.getByRole("region", { name: "Decisions of monitors" });
  await expect(why.getByText("judge error").first()).toBeVisible();
  await expect(why).toContainText("malformed: the reply has no score");
  await expect(why).toContainText("Sampling probability 100 % (neither failed nor expensive)");
  const way = why.getByRole("list", { name: "Decision of desk" }).getByRole("listitem");
  await expect(way).toHaveText([
    /^finished/,
    /^100 % probability.*neither failed nor expensive/,
    /^sampled/,
    /^judge error.*failed here/,
    /^scored.*not reached/,
  ]);
  expect(await faultsOf(page)).toEqual([]);

  // Two judges, and where they are apart.
  await page.goto(`${place.url}/p/default/traces/desk-2`);
  await expect(why).toContainText("judges disagree by 2.0 on 1–5 (0.50)");
  await expect(way.last()).toHaveText("scored2.50 on 1–5 0.38 fail");
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
  await expect(two.getByRole("row", { name: /^right/ })).toContainText("✕ fail");
  await expect(two.getByRole("row", { name: /^right/ })).toContainText("It is worth 1, as it says: right.");
  expect(await faultsOf(page)).toEqual([]);

  // What was asked, word for word, is shown when it is asked for.
  await why.getByRole("button", { name: "Judge requests" }).press("Enter");
  await expect(page).toHaveURL(/exchanges=true/);
  const asked = page.getByRole("dialog", { name: "Judge requests and replies" });
  await expect(asked.getByRole("group")).toHaveCount(3);
  await asked.locator("summary", { hasText: "gpt-5-nano" }).click();
  await expect(asked.locator("details[open]").getByText("Answer desk-2, worth 3.")).toBeVisible();
  await expect(
    asked.getByRole("region", { name: "Reply" }).getByText('"It is worth 1, as it says: right."'),
  ).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(asked).toBeHidden();
  await expect(page).not.toHaveURL(/exchanges/);
});

test("quotes are marked in the steps, and lead there", async ({ sound: page, place: start }) => {
  const place = await start({ workers: 2 });
  await apply(place, "quoting", QUOTING);
  await finish(place, "quoted", "4");
  await settled(place, "quoting", 1);
  await page.goto(`${place.url}/p/default/traces/quoted`);
  const grades = page.getByRole("region", { name: "Grades" });
  await expect(grades.getByText("It is worth 4, as it says: right.")).toBeVisible();
  await expect(grades.getByText("quote not found")).toHaveCount(2);
  const marked = () =>
    page.evaluate(() =>
      [...(CSS.highlights.get("jurist-quote") ?? [])].map((it) => (it as Range).toString()),
    );
  await expect.poll(marked).toEqual(["worth 4", "worth 4"]);
  const step = page.getByRole("article", { name: /^Step 2/ });
  await expect(step.getByRole("list", { name: "Quoted by" })).toContainText(
    "right 4 on 1–5 0.75 ✓ pass quoted by openai/gpt-5-mini",
  );
  await grades.getByRole("button", { name: "worth 4" }).first().press("Enter");
  await expect(page).toHaveURL(/step=2/);
  await expect(step).toBeInViewport();
  expect(await faultsOf(page)).toEqual([]);
});

test("how a total comes about stands beside it: weights, what is required, and the pass mark", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await apply(
    place,
    "weighed",
    QUOTING.replace("  require_evidence: true\n", "").replace(
      "{name: right,",
      "{name: right, weight: 3, required: true,",
    ),
  );
  await finish(place, "poor", "2");
  await settled(place, "weighed", 1);
  const { items } = await ask(place, "GET", "/grades?candidate=poor");
  const unit = (name: string): number =>
    items.find((it: { criterion: string }) => it.criterion === name).score;
  const [right, kind] = [unit("right"), unit("kind")];
  await page.goto(`${place.url}/p/default/traces/poor`);
  const total = page.getByRole("group", { name: "How the score is computed" });
  await expect(total).toContainText(
    `(3 × ${right.toFixed(2)} + 1 × ${kind.toFixed(2)}) ÷ 4 = ${((3 * right + kind) / 4).toFixed(2)}`,
  );
  await expect(total).toContainText("Below the pass mark of 3.80 on 1–5 (0.70).");
  await expect(
    page.getByText("Failed gates (the verdict is fail at any score): required · right"),
  ).toBeVisible();
  await expect(page.getByRole("rowheader", { name: /^right/ })).toHaveText("right weight 3required");
  await expect(page.getByRole("rowheader", { name: /^kind/ })).toHaveText("kind weight 1");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("region", { name: "Grades" }).getByRole("link", { name: "weighed" }).click();
  await expect(page.getByRole("heading", { name: "weighed" })).toBeVisible();
});

test("what judges said of a trace is shown to whoever has to answer it after that", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await apply(place, "quoting", QUOTING);
  await finish(place, "quoted", "4");
  await settled(place, "quoting", 1);
  const asked = { name: "looks", rubric: "quoting", traces: ["quoted"] };
  const { id } = await ask(place, "POST", "/tasks", asked);
  const trace = `${place.url}/p/default/traces/quoted`;
  await page.goto(trace);
  await expect(page.getByText("It is worth 4, as it says: right.")).toBeVisible();
  await page.goto(`${place.url}/p/default/annotate/${id}`);
  await page.getByLabel("Your name").fill("Ana");
  await page.keyboard.press("Enter");
  const rows = page.locator("[data-row]");
  await expect(rows.first()).toBeVisible();

  await page.goto(trace);
  const note = page.getByRole("note");
  await expect(note).toContainText("You have not annotated this trace yet.");
  await expect(page.getByRole("button", { name: "Judge requests" })).toBeHidden();
  await expect(page.getByText("as it says: right")).toHaveCount(0);
  await expect(page.getByText("verdict", { exact: true })).toHaveCount(0);
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${place.url}/p/default/traces`);
  await expect(page.getByRole("row", { name: /quoted/ })).toContainText("hidden until you have annotated it");

  await page.goto(trace);
  await note.getByRole("link", { name: "Annotate" }).click();
  await page.getByRole("link", { name: "Start looks" }).click();
  await expect(rows.first()).toBeVisible();
  for (let n = await rows.count(); n > 0; n -= 1) {
    await page.keyboard.press("1");
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Control+Enter");
  await expect(rows).toHaveCount(0);
  await page.goto(trace);
  await expect(page.getByText("It is worth 4, as it says: right.")).toBeVisible();
  await expect(note).toHaveCount(0);
});

test("a trace is sent to people, into a new task and into one that is there", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await ask(place, "POST", "/rubrics", {
    name: "tone",
    source: "criteria: [{name: tone, description: How friendly is it?, scale: binary}]",
  });
  for (const id of ["a", "b"]) await finish(place, id, "4");
  await page.goto(`${place.url}/p/default/traces/a`);
  const open = page.getByRole("button", { name: "Send to annotators…" });
  await open.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Send 1 trace to annotators" });
  await dialog.getByLabel("Name").fill("looks");
  await dialog.getByLabel("Rubric").selectOption("tone");
  expect(await faultsOf(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(dialog.getByRole("status")).toHaveText("1 trace added to looks.");
  await page.keyboard.press("Escape");
  await expect(open).toBeFocused();
  const tasks = async () => (await ask(place, "GET", "/tasks")).items;
  expect((await tasks()).map((it: { progress: { n_items: number } }) => it.progress.n_items)).toEqual([1]);

  // Both of a list, of which one is there already.
  await page.goto(`${place.url}/p/default/traces`);
  await page.getByLabel("Select all shown traces").check();
  await expect(page.getByText("2 traces selected")).toBeVisible();
  await page.getByRole("button", { name: "Send to annotators…" }).click();
  const both = page.getByRole("dialog", { name: "Send 2 traces to annotators" });
  await both.getByLabel("Task").selectOption("looks");
  await both.getByRole("button", { name: "Send" }).click();
  await expect(both.getByRole("status")).toHaveText("1 trace added to looks; 1 trace already there.");
  expect((await tasks())[0].progress.n_items).toBe(2);
});

test("a trace becomes an anchor in the file of a monitor, which is looked at before it is applied", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await finish(place, "example", "5");
  await page.goto(`${place.url}/p/default/traces/example`);
  await page.getByRole("button", { name: "Use as anchor…" }).click();
  await expect(page.getByRole("heading", { name: "No monitors yet" })).toBeVisible();
  await apply(place, "desk", MONITOR);
  await page.reload();
  await page.getByRole("button", { name: "Use as anchor…" }).press("Enter");
  await page.getByLabel("bad").check();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Open the file" }).press("Enter");
  await expect(page.getByText("example is now one of the bad anchors below")).toBeVisible();
  await expect(page.getByLabel("Monitor file")).toHaveValue(
    `${MONITOR}calibration_anchors:\n  bad:\n    - run_id: example\n`,
  );
  // What `jurist check` says of it is said here too.
  await expect(page.getByText("1 anchor will hardly steer a judge")).toBeVisible();
  expect((await ask(place, "GET", "/monitors/desk")).version.source).toBe(MONITOR);
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("desk: new rubric version")).toBeVisible();
  await expect(page.getByText("example is one of its anchors.")).toBeVisible();
  expect((await ask(place, "GET", "/monitors/desk")).version.source).toContain("run_id: example");
});

test("what cannot be read is said where it would stand", async ({ page, place: start }) => {
  const place = await start({ workers: 0 });
  await finish(place, "alone", "4", "nobody");
  const broken = {
    status: 500,
    json: { title: "Internal server error", detail: "it is in the log", status: 500 },
  };
  await page.route("**/api/v1/grades?*", (route) => route.fulfill(broken));
  await page.route("**/api/v1/traces/alone/decisions", () => {});
  await page.goto(`${place.url}/p/default/traces/alone`);
  await expect(page.getByText("it is in the log")).toBeVisible({ timeout: 120_000 });
  await expect(page.getByText("Loading decisions of monitors…")).toBeVisible();
  await expect(page.getByText("Answer alone, worth 4.")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
});

test("a trace that nobody watched, and one that was left out, say so", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await finish(place, "alone", "4", "nobody");
  await page.goto(`${place.url}/p/default/traces/alone`);
  await expect(page.getByText("No monitor covered this agent when the trace finished")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await apply(place, "desk", `${MONITOR}filter: {min_steps: 50}\n`);
  await finish(place, "short", "4");
  await expect.poll(async () => (await ask(place, "GET", "/traces/short/decisions")).length).toBe(1);
  await page.goto(`${place.url}/p/default/traces/short`);
  await expect(page.getByRole("region", { name: "Decisions of monitors" })).toContainText("filtered");
});
