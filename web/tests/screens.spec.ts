// Pictures of every page, to look at: JURIST_SCREENS=folder npx playwright test screens
import type { Page } from "@playwright/test";
import { BENCH } from "../playwright.config";
import { askTwice } from "./asking";
import { crowded, withJudge } from "./crowd";
import { expect, sendTrace, test, writeSuite } from "./place";
import { apply, ask, finish, MONITOR, TIMED, watch } from "./watched";

const folder = process.env.JURIST_SCREENS;

test.skip(!folder, "pictures are made when asked for");
test.setTimeout(180_000);

for (const scheme of ["light", "dark"] as const) {
  for (const [size, width, height] of [
    ["wide", 1440, 900],
    ["narrow", 420, 860],
  ] as const) {
    test(`${scheme}, ${size}`, async ({ page, open, place: start }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      const shot = async (name: string) => {
        await page.waitForTimeout(300);
        await page.screenshot({ path: `${folder}/${name}-${scheme}-${size}.png` });
      };
      await page.goto(`${open}/p/default/runs`);
      await expect(page.getByRole("rowheader").first()).toBeVisible();
      await shot("runs");
      await page.getByRole("link", { name: "support desk" }).first().click();
      await expect(page.getByRole("region", { name: "Scorecard" })).toBeVisible();
      await shot("run");
      await page.goto(`${open}/p/default/traces`);
      await expect(page.getByRole("rowheader").first()).toBeVisible();
      await shot("traces");
      await page.goto(`${open}/p/default/traces/trace_042?step=3&find=page`);
      await expect(page.getByRole("article").first()).toBeVisible();
      await shot("trace");
      for (const name of ["members", "tokens", "audit"]) {
        await page.goto(`${open}/p/default/settings/${name}`);
        await expect(page.getByRole("heading", { level: 2 }).first()).toBeVisible();
        await shot(name);
      }
      await page.goto(`${open}/p/default/settings/tokens`);
      await page.getByRole("button", { name: "New API token" }).click();
      await shot("new-token");
      await page.goto(`${open}/no/such/page`);
      await shot("not-found");
      const place = await start({ auth: true });
      await page.goto(place.url);
      await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
      await shot("sign-in");
      await page.goto(place.link);
      await expect(page.getByRole("heading", { name: "Join" })).toBeVisible();
      await shot("join");
      await page.goto(`${BENCH}/#rubric`);
      await rate(page);
      await shot("rubric");
      await page.keyboard.press("?");
      await shot("keys");
      await page.goto(`${BENCH}/?both#both`);
      await page.locator('[data-step="2"]').getByLabel("incorrect").check();
      await page.locator('[data-step="2"]').getByLabel("major").check();
      await shot("steps");
      await page.goto(`${BENCH}/?pair#pair`);
      await page.keyboard.press("1");
      await shot("pair");
      await page.goto(`${BENCH}/?plain#plain`);
      await page.getByRole("button", { name: "Submit" }).click();
      await shot("plain");
    });
  }
}

for (const scheme of ["light", "dark"] as const) {
  for (const [size, width, height] of [
    ["wide", 1440, 900],
    ["narrow", 420, 860],
  ] as const) {
    test(`annotating, ${scheme}, ${size}`, async ({ page, place: start }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      const shot = async (name: string, fullPage = false) => {
        await page.waitForTimeout(300);
        await page.screenshot({ path: `${folder}/${name}-${scheme}-${size}.png`, fullPage });
      };
      const place = await start({});
      const here = `${place.url}/p/default/annotate`;
      const id = await crowded(place);
      await page.goto(here);
      await expect(page.getByRole("heading", { level: 2 }).first()).toBeVisible();
      await shot("tasks");
      await page.getByRole("button", { name: "New task" }).click();
      await page.getByRole("tab", { name: "A rubric over traces" }).click();
      await shot("new-task");
      for (const name of ["overview", "people", "agreement"]) {
        await page.goto(`${here}/${id}/${name}`);
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        await expect(page.getByText(/^Loading/)).toHaveCount(0);
        await shot(name, true);
      }
      await page.goto(`${here}/${id}/disputes`);
      await expect(page.getByRole("radio").first()).toBeVisible();
      await page.keyboard.press("4");
      await shot("disputes", size === "narrow");
      await page.goto(`${here}/${id}`);
      await page.getByLabel("Your name").fill("Edda");
      await shot("who");
      await page.keyboard.press("Enter");
      await expect(page.getByRole("button", { name: "Submit" })).toBeVisible();
      await rate(page);
      await shot("work");
      await page.route("**/api/v1/**/agreement", (route) => route.fulfill({ json: withJudge }));
      await page.goto(`${here}/${id}/agreement`);
      await expect(page.getByRole("rowheader").first()).toBeVisible();
      await shot("judge", true);
      await page.goto(`${place.url}/join#task=abc`);
      await expect(page.getByRole("heading", { name: "Annotate" })).toBeVisible();
      await shot("join-task");
      await page.goto(`${BENCH}/?verify#verify`);
      await expect(page.getByRole("button", { name: "Confirm" }).first()).toBeVisible();
      await page.keyboard.press("y");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("x");
      await shot("verify");
    });
  }
}

