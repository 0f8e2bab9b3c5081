// The pictures of the README and the book, docs/images, come from the pages of the demo. Next to each is the outline of its
// page as assistive technology reads it. JURIST_PICTURES=1 takes pictures and outlines; without it, a page whose outline
// has changed fails, since its picture is then old.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, type Page, test } from "@playwright/test";

const IMAGES = new URL("../../docs/images/", import.meta.url).pathname;
const JURIST = process.env.JURIST ?? new URL("../../target/debug/jurist", import.meta.url).pathname;

test("the pictures of the book show the pages as they are", async ({ page }) => {
  const demo = await startDemo();
  try {
    await visit(page, `${demo.url}/p/Demo-invented`, async (name, data) => {
      await page.waitForLoadState("networkidle");
      await page.waitForTimeout(300);
      const outline = outlineOf(await page.locator("body").ariaSnapshot(), data);
      if (process.env.JURIST_PICTURES) {
        await page.screenshot({ path: `${IMAGES}${name}.png` });
        writeFileSync(`${IMAGES}${name}.txt`, outline);
      }
      const message = `docs/images/${name}.png is old; take the pictures again with: make pictures`;
      expect.soft(outline, message).toBe(readFileSync(`${IMAGES}${name}.txt`, "utf8"));
    });
  } finally {
    demo.end();
  }
});

/** Opens each page that has a picture, as the picture shows it. */
async function visit(page: Page, here: string, shot: (name: string, data?: string) => Promise<void>) {
  await page.setViewportSize({ width: 1280, height: 768 });
  // A slow machine has pauses between requests in which the network is idle, so each picture waits for its figures.
  await page.goto(here);
  await expect(
    page
      .getByRole("region", { name: /^Last 7 days/ })
      .getByRole("table")
      .first(),
  ).toBeAttached();
  await shot("overview");
  await page.goto(`${here}/monitors/support%20desk?view=trend`);
  await expect(page.getByText("Show as table").first()).toBeVisible();
  await shot("monitor");
  await page.goto(`${here}/runs`);
  await page
    .getByRole("link", { name: /support desk/ })
    .first()
    .click();
  await expect(page.getByRole("region", { name: "Scorecard" })).toBeVisible();
  await shot("run");
  await page.goto(`${here}/annotate`);
  await page
    .getByRole("listitem")
    .filter({ hasText: "Changes" })
    .getByRole("link", { name: "Start" })
    .click();
  await page.getByLabel("Your name").fill("You");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("radiogroup").first()).toBeVisible();
  await page.keyboard.press("4");
  await page.keyboard.press("2");
  await page.keyboard.press("ArrowRight");
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  // Which item comes first depends on the day.
  await shot("annotate", await page.getByRole("main").getByRole("paragraph").first().innerText());
}

// What has a figure in its name because the interface says so; elsewhere a figure is data, which depends on the day.
const NAMED = /^(button|caption|columnheader|heading|option|radio|radiogroup|region|tab|table)$/;

/** What of a page is the same on every day: no data, and of tables only their heads. */
function outlineOf(snapshot: string, data?: string): string {
  const lines: string[] = [];
  // The depth of what is left out with all that is inside it.
  let skipped = Number.POSITIVE_INFINITY;
  for (const line of snapshot.replace(/ \[level=\d\]/g, "").split("\n")) {
    const depth = line.search(/\S/);
    if (depth > skipped || (data && line.includes(data))) continue;
    skipped = Number.POSITIVE_INFINITY;
    const role = /^\s*- '?(\w+)/.exec(line)?.[1] ?? "";
    const isData =
      /^(cell|rowheader)$/.test(role) || (/\d|just now|no projection yet/.test(line) && !NAMED.test(role));
    if (isData && role !== "row") skipped = depth;
    else if (role !== "row") lines.push(line.replace(/\d+([.,:]\d+)*/g, "0"));
  }
  return `${lines.join("\n")}\n`;
}

/** Starts scripts/demo with the programs of the test build. */
async function startDemo() {
  const script = new URL("../../scripts/demo", import.meta.url).pathname;
  const env = { ...process.env, JURIST_PROGRAMS: dirname(JURIST) };
  const demo = spawn(script, ["0"], { env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  const url = await new Promise<string>((done, fail) => {
    demo.once("exit", () => fail(new Error(`the demo ended: ${said}`)));
    demo.stdout.on("data", (it) => {
      said += it;
      const found = /Jurist serves [^h]*(http:\/\/[\d.]+:\d+)/.exec(said)?.[1];
      if (found) done(found);
    });
  });
  const end = () => {
    demo.removeAllListeners("exit");
    if (demo.pid) process.kill(-demo.pid, "SIGTERM");
  };
  return { url, end };
}
