// Coming in, moving about, going out; on a server with accounts.
import type { Page } from "@playwright/test";
import { expect, faultsOf, test } from "./place";

test("the first owner joins by the link, invites somebody, and each sees what is theirs", async ({
  sound: page,
  browser,
  place: start,
}) => {
  const place = await start({ auth: true });
  await page.goto(place.url);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);

  await page.goto(place.link);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("E-mail address").fill("ada@example.org");
  await page.getByLabel("Password").fill("analytical engine");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Join" }).click();
  await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
  await expect(page).toHaveURL(/\/p\/default$/);

  await page.getByRole("link", { name: "Settings" }).click();
  await expect(page.getByRole("rowheader", { name: "Ada (you)" })).toBeVisible();
  await page.getByRole("button", { name: "Invite member" }).click();
  await page.getByRole("button", { name: "Create link" }).click();
  const link = (await page.locator("[data-secret]").textContent()) ?? "";
  expect(link).toContain(`${place.url}/join#`);
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Done" }).click();

  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await other.getByLabel("Your name").fill("Ben");
  await other.getByLabel("E-mail address").fill("ben@example.org");
  await other.getByLabel("Password").fill("difference engine");
  await other.getByRole("button", { name: "Join" }).click();
  // An annotator sees what is to be annotated, and nothing else.
  await expect(other.getByRole("heading", { name: "No annotation tasks" })).toBeVisible();
  await expect(other.getByRole("link", { name: "Runs" })).toHaveCount(0);
  await other.goto(`${place.url}/p/default/runs`);
  await expect(other.getByRole("heading", { name: "Access denied" })).toBeVisible();
  await other.goto(link);
  await other.getByRole("button", { name: "Join as Ben" }).click();
  await expect(other.getByRole("alert")).toContainText("used");

  // Ben becomes a viewer, and then no member at all.
  await page.reload();
  await page.getByLabel("Role of Ben").selectOption("viewer");
  await expect(page.getByText("Role changed.")).toBeVisible();
  await other.goto(`${place.url}/p/default/runs`);
  await expect(other.getByRole("heading", { name: "No runs yet" })).toBeVisible();
  await page.getByRole("button", { name: "Remove Ben" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(page.getByRole("rowheader", { name: "Ben" })).toHaveCount(0);
  await other.goto(place.url);
  await expect(other.getByRole("heading", { name: "You have no access to a project" })).toBeVisible();
});

test("by keyboard alone: sign in with a wrong password, then the right one, go where one wanted, sign out", async ({
  page,
  place: start,
}) => {
  const place = await start({ auth: true });
  const body = {
    invitation: place.link.split("#")[1],
    email: "ada@example.org",
    name: "Ada",
    password: "analytical engine",
  };
  const headers = { "Content-Type": "application/json" };
  expect(
    (await fetch(`${place.url}/api/v1/join`, { method: "POST", headers, body: JSON.stringify(body) })).ok,
  ).toBe(true);

  await page.goto(`${place.url}/p/default/traces?agent=coder`);
  await expect(page.getByLabel("E-mail address")).toBeFocused();
  await page.keyboard.type("ada@example.org");
  await page.keyboard.press("Tab");
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("No account has this e-mail address and password");
  await page.getByLabel("Password").focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("analytical engine");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/p\/default\/traces\?agent=coder$/);
  await expect(page.getByRole("heading", { name: "No matching traces" })).toBeVisible();

  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator("#main")).toBeVisible();
  const account = page.getByRole("button", { name: "Account: Ada" });
  await account.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitemradio", { name: "System theme" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(account).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByLabel("Current password").fill("analytical engine");
  await page.getByLabel("New password").fill("another engine");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Password changed")).toBeVisible();
  await account.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("End");
  await expect(page.getByRole("menuitem", { name: "Sign out" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await page.goto(`${place.url}/p/default/runs`);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
});

/** Creates a token that may read and send traces, and returns its secret. */
async function createToken(page: Page, name: string): Promise<string> {
  await page.getByRole("button", { name: "New API token" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("read read traces").check();
  await page.getByRole("button", { name: "Create" }).click();
  return (await page.locator("[data-secret]").textContent()) ?? "";
}

test("the table of tokens says who made one, when it was used and when it expires", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ auth: true });
  const invitation = place.link.split("#")[1];
  const ada = { invitation, email: "ada@example.org", name: "Ada", password: "analytical engine" };
  expect((await page.request.post(`${place.url}/api/v1/join`, { data: ada })).ok()).toBe(true);
  await page.goto(`${place.url}/p/default/settings/tokens`);
  const secret = await createToken(page, "reader");
  await page.keyboard.press("Escape");
  for (const name of ["Created by", "Last used", "Expires"]) {
    await expect(page.getByRole("columnheader", { name })).toBeVisible();
  }
  const row = page.getByRole("row", { name: /reader/ });
  await expect(row).toContainText("Ada");
  await expect(row).toContainText("never");
  const expires = new Date(Date.now() + 90 * 24 * 3600_000).getFullYear().toString();
  await expect(row.getByRole("cell").nth(4)).toContainText(expires);
  const headers = { Authorization: `Bearer ${secret}` };
  expect((await fetch(`${place.url}/api/v1/traces`, { headers })).ok).toBe(true);
  await page.reload();
  await expect(row).toContainText("Ada");
  await expect(row).not.toContainText("never");
});

test("a token is shown once, and a new project is one's own", async ({ sound: page, place: start }) => {
  const place = await start({});
  await page.goto(`${place.url}/p/default/settings/tokens`);
  const secret = await createToken(page, "collector");
  expect(secret).toMatch(/^jrk_/);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("rowheader", { name: "collector" })).toBeVisible();
  await expect(page.getByText(secret)).toHaveCount(0);
  await page.getByRole("button", { name: "Revoke collector" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByRole("row", { name: /collector/ })).toContainText("revoked");

  await page.getByRole("link", { name: "Audit" }).click();
  await page.getByRole("button", { name: "API token created" }).click();
  await expect(page).toHaveURL(/action=token.add/);
  await expect(page.getByRole("button", { name: "API token revoked" })).toHaveCount(0);
  expect(await faultsOf(page)).toEqual([]);

  await page.getByRole("button", { name: "Project: default" }).click();
  await page.getByRole("menuitem", { name: "New project…" }).click();
  await page.getByLabel("Name").fill("second desk");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await expect(page).toHaveURL(/\/p\/second%20desk$/);
  await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
});

test("what is not there is said, and a server that is away comes back", async ({ page, place: start }) => {
  const place = await start({});
  await page.goto(`${place.url}/no/such/page`);
  await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
  await page.goto(`${place.url}/p/nobody/runs`);
  await expect(page.getByRole("heading", { name: "Project not found" })).toBeVisible();
  await page.goto(`${place.url}/p/default/traces/never-was`);
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  await expect(page.getByText(/^HTTP 404 · \/api\/v1\/traces\/never-was · /)).toBeVisible();
  await page.goto(`${place.url}/p/default/runs`);
  await expect(page.getByRole("heading", { name: "No runs yet" })).toBeVisible();
  await place.stop();
  await page.getByRole("link", { name: "Traces" }).click();
  await expect(page.getByRole("heading", { name: "The server does not answer" })).toBeVisible();
  await place.start();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { name: "No traces yet" })).toBeVisible();
});

