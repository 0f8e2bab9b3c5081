// Every page on a telephone: nothing wider than the screen, nothing cut, and letters that can be read.
import type { Page } from "@playwright/test";
import { askTwice } from "./asking";
import { task } from "./crowd";
import { expect, faultsOf, sendTrace, test } from "./place";
import { ask, watch } from "./watched";

const [WIDTH, HEIGHT] = [390, 844];

test.use({ viewport: { width: WIDTH, height: HEIGHT } });

async function waitUntilLoaded(page: Page) {
  await page.waitForLoadState("networkidle");
  await expect(page.getByText(/^Loading/)).toHaveCount(0);
}

/** Tables that scroll sideways, by their names; charts may. */
const scrollingParts = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("main *")]
      .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 2)
      .filter((part) => /auto|scroll/.test(getComputedStyle(part).overflowX))
      .filter((part) => !part.matches("pre, textarea, [role=tablist]") && !part.querySelector(":scope > svg"))
      .filter((part) => part.checkVisibility())
      .map((part) => part.getAttribute("aria-label") ?? part.className),
  );

/** Texts of charts that are smaller than nine pixels. */
const smallLabels = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<SVGTextElement>("svg text")].flatMap((text) => {
      const scale = text.getScreenCTM()?.d ?? 1;
      const size = Number.parseFloat(getComputedStyle(text).fontSize) * Math.abs(scale);
      const isDrawn = text.getBoundingClientRect().width > 0;
      return isDrawn && size < 9 ? [`${text.textContent}: ${size.toFixed(1)}`] : [];
    }),
  );

test("on a telephone no page is wider than the screen, no table is cut, and charts can be read", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await watch(place);
  await askTwice(place);
  const id = await task(place);
  await ask(place, "POST", `/tasks/${id}/links`, {});
  await ask(place, "POST", "/datasets", { name: "refunds", description: "Questions of customers" });
  const records = Array.from({ length: 12 }, (_, n) => ({
    id: `case-with-a-long-key-${n}`,
    input: `I bought the lamp number ${n} three weeks ago and it has a crack. Can I send it back for a refund?`,
  }));
  await ask(place, "POST", "/datasets/refunds/versions", { base: 0, records });
  await ask(place, "PUT", "/spend/cap", { amount: 0.0001, currency: "USD" });
  const { items: runs } = await ask(place, "GET", "/runs");
  expect(runs).toHaveLength(2);
  const run = `/runs/${runs[0].id}`;
  const [rubric] = await ask(place, "GET", "/rubrics");
  const pages = [
    ["", "/monitors", "/monitors/desk", "/monitors/desk?view=trend", "/monitors/desk?view=traces"],
    ["/monitors/desk?view=dial", "/monitors/desk?view=again", "/monitors/desk?view=file", "/new-monitor"],
    ["/runs", run, `${run}?view=answers`, `${run}?view=criteria`, `${run}?view=matrix`, `${run}?view=flaky`],
    ["/compare", "/history", "/ranking", "/traces", "/traces/desk-2", "/traces/desk-2?view=timeline"],
    ["/rubrics", "/new-rubric", `/rubrics/${rubric.id}`, `/rubrics/${rubric.id}?view=file`],
    ["/datasets", "/datasets/refunds", "/datasets/refunds?view=changes", "/annotate"],
    [`/annotate/${id}/overview`, `/annotate/${id}/results`, `/annotate/${id}/people`],
    [`/annotate/${id}/disputes`, `/annotate/${id}/agreement`, "/budget", "/alerts", "/no/such/page"],
    ["members", "tokens", "notifications", "judges", "data", "audit"].map((name) => `/settings/${name}`),
  ].flat();
  // Differences and answers side by side need more room than there is; they scroll, and nothing else does.
  const mayScroll = /^\/(compare|ranking)|view=(answers|matrix)/;
  for (const path of pages) {
    await test.step(path || "/", async () => {
      await page.goto(`${place.url}/p/default${path}`);
      await waitUntilLoaded(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect.soft(wide, `${path} is as wide as the screen`).toBe(WIDTH);
      expect.soft(await smallLabels(page), `${path} has letters that can be read`).toEqual([]);
      if (!mayScroll.test(path)) {
        expect.soft(await scrollingParts(page), `${path} shows all columns`).toEqual([]);
      }
    });
  }
});

test("a trace of a monitor has a line for its title, and the selected tab is in view", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 2 });
  await watch(place);
  const monitor = `${place.url}/p/default/monitors/desk`;
  await page.goto(`${monitor}?view=traces`);
  const title = page.getByRole("rowheader").first();
  await expect(title).toBeVisible();
  expect((await title.boundingBox())?.width).toBeGreaterThan(300);
  await page.goto(`${monitor}?view=file`);
  await expect(page.getByRole("tab", { name: "File" })).toBeInViewport();
  expect(await faultsOf(page)).toEqual([]);
});

