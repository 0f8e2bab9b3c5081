// Nothing that one reads jumps away while the rest of a page comes in.
import { expect, test } from "./place";
import { watch } from "./watched";

test("pages stay where they are while they load", async ({ place: start, page }) => {
  const place = await start({});
  await watch(place);
  for (const path of [
    "",
    "/monitors",
    "/monitors/desk",
    "/traces",
    "/traces/desk-1",
    "/runs",
    "/rubrics",
    "/datasets",
    "/budget",
  ]) {
    await page.goto(`${place.url}/p/default${path}`);
    await page.waitForLoadState("networkidle");
    const moved = await page.evaluate(
      () =>
        new Promise<number>((done) => {
          let sum = 0;
          const add = (list: PerformanceObserverEntryList) => {
            for (const it of list.getEntries()) sum += (it as unknown as { value: number }).value;
          };
          new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
          // Those of before are told in the next frames.
          requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
        }),
    );
    // What browsers call good.
    expect.soft(moved, path).toBeLessThan(0.1);
  }
});
