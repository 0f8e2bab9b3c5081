// Pictures of every page, to look at: JURIST_SCREENS=folder npx playwright test screens
import type { Page } from "@playwright/test";
import { BENCH } from "../playwright.config";
import { crowded, withJudge } from "./crowd";
import { expect, test } from "./place";

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
      await page.getByRole("button", { name: "New token" }).click();
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
