// Monitors: their figures, their traces and their file, judged by a model behind a real socket.
import { fixed } from "../src/chart/figures";
import { formatMoney } from "../src/money/format";
import { expect, faultsOf, type Place, test } from "./place";
import { apply, ask, finish, MONITOR, settled, watch } from "./watched";

const there = (place: Place, name = "", search = "") =>
  `${place.url}/p/default/monitors${name && `/${encodeURIComponent(name)}`}${search}`;

test("figures are those of the API and of the command line", async ({ sound: page, place: start }) => {
  const place = await start({ workers: 2 });
  await watch(place);
  await page.goto(there(place));
  const row = page.getByRole("row", { name: /^desk/ });
  await expect(row).toContainText("running");
  const told = await place.jurist("monitor", "show", "desk", "--server", place.url);
  const score = /overall +score \S+ \[\S+ \S+\] \((\S+ \[\S+ \S+\])\)/.exec(told)?.[1] ?? "none";
  const passes = /(?:passes|pass rate) (\S+ %) \[/.exec(told)?.[1] ?? "none";
  expect(score).toMatch(/^0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]$/);
  await expect(row).toContainText(score);
  await expect(row).toContainText(passes);
  await expect(row).toContainText(/judge errors (\S+ %)/.exec(told)?.[1] ?? "none");
  expect(await faultsOf(page)).toEqual([]);

  const byScore = page.getByRole("columnheader", { name: "Score" });
  await byScore.getByRole("button", { name: "Explain score" }).focus();
  await expect(page.getByRole("tooltip")).toContainText("estimated from the sampled ones");
  await byScore.getByRole("button", { name: "Score", exact: true }).press("Enter");
  await expect(byScore).toHaveAttribute("aria-sort", "ascending");
  await page.getByRole("link", { name: "desk", exact: true }).click();
  await expect(page).toHaveTitle("desk · Jurist");
  const criteria = page.getByRole("table", { name: "Criteria" });
  const other = /other +(\d+) of (\d+) scored +\S+ \[\S+ \S+\] \((\S+ \[\S+ \S+\])\)/.exec(told) ?? [];
  for (const name of ["overall", "right", "kind"]) {
    const figure =
      new RegExp(`${name} +score \\S+ \\[\\S+ \\S+\\] \\((\\S+ \\[\\S+ \\S+\\])\\)`).exec(told)?.[1] ??
      "none";
    await expect(criteria.getByRole("row", { name: new RegExp(`^${name}`) })).toContainText(figure);
  }
  const naive = /unweighted mean \S+ \((\S+)\)/.exec(told)?.[1] ?? "none";
  await expect(criteria.getByRole("row", { name: /^overall/ })).toContainText(naive);
  const strata = page.getByRole("table", { name: "Overall score by stratum" });
  await expect(strata.getByRole("row", { name: /^other/ })).toContainText(other[3] ?? "none");
  await expect(strata.getByRole("row", { name: /^other/ })).toContainText(`${other[1]} of ${other[2]}`);
  await expect(strata.getByRole("row", { name: /^expensive/ })).toContainText("the stratum has no traces");
  await expect(strata.getByRole("row", { name: /^all traffic, weighted/ })).toContainText(score);
  await expect(strata.getByRole("row", { name: /^all traffic, unweighted mean/ })).toContainText(naive);
  await expect(page.getByRole("heading", { name: "States of 8 finished traces" })).toBeVisible();
  // Words that not everybody knows say what they mean, to the keyboard as well.
  const word = page.getByRole("button", { name: "Stratum" }).first();
  const meaning = page
    .getByRole("tooltip")
    .filter({ hasText: "A group of traces with one sampling probability." });
  await word.focus();
  await expect(meaning).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await word.press("Escape");
  await expect(meaning).toBeHidden();
  await word.hover();
  await expect(meaning).toBeVisible();
  await page.mouse.move(0, 0);

  // From a state to its traces, and on to the reason.
  await page.getByRole("link", { name: "1 judge error" }).click();
  await expect(page).toHaveURL(/view=traces.*state=judge_error/);
  await expect(page.getByRole("rowheader")).toHaveText("Question desk-4?");
  await page.getByRole("tab", { name: "Trend" }).click();
  await expect(
    page.getByRole("group", { name: /openai\/gpt-5-mini: \d\.\d\d on 1–5 \(0\.\d{3}\) on / }),
  ).toBeVisible();
  // A point leads to the traces of its day, and shows its figures.
  const day = page
    .getByRole("link", {
      name: /^Traces of \d{4}-\d{2}-\d{2}: \d\.\d\d on 1–5 \[\d\.\d\d, \d\.\d\d\] \(0\.\d{3} \[/,
    })
    .first();
  await expect(day).toHaveAttribute("href", /traces\?agent=desk&scored=true&from=.*&until=/);
  await day.focus();
  const figures = /^\d{4}-\d{2}-\d{2}: \d\.\d\d on 1–5 \[.*\] \(0\.\d{3} \[.*\]\), .*scored$/;
  await expect(page.getByText(figures)).toBeVisible();
  await page.getByText("Show as table").press("Enter");
  const [mean = "none", interval = "none"] = score.split(/ (?=\[)/);
  const byDay = page.getByRole("table", { name: "Scores by day" });
  await expect(byDay).toContainText(` on 1–5 ${mean}`);
  await expect(byDay).toContainText(`(${interval})`);
  await page.getByLabel("Criterion", { exact: true }).selectOption("kind");
  await expect(page).toHaveURL(/criterion=kind/);
  expect(await faultsOf(page)).toEqual([]);

  // What people's labels make of it stands beside what the judge says.
  await page.route("**/monitors/desk/estimates*", async (route) => {
    const answer = await (await route.fetch()).json();
    answer.judges[0].criteria[0].corrected = {
      mean: 0.4875,
      se: 0.03,
      interval: [0.4285, 0.5465],
      n_labels: 40,
      lambda: 0.8,
    };
    await route.fulfill({ json: answer });
  });
  await page.goto(there(place, "desk"));
  await expect(criteria.getByRole("row", { name: /^overall/ })).toContainText(
    "2.95 on 1–5 [2.71, 3.19] 0.487 [0.428, 0.546] 40 labels",
  );
  await expect(page.getByText("corrected with 40 human labels")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);

  // Where judges are apart.
  await page.goto(there(place, "two judges", "?view=traces"));
  await expect(page.getByRole("rowheader")).toHaveCount(8);
  await page.getByLabel("only where judges disagree").check();
  await expect(page.getByRole("rowheader")).toHaveText("Question desk-2?");
  await expect(page.getByRole("row", { name: /desk-2/ })).toContainText("disputed");
  expect(await faultsOf(page)).toEqual([]);
});

test("pause with its reason, edit with faults at their lines, judge again with the price first", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await apply(place, "desk", MONITOR);
  for (const n of [1, 2, 3]) await finish(place, `t${n}`, String(n + 2));
  await settled(place, "desk", 3);
  await page.goto(there(place, "desk"));
  await page.getByRole("button", { name: "Pause…" }).click();
  await page.getByLabel("Reason").fill("the judge is being moved");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await expect(page.getByText("Paused: the judge is being moved")).toBeVisible();
  expect((await ask(place, "GET", "/monitors/desk")).paused).toContain("the judge is being moved");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(page.getByRole("button", { name: "Pause…" })).toBeVisible();

  await page.getByRole("tab", { name: "File" }).click();
  const file = page.getByLabel("Monitor file");
  await file.fill(`${MONITOR}sample_rat: 3\n`);
  await file.press("Control+Enter");
  const faults = page.getByRole("alert");
  await expect(faults).toContainText("unknown key sample_rat");
  expect(await faultsOf(page)).toEqual([]);
  await faults.getByRole("button", { name: "line 10" }).click();
  await expect(file).toBeFocused();
  await file.fill(MONITOR.replace("It is kind", "It is kind and short"));
  await expect(faults).toHaveCount(0);
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("desk: new rubric version")).toBeVisible();
  await expect(page.getByText("· current")).toBeVisible();

  await page.getByRole("tab", { name: "Re-score" }).click();
  await expect(page.getByRole("heading", { name: "No re-scores yet" })).toBeVisible();
  await page.getByRole("button", { name: "Estimate cost" }).click();
  const plan = await place.jurist("monitor", "rescore", "desk", "--overlap", "200", "--server", place.url);
  const price = /about \$[0-9.]+/.exec(plan)?.[0] ?? "none";
  await expect(page.getByText(price)).toBeVisible();
  await expect(page.getByText("3 traces of 3, 3 calls")).toBeVisible();
  await page.getByRole("button", { name: "Start re-score" }).click();
  await expect(page.getByText(/3 of 3 re-scored with/)).toBeVisible({ timeout: 120_000 });
  await expect(page.getByRole("table", { name: "Offset between versions" })).toContainText("overall");
  expect(await faultsOf(page)).toEqual([]);
});

test("nothing is watched, nothing is scored, and a server that is away", async ({ page, place: start }) => {
  const place = await start({ workers: 1 });
  await page.goto(there(place));
  await expect(page.getByRole("heading", { name: "No monitors yet" })).toBeVisible();
  await page.getByRole("link", { name: "New monitor" }).click();
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("A name is required.")).toBeVisible();
  await page.getByLabel("Name").fill("support");
  await page.getByLabel("Monitor file").fill(MONITOR);
  await page.getByLabel("Monitor file").press("Control+Enter");
  await expect(page.getByRole("heading", { name: "No scores yet" })).toBeVisible();
  await expect(page).toHaveURL(/monitors\/support/);
  await page.goto(there(place, "never-was"));
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  await page.goto(there(place, "support"));
  await expect(page.getByRole("heading", { name: "No scores yet" })).toBeVisible();
  await place.stop();
  await page.getByRole("tab", { name: "Traces" }).click();
  await expect(page.getByRole("heading", { name: "The server does not answer" })).toBeVisible();
});