test("Ctrl+K goes to a page, a monitor or a run by a part of its name", async ({ sound: page, open }) => {
  await page.goto(`${open}/p/default`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  const dialog = page.getByRole("dialog", { name: "Go to" });
  await expect(dialog.getByRole("combobox")).toBeFocused();
  await page.keyboard.type("supp");
  await expect(dialog.getByRole("option", { name: /support desk/ }).first()).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await dialog.getByRole("combobox").fill("rub");
  await expect(dialog.getByRole("option", { selected: true })).toContainText("Rubrics");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/p\/default\/rubrics$/);
  await expect(dialog).toBeHidden();
});

test("pages are kept by the browser, and the policy allows nothing from elsewhere", async ({ open }) => {
  const index = await fetch(open);
  expect(index.headers.get("cache-control")).toBe("no-cache");
  expect(index.headers.get("content-security-policy")).toContain("default-src 'self'");
  const html = await index.text();
  expect(html).not.toMatch(/<script>|<style|https?:/);
  const script = /assets\/[^"]+\.js/.exec(html)?.[0] ?? "";
  const asset = await fetch(`${open}/${script}`, { headers: { "Accept-Encoding": "gzip" } });
  expect(asset.headers.get("cache-control")).toContain("immutable");
  expect(asset.headers.get("content-encoding")).toBe("gzip");
  const tag = index.headers.get("etag") ?? "";
  expect((await fetch(open, { headers: { "If-None-Match": tag } })).status).toBe(304);
  expect((await fetch(`${open}/assets/never-was.js`)).status).toBe(404);
  expect((await fetch(`${open}/api/v1/never-was`)).status).toBe(404);
  expect((await fetch(`${open}/never-was`, { method: "POST" })).status).toBe(404);
});

test("on a phone every page is reached from a list that opens, and none is wider than the screen", async ({
  sound: page,
  open,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${open}/p/default`);
  const button = page.getByRole("button", { name: "Pages" });
  const pages = page.getByRole("navigation", { name: "Pages" });
  await expect(pages).toBeHidden();
  await button.press("Enter");
  await expect(button).toHaveAttribute("aria-expanded", "true");
  const names = await pages.getByRole("link").allTextContents();
  expect(names).toEqual([
    ...["Overview", "Monitors", "Traces"],
    ...["Runs", "Ranking", "Rubrics", "Datasets", "Annotate"],
    ...["Budget", "Alerts", "Settings"],
  ]);
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press("Tab");
  await expect(pages.getByRole("link", { name: "Overview" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(button).toBeFocused();
  await expect(pages).toBeHidden();
  for (const name of names) {
    await button.click();
    await pages.getByRole("link", { name }).click();
    await expect(pages).toBeHidden();
    await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, name).toBeLessThanOrEqual(390);
  }
});
