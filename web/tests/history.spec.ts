// Runs that are sent from elsewhere: their history, and two of them side by side.
import { expect, faultsOf, type Place, test } from "./place";

const RUBRIC = "r".repeat(64);

type Sent = {
  id: string;
  suite?: string;
  branch?: string;
  commit?: string;
  tags?: string[];
  cases: unknown[];
};

/** The answer of a case, and whether it is right. */
function caseOf(name: string, answer: string, passes: boolean, reason = "checked") {
  const unit = passes ? 1 : 0;
  return {
    case: name,
    candidate: name,
    rubric: RUBRIC,
    spend: {},
    verdict: { status: passes ? "pass" : "fail", score: unit, counts: {} },
    grades: [
      {
        candidate: name,
        criterion: "correct",
        grader: { kind: "judge", name: "m1" },
        outcome: { kind: "scored", value: unit, unit },
        reason,
        evidence: [{ quote: answer.slice(0, 20) }],
      },
      {
        candidate: name,
        criterion: "polite",
        grader: { kind: "judge", name: "m1" },
        outcome: { kind: "scored", value: 1, unit: 1 },
        reason: "It is polite.",
      },
    ],
    material: { response: answer },
  };
}

/** Sends a run as `jurist runs push` does. */
async function push(place: Pick<Place, "url">, sent: Sent) {
  const call = async (method: string, path: string, body: unknown) => {
    const headers = { "Content-Type": "application/json" };
    const url = `${place.url}/api/v1/runs/${sent.id}${path}`;
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
  };
  await call("PUT", "", {
    format: 1,
    suite: sent.suite ?? "capitals",
    started: "2026-03-01T10:00:00Z",
    seed: 1,
    rubrics: { [RUBRIC]: {} },
    provenance: {
      branch: sent.branch ?? "main",
      commit: sent.commit,
      author: "Ann Lee",
      tags: sent.tags,
      ci_url: "https://ci.example/7",
    },
  });
  const items = sent.cases.map((result, place) => ({ place, result }));
  for (let at = 0; at < items.length; at += 500)
    await call("PUT", "/results", { items: items.slice(at, at + 500) });
  await call("POST", "/end", { ended: "2026-03-01T10:01:00Z", n_results: items.length });
}

const idOf = (n: number): string => `run_0190c4d27e1b7a3c9f50b8e6d1a2${n.toString(16).padStart(4, "0")}`;
const commitOf = (n: number): string => n.toString(16).repeat(40).slice(0, 40);

/** A long answer in which one word changes. */
const answerOf = (at: number, city: string): string =>
  `${"France has many cities. ".repeat(at === 0 ? 60 : 1)}The capital is ${city}, case ${at}.`;

const cases = (n: number, fails: (at: number) => boolean, city = "Paris") =>
  Array.from({ length: n }, (_, at) =>
    caseOf(
      `case ${at}`,
      answerOf(at, fails(at) ? "Lyon" : city),
      !fails(at),
      fails(at) ? "It names Lyon." : "It is right.",
    ),
  );

test("the history marks where a suite changed, as a chart and as a table", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await page.goto(`${place.url}/p/default/history`);
  await expect(page.getByRole("heading", { name: "No runs yet" })).toBeVisible();
  const fails = [0, 1, 0, 1, 20, 21, 1, 0];
  for (const [n, nFailed] of fails.entries()) {
    const branch = n === 1 ? "work" : "main";
    const tags = n === 0 ? ["nightly"] : [];
    await push(place, {
      id: idOf(n),
      commit: commitOf(n + 1),
      branch,
      tags,
      cases: cases(40, (at) => at < nFailed),
    });
  }
  await push(place, { id: idOf(100), suite: "other", cases: cases(3, () => false) });
  await page.goto(`${place.url}/p/default/runs`);
  await expect(page.getByRole("cell", { name: /main.*8888888.*Ann Lee/ })).toBeVisible();
  await page.getByLabel("Suite").selectOption("capitals");
  await page.getByRole("link", { name: "History" }).click();
  const score = page.getByRole("figure", { name: "Score" });
  await expect(score.getByRole("link")).toHaveCount(8);
  await expect(page.getByText(/^2 significant changes in 7 comparisons/)).toBeVisible();
  const rows = page.getByRole("table", { name: "Runs with their changes" }).getByRole("row");
  await expect(rows).toHaveCount(9);
  await expect(rows.filter({ hasText: "▼ worse" })).toHaveCount(1);
  await expect(rows.filter({ hasText: "▼ worse" })).toContainText("5555555");
  await expect(rows.filter({ hasText: "▲ better" })).toContainText("7777777");
  await expect(rows.filter({ hasText: "no significant change" })).toHaveCount(5);
  await expect(score.getByRole("link", { name: /5555555.*The score fell by/ })).toBeVisible();
  await score.getByText("Show as table").press("Enter");
  await expect(score.getByRole("row", { name: /5555555/ })).toContainText("The score fell by");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByLabel("Branch").selectOption("work");
  await expect(score.getByRole("link")).toHaveCount(1);
  await page.getByLabel("Branch").selectOption("");
  // From a change to the two runs side by side, by keyboard.
  await rows
    .filter({ hasText: "▼ worse" })
    .getByRole("link", { name: /^Compare/ })
    .press("Enter");
  await expect(page).toHaveURL(/compare\?.*before=run_/);
  await expect(page.getByRole("tab", { name: "Got worse (19)" })).toBeVisible();
  await page.goto(`${place.url}/p/default/runs?tag=nightly`);
  await expect(page.getByRole("table", { name: "Runs" }).getByRole("rowheader")).toHaveCount(1);
});

