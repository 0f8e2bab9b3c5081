// How long pages take over a large database: `JURIST_SPEED=http://… npx playwright test speed`. What is measured is
// printed and never asserted: machines differ.
import { expect, test } from "@playwright/test";

const PLACE = process.env.JURIST_SPEED;
const TIMES = 11;

const PAGES: [string, string][] = [
  ["Overview", "?monitor=tone"],
  ["Traces", "/traces"],
  ["Traces that failed", "/traces?verdict=fail"],
  ["Traces by score", "/traces?sort=-score"],
  ["Traces that are searched", "/traces?search=parcel"],
  ["A trace", "/traces/trace-00050000"],
  ["Monitors", "/monitors"],
  ["A monitor", "/monitors/tone"],
  ["Its trend", "/monitors/tone?view=trend"],
  ["Its traces", "/monitors/tone?view=traces"],
  ["Its dial", "/monitors/tone?view=dial"],
  ["Its file", "/monitors/tone?view=file"],
  ["Ranking", "/ranking"],
  ["Runs", "/runs"],
  ["Rubrics", "/rubrics"],
  ["Datasets", "/datasets"],
  ["Annotate", "/annotate"],
  ["Budget", "/budget"],
  ["Alerts", "/alerts"],
  ["Judges", "/settings/judges"],
  ["Members", "/settings/members"],
];

test.skip(!PLACE, "JURIST_SPEED is the address of a server over a large database");

test("pages over a large database", async ({ page }) => {
  test.setTimeout(20 * 60_000);
  await page.goto(`${PLACE}/`);
  await page.waitForURL(/\/p\//);
  const home = new URL(page.url()).pathname.replace(/\/$/, "");
  for (const [name, path] of PAGES) {
    const took: number[] = [];
    let slowest = "";
    for (let n = 0; n <= TIMES; n += 1) {
      await page.goto(`${PLACE}${home}${path}`);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      // Nothing is on its way any more, and nothing begins.
      await page.waitForLoadState("networkidle");
      const asked = await page.evaluate(() => {
        const all = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
        return all
          .filter((it) => it.name.includes("/api/v1/"))
          .map((it) => ({ url: it.name, from: it.startTime, until: it.responseEnd }));
      });
      const first = Math.min(...asked.map((it) => it.from));
      const last = asked.reduce((a, b) => (a.until < b.until ? b : a));
      if (n > 0) took.push(last.until - first);
      slowest = `${asked.length} answers, the last ${last.url.split("/api/v1")[1]} in ${Math.round(last.until - last.from)}`;
    }
    took.sort((a, b) => a - b);
    const at = (share: number) => Math.round(took[Math.floor(share * (took.length - 1))] ?? 0);
    console.log(`${name.padEnd(26)} ${at(0.5)} ms, slowest ${at(1)} ms (${slowest})`);
  }
});