for (const scheme of ["light", "dark"] as const) {
  for (const [size, width, height] of [
    ["wide", 1440, 900],
    ["narrow", 420, 860],
  ] as const) {
    test(`dashboard, ${scheme}, ${size}`, async ({ page, place: start }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      const place = await start({ workers: 2 });
      await page.goto(place.url);
      await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
      const shot = async (name: string) => {
        await page.waitForTimeout(500);
        await page.screenshot({ path: `${folder}/${name}-${scheme}-${size}.png`, fullPage: true });
      };
      await shot("first");
      await watch(place);
      for (const n of [24, 25]) await place.jurist("eval", writeSuite(place, n), "--server", place.url);
      await page.route("**/trend?*", (route) => route.fulfill({ json: invented() }));
      await page.route("**/trend", (route) => route.fulfill({ json: invented() }));
      const at = async (name: string, path: string, seen: string | RegExp) => {
        await page.goto(`${place.url}/p/default${path}`);
        await expect(page.getByText(seen).first()).toBeVisible();
        await shot(name);
      };
      await at("overview", "", /^0\.\d{3}$/);
      await at("monitors", "/monitors", /^0\.\d{3}$/);
      await at("monitor", "/monitors/desk", /^0\.\d{3}$/);
      await at("trend", "/monitors/desk?view=trend", "Show as table");
      await at("decisions", "/monitors/two%20judges?view=traces", "desk-2");
      await at("again", "/monitors/desk?view=again", "Estimate cost");
      await at("file", "/monitors/desk?view=file", "Monitor file");
      await page.getByLabel("Monitor file").fill("agent: desk\nrubrik: nothing\n");
      await page.getByLabel("Monitor file").press("Control+Enter");
      await expect(page.getByRole("alert")).toBeVisible();
      await shot("file-wrong");
      await at("graded", "/traces/desk-2", "Grades by grader");
      await at("rubrics", "/rubrics", "two judges");
      await page.getByRole("link", { name: "desk", exact: true }).first().click();
      await expect(page.getByRole("radiogroup").first()).toBeVisible();
      await shot("rubric-preview");
      await at("dial", "/monitors/desk?view=dial&rate=0.4", "Cost per month");
      await at("compare", "/compare", "Differences");
      await at("ranking", "/ranking", "No comparisons yet");
      await at("notifications", "/settings/notifications", "Quiet hours");
      await ask(place, "PUT", "/spend/cap", { amount: 0.0001, currency: "USD" });
      await finish(place, "late", "4");
      await expect.poll(async () => (await ask(place, "GET", "/alerts")).items.length).toBeGreaterThan(0);
      await at("budget", "/budget", "By day");
      await at("alerts", "/alerts", /judging has stopped/i);
      await at("overview-alert", "", /judging has stopped/i);
    });
  }
}

