// The book as `make docs` builds it, under the server's policy.
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { policy } from "../vite.config";
import { expect, faultsOf, test } from "./place";

const book = new URL("../dist-book", import.meta.url).pathname;
const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};
let server: Server;
let url = "";

test.skip(() => !existsSync(book), "the book is not built; see make docs");

test.beforeAll(async () => {
  server = createServer((request, answer) => {
    const file = join(book, decodeURI(new URL(request.url ?? "", "http://x").pathname));
    if (!file.startsWith(book) || !existsSync(file)) return answer.writeHead(404).end();
    const headers = { "content-type": types[extname(file)] ?? "", "content-security-policy": policy() };
    return answer.writeHead(200, headers).end(readFileSync(file));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

test.afterAll(() => void server?.close());

test("the slash opens search, and Enter leads to the page that was found", async ({ sound: page }) => {
  await page.goto(`${url}/how-to/scale.html`);
  await page.keyboard.press("/");
  await page.keyboard.type("exit codes");
  await expect(page.getByRole("option").first()).toContainText("Exit codes");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Exit codes");
});

test("a terminal block is copied without its prompts and outputs", async ({ sound: page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${url}/exit-codes.html`);
  // The last block of the page; it has outputs as well.
  await page.getByRole("button", { name: "Copy" }).last().click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe("jurist check missing.yaml\necho $?");
});

test("previous and next lead through the book", async ({ sound: page }) => {
  await page.goto(`${url}/install.html`);
  await page.getByRole("link", { name: "Next Quickstart" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Quickstart");
});

test("on a phone the contents are behind a button, and wide pages fit the screen", async ({
  sound: page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  // Those with long words, wide tables or long headings.
  const pages = ["api", "checks", "cli", "dependencies", "settings", "statistics"].map(
    (name) => `${name}.html`,
  );
  for (const file of pages) {
    await page.goto(`${url}/${file}`);
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(excess, file).toBeLessThanOrEqual(0);
  }
  await page.goto(`${url}/quickstart.html`);
  const contents = page.getByRole("navigation", { name: "Contents" });
  await expect(contents).toBeHidden();
  await page.getByRole("button", { name: "Contents" }).click();
  await expect(contents).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`nothing keeps anybody out, in ${colorScheme} colours`, async ({ sound: page }) => {
    await page.emulateMedia({ colorScheme });
    for (const file of ["index.html", "quickstart.html", "glossary.html", "settings.html"]) {
      await page.goto(`${url}/${file}`);
      expect(await faultsOf(page), file).toEqual([]);
    }
  });
}