test("an alert is read as a sentence, with its buttons below it", async ({ sound: page, place: start }) => {
  const place = await start({ workers: 0 });
  const message =
    "the score of correct of agent support in support desk fell from 0.88 to 0.46: the mean of 432 traces";
  await page.route("**/api/v1/alerts?*", (route) =>
    route.fulfill({
      json: { items: [{ id: "alr_1", kind: "score_drop", message, raised: "2026-11-10T10:00:00Z" }] },
    }),
  );
  await page.goto(`${place.url}/p/default/alerts`);
  const text = page.getByText("The score of correct", { exact: false }).first();
  await expect(text).toBeVisible();
  expect((await text.boundingBox())?.width).toBeGreaterThan(300);
  const button = page.getByRole("button", { name: /^Acknowledge/ });
  const [above, below] = [await text.boundingBox(), await button.boundingBox()];
  expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0));
  expect(await faultsOf(page)).toEqual([]);
});

test("times of quiet hours have room, and columns of the list of runs are not cut", async ({
  open,
  sound: page,
}) => {
  await page.goto(`${open}/p/default/settings/notifications`);
  const boxes = await Promise.all(
    ["From", "Until", "Time zone"].map((label) => page.getByLabel(label, { exact: true }).boundingBox()),
  );
  for (const [at, box] of boxes.entries()) {
    for (const other of boxes.slice(at + 1)) {
      if (!box || !other) throw new Error("a field is not drawn");
      const isBeside = box.x + box.width <= other.x || other.x + other.width <= box.x;
      expect(isBeside || box.y + box.height <= other.y || other.y + other.height <= box.y).toBe(true);
    }
  }
  await page.goto(`${open}/p/default/runs`);
  await expect(page.getByRole("columnheader", { name: "Started" })).toBeInViewport({ ratio: 1 });
});

test("the timeline of a trace has the name and the cost of each step", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({});
  const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString();
  await sendTrace(place, "paid", "desk", {
    steps: [
      { role: "user", time: at(0), text: "Where is my order?" },
      {
        role: "assistant",
        time: at(0),
        duration_ms: 2000,
        text: "Look it up.",
        usage: { input: 812, output: 44 },
        cost: 0.0125,
      },
      { role: "assistant", time: at(3), duration_ms: 1000, text: "It left on Monday." },
    ],
  });
  await page.goto(`${place.url}/p/default/traces/paid?view=timeline`);
  const timeline = page.getByRole("region", { name: "Timeline" });
  const row = timeline.getByRole("row", { name: /Look it up/ });
  await expect(timeline.getByRole("columnheader", { name: "Cost" })).toBeInViewport({ ratio: 1 });
  // A dollar is the placeholder of a project whose cap is in pounds, so only the digits are compared.
  await expect(row.getByRole("cell").last()).toHaveText(/\d\.\d{3,}/);
  await expect(
    timeline
      .getByRole("row", { name: /It left/ })
      .getByRole("cell")
      .last(),
  ).toHaveText("–");
  const name = row.getByRole("button", { name: /Look it up/ });
  expect((await name.boundingBox())?.width).toBeGreaterThan(90);
});

test("a page that does not exist keeps the pages of the project within reach", async ({
  open,
  sound: page,
}) => {
  await page.goto(`${open}/p/default/no/such/page`);
  await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Pages/ })).toBeVisible();
  await page.goto(`${open}/p/default/runs/run_nothing`);
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Try again" })).toHaveCount(0);
  // Search without a keyboard.
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: /^Go to/ }).click();
  await page.getByRole("dialog", { name: "Go to" }).getByRole("combobox").fill("audit");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/settings\/audit$/);
});

test("arrow keys in a table skip the columns that a telephone hides", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await ask(place, "POST", "/datasets", { name: "refunds", description: "Questions of customers" });
  const records = ["one", "two"].map((id) => ({ id, input: `Is ${id} a number?` }));
  await ask(place, "POST", "/datasets/refunds/versions", { base: 0, records });
  await page.goto(`${place.url}/p/default/datasets/refunds`);
  await page.getByRole("group", { name: "Cases, scrolling" }).focus();
  await page.keyboard.press("Home");
  for (let column = 0; column < 4; column += 1) await page.keyboard.press("ArrowRight");
  const current = page.locator('[aria-current="true"]').filter({ hasText: /dev|test/ });
  await expect(current).toBeVisible();
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByRole("rowheader", { name: "Is one a number?" })).toHaveAttribute("aria-current");
});