for (const scheme of ["light", "dark"] as const) {
  for (const [size, width, height] of [
    ["wide", 1440, 900],
    ["narrow", 420, 860],
  ] as const) {
    test(`views, ${scheme}, ${size}`, async ({ page, place: start }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      const place = await start({ workers: 2 });
      const at = async (name: string, path: string, seen: string | RegExp) => {
        await page.goto(`${place.url}/p/default${path}`);
        await expect(page.getByText(seen).first()).toBeVisible();
        await page.waitForTimeout(500);
        await page.screenshot({ path: `${folder}/${name}-${scheme}-${size}.png`, fullPage: true });
      };
      await askTwice(place);
      const { items: runs } = await ask(place, "GET", "/runs");
      const run = `/runs/${runs[0].id}`;
      await at("run-answers", `${run}?view=answers`, /^\d+ of \d+ rows$/);
      await at("run-criteria", `${run}?view=criteria`, "right status");
      await at("run-matrix", `${run}?view=matrix`, /^Colour: mean score/);
      await at("run-flaky", `${run}?view=flaky`, /passed at least once/);
      await at("history", "/history", "Since the run before");
      await ask(place, "POST", "/datasets", { name: "refunds", description: "Questions of customers" });
      const records = Array.from({ length: 12 }, (_, n) => ({
        id: `case-${n}`,
        input: `Where is refund ${n}?`,
      }));
      await ask(place, "POST", "/datasets/refunds/versions", { base: 0, records, note: "first import" });
      await at("datasets", "/datasets", "refunds");
      await at("dataset", "/datasets/refunds", "Where is refund 0?");
      await sendTrace(place, "timed", "desk", TIMED);
      await at("trace-timeline", "/traces/timed?view=timeline", "find_order");
      await at("trace-json", "/traces/timed?view=json", "Download");
      await apply(place, "desk", MONITOR);
      await at("judges", "/settings/judges", "openai/gpt-5-mini");
      await at("project", "/settings/data", "Retention");
      const id = await crowded(place);
      await at("results", `/annotate/${id}/results`, /Means are on the scale of each question/);
      await page.route("**/api/v1/traces/timed", (route) =>
        route.fulfill({
          status: 500,
          headers: { "x-request-id": "4f9a8b7c6d5e4f3a" },
          json: { title: "Internal server error", detail: "it is in the log", status: 500 },
        }),
      );
      await at("error", "/traces/timed", /request 4f9a8b7c6d5e4f3a$/);
    });
  }
}

const demo = process.env.JURIST_DEMO;

for (const scheme of ["light", "dark"] as const) {
  for (const [size, width, height] of [
    ["wide", 1440, 900],
    ["tablet", 834, 1112],
    ["narrow", 390, 844],
  ] as const) {
    test(`demo, ${scheme}, ${size}`, async ({ page }) => {
      test.skip(!demo, "JURIST_DEMO is the address of a demo that runs: scripts/demo");
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      const tasks = await page.request.get(`${demo}/api/v1/tasks?project=Demo-invented`);
      const { items } = (await tasks.json()) as { items: { id: string; name: string }[] };
      const id = items.find((it) => it.name.startsWith("Changes"))?.id;
      for (const [name, path] of Object.entries({
        overview: "",
        monitor: "/monitors/support%20desk",
        trend: "/monitors/support%20desk?view=trend",
        traces: "/traces",
        tasks: "/annotate",
        task: `/annotate/${id}/overview`,
        people: `/annotate/${id}/people`,
        disputes: `/annotate/${id}/disputes`,
        agreement: `/annotate/${id}/agreement`,
      })) {
        await page.goto(`${demo}/p/Demo-invented${path}`);
        await page.waitForLoadState("networkidle");
        await page.waitForTimeout(300);
        await page.screenshot({ path: `${folder}/demo-${name}-${scheme}-${size}.png`, fullPage: true });
      }
    });
  }
}

/** Three weeks of one line that fell, and of the version after it. */
function invented() {
  const days = (from: number, to: number, mean: number) =>
    Array.from({ length: to - from }, (_, n) => {
      const value = mean + 0.03 * Math.sin(n * 2.4) - (from + n > 11 && from + n < 15 ? 0.1 : 0);
      const width = 0.3 / Math.sqrt(n + 1);
      return {
        day: new Date(Date.UTC(2026, 2, 1 + from + n)).toISOString(),
        mean: n === 5 ? null : value,
        interval: n === 5 ? null : [value - 0.05, value + 0.05],
        sequence: [Math.max(0, mean - width), Math.min(1, mean + width)],
        n: n === 5 ? 0 : 40,
        n_seen: 400,
      };
    });
  const line = (id: string, points: unknown[]) => ({
    rubric_version: `rubv_local_${id}`,
    judge: "openai/gpt-5-mini",
    criterion: null,
    points,
  });
  return [line("0190c5f00d", days(15, 22, 0.74)), line("0190c4beef", days(0, 15, 0.81))];
}

/** Half of a rubric, with a quote and a comment. */
async function rate(page: Page) {
  const row = (name: string) => page.getByRole("radiogroup", { name });
  await row("Correctness").getByRole("radio", { name: /^4/ }).click();
  await page.getByText("Integer division drops the remainder.").click({ clickCount: 3 });
  await page.locator('[data-row="correctness"]').getByRole("button", { name: "quote" }).click();
  await row("Code Quality").getByRole("radio", { name: /^5/ }).click();
  await row("Efficiency").getByRole("radio", { name: /^4/ }).click();
  await row("Documentation").getByRole("radio", { name: /^2/ }).click();
  await row("Documentation").getByRole("radio", { name: /^2/ }).hover();
}