test("two runs are side by side: answers, reasons, evidence and filters", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await push(place, { id: idOf(1), commit: commitOf(1), cases: cases(60, (at) => at === 5) });
  await push(place, {
    id: idOf(2),
    commit: commitOf(2),
    cases: cases(60, (at) => at < 3, "Paris, of course"),
  });
  await page.goto(`${place.url}/p/default/compare?before=${idOf(1)}&after=${idOf(2)}`);
  const section = page.getByRole("region", { name: "Cases side by side" });
  await expect(section.getByRole("tab")).toHaveText([
    "Verdict changed (4)",
    "Got worse (3)",
    "Got better (1)",
    "Different answer, same verdict (56)",
    "Undecided (0)",
    "All (60)",
  ]);
  const first = section.getByRole("article", { name: "case 0" });
  await expect(first.getByRole("deletion")).toHaveText("Paris");
  await expect(first.getByRole("insertion")).toHaveText("Lyon");
  const row = first.getByRole("row", { name: /^correct/ });
  await expect(row).toContainText("It is right.");
  await expect(row).toContainText("It names Lyon.");
  await expect(first.getByText("Same grades for 1 criterion")).toBeVisible();
  await first.getByRole("button", { name: "Show all of it" }).first().press("Enter");
  await expect(first.getByRole("button", { name: "Show less" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  // Tabs are operated by arrows, and the address keeps the choice.
  await section.getByRole("tab", { name: /^Verdict changed/ }).press("ArrowRight");
  await expect(section.getByRole("article")).toHaveCount(3);
  await expect(page).toHaveURL(/show=worse/);
  await section.getByRole("tab", { name: /^Different answer/ }).click();
  await expect(section.getByRole("article")).toHaveCount(20);
  await section.getByRole("button", { name: "Show more" }).click();
  await expect(section.getByRole("article")).toHaveCount(40);
  await section.getByLabel("Find a case").fill("case 41");
  await expect(section.getByRole("article")).toHaveCount(1);
  await section.getByLabel("Find a case").fill("nowhere");
  await expect(section.getByText("No case name contains this text.")).toBeVisible();
  await page.goto(`${place.url}/p/default/compare?before=${idOf(1)}&after=${idOf(2)}&show=undecided`);
  await expect(section.getByText("Every case has a verdict in both runs.")).toBeVisible();
});

test("10,000 cases are compared and drawn page by page", async ({ sound: page, place: start }) => {
  test.setTimeout(600_000);
  const place = await start({ workers: 0 });
  const n = 10_000;
  await push(place, { id: idOf(1), commit: commitOf(1), cases: cases(n, (at) => at % 50 === 0) });
  await push(place, {
    id: idOf(2),
    commit: commitOf(2),
    cases: cases(n, (at) => at % 40 === 0, "Paris, of course"),
  });
  const times: Record<string, number> = {};
  const timed = async (name: string, path: string) => {
    const begun = performance.now();
    const answer = await fetch(`${place.url}/api/v1${path}`);
    await answer.text();
    times[name] = Math.round(performance.now() - begun);
    expect(answer.status).toBe(200);
  };
  await timed("changes", `/runs/${idOf(2)}/changes?baseline=${idOf(1)}&filter=different-answer&limit=20`);
  await timed(
    "changes, page 100",
    `/runs/${idOf(2)}/changes?baseline=${idOf(1)}&filter=all&limit=20&after=2000`,
  );
  await timed("history", "/run-history?suite=capitals");
  await timed("history again", "/run-history?suite=capitals");
  test.info().annotations.push({ type: "times in ms", description: JSON.stringify(times) });
  await page.goto(`${place.url}/p/default/compare?before=${idOf(1)}&after=${idOf(2)}&show=all`);
  const section = page.getByRole("region", { name: "Cases side by side" });
  await expect(section.getByRole("tab", { name: "All (10,000)" })).toBeVisible({ timeout: 120_000 });
  await expect(section.getByRole("article")).toHaveCount(20);
});