test("the dial says what another share would cost and tell, and turns; anchors lead to their traces", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  for (const [at, worth] of ["5", "1"].entries()) await finish(place, `anchor-${at}`, worth, "desk");
  const anchors = "calibration_anchors:\n  good: [anchor-0]\n  bad:\n    - run_id: anchor-1\n";
  await apply(place, "desk", MONITOR.replace("sample_rate: 1.0", "sample_rate: 0.5 # half") + anchors);
  for (let n = 0; n < 12; n += 1) await finish(place, `t${n}`, String(1 + (n % 5)), "desk", n % 4 === 0);
  await settled(place, "desk", 12);
  await page.goto(there(place, "desk"));
  await page.getByRole("tab", { name: "Sampling" }).click();
  const dial = page.getByLabel("Sample rate of finished traces");
  await expect(dial).toHaveValue("50");
  const table = page.getByRole("table", { name: "Projection for the sample rate" });
  await expect(table.getByRole("columnheader")).toHaveText(["Projection", /^Now, at 50 %/, /^At 50 %/]);
  expect(await faultsOf(page)).toEqual([]);
  await dial.focus();
  for (let n = 0; n < 25; n += 1) await page.keyboard.press("ArrowLeft");
  await expect(page).toHaveURL(/view=dial.*rate=0\.25/);
  const told = await ask(place, "GET", "/monitors/desk/projection?sample_rate=0.25");
  const said = (row: string) => table.getByRole("row", { name: new RegExp(`^${row}`) });
  await expect(table.getByRole("columnheader")).toHaveText(["Projection", /^Now, at 50 %/, /^At 25 %/]);
  await expect(said("Judged per month").getByRole("cell")).toHaveText([
    Math.round(told.now.judged_a_month).toLocaleString("en-US"),
    Math.round(told.judged_a_month).toLocaleString("en-US"),
  ]);
  await expect(said("Precision of the score").getByRole("cell").last()).toContainText(
    fixed(told.half_width.score, 3),
  );
  const { cap } = await ask(place, "GET", "/spend");
  await expect(said("Cost per month").getByRole("cell").last()).toContainText(
    formatMoney(told.cost.value, cap),
  );
  await page.getByRole("button", { name: "Set sample rate to 25 %" }).click();
  await expect(page.getByText("desk: new monitor version, same rubric version.")).toBeVisible();
  const after = await ask(place, "GET", "/monitors/desk");
  expect(after.sample_rate).toBe(0.25);
  expect(after.version.source).toContain("sample_rate: 0.25 # half");
  await expect(page.getByText("Move the slider to see")).toBeVisible();

  await page.getByRole("tab", { name: "Estimates" }).click();
  await expect(page.getByRole("heading", { name: "Anchors" })).toBeVisible();
  await expect(page.getByRole("link", { name: /^anchor-/ })).toHaveText(["anchor-0", "anchor-1"]);
  await page.getByRole("link", { name: "anchor-1" }).click();
  await expect(page).toHaveURL(/traces\/anchor-1/);
});

test("before anything finished, the dial says that it knows nothing", async ({ page, place: start }) => {
  const place = await start({ workers: 1 });
  await apply(place, "desk", MONITOR);
  await page.goto(there(place, "desk", "?view=dial"));
  await expect(page.getByRole("row", { name: /^Precision of the score/ })).toContainText("unknown");
  await page.route("**/monitors/desk/projection*", (route) => route.abort());
  await page.goto(there(place, "desk", "?view=dial&rate=0.4"));
  await expect(page.getByRole("heading", { name: "The server does not answer" })).toBeVisible();
});
