// A month's money and what the server tells of it.
import { expect, faultsOf, test } from "./place";
import { apply, ask, finish, MONITOR, settled } from "./watched";

test("the month is that of the command line; a cap is set, stops judging and is told of", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 1 });
  await page.goto(`${place.url}/p/default/budget`);
  await expect(page.getByRole("heading", { name: "No spending in this month" })).toBeVisible();
  await expect(page.getByText("£0.00 spent of £50.00 (0 %)")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);
  await apply(place, "desk", MONITOR);
  for (const n of [1, 2, 3]) await finish(place, `t${n}`, String(n + 2));
  await settled(place, "desk", 3);

  await page.reload();
  const told = await place.jurist("spend", "--server", place.url);
  const sum = /(£\S+) (?:spent )?of £50\.00\D+(\d+) %/.exec(told) ?? [];
  expect(sum[1]).toMatch(/^£0\.0\d{3}$/);
  await expect(page.getByText(`${sum[1]} spent of £50.00 (${sum[2]} %)`)).toBeVisible();
  const by = page.getByRole("table", { name: "Spent by run or monitor" });
  await expect(by.getByRole("link", { name: "desk" })).toBeVisible();
  await expect(by.getByRole("row", { name: /desk/ })).toContainText(sum[1] ?? "none");
  await page.getByText("Show as table").press("Enter");
  await expect(page.getByRole("table", { name: "Spent by day" })).toContainText(sum[1] ?? "none");
  await expect(page.getByText("no projection yet:")).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);

  await page.getByRole("button", { name: "Change cap…" }).click();
  await page.getByLabel("Amount").fill("0.0001");
  await page.getByLabel("Currency").fill("XYZ");
  await page.getByRole("button", { name: "Save cap" }).click();
  await expect(page.getByRole("alert")).toContainText("XYZ");
  await page.getByLabel("Currency").fill("usd");
  await page.getByRole("button", { name: "Save cap" }).click();
  await expect(page.getByText("Cap saved. It applies from the next call on.")).toBeVisible();
  expect((await ask(place, "GET", "/spend")).cap).toMatchObject({ amount: 0.0001, currency: "USD" });

  // Nothing fits any more: that is an alert, until somebody lifts the cap.
  await finish(place, "t4", "4");
  await expect
    .poll(async () => (await ask(place, "GET", "/alerts")).items.map((it: { kind: string }) => it.kind))
    .toContain("spend_stop");
  await page.reload();
  await expect(page.getByRole("main").getByRole("listitem").filter({ hasText: "cap" }).first()).toBeVisible();
  await page.getByRole("link", { name: "Alerts" }).click();
  const alert = page.getByRole("row", { name: /spend stop/ });
  await expect(alert).toContainText("! active");
  expect(await faultsOf(page)).toEqual([]);
  await alert.getByRole("button", { name: /^Snooze/ }).click();
  await page.getByRole("menuitem", { name: "1 day" }).click();
  await expect(alert).toContainText("active, snoozed");
  expect(await faultsOf(page)).toEqual([]);
  await alert.getByRole("button", { name: /^Snooze/ }).click();
  await page.getByRole("menuitem", { name: "End the snooze" }).click();
  await expect(alert).toContainText("! active");
  await alert.getByRole("button", { name: /^Acknowledge/ }).click();
  await expect(alert).toContainText("active, acknowledged");
  await page.goto(`${place.url}/p/default/budget`);
  await page.getByRole("button", { name: "Remove cap…" }).click();
  await page.getByRole("button", { name: "Remove cap", exact: true }).click();
  await expect(page.getByText("spent, no cap set")).toBeVisible();
  await page.getByRole("button", { name: "Previous month" }).click();
  await expect(page).toHaveURL(/month=\d{4}-\d{2}/);
  await expect(page.getByRole("heading", { name: "No spending in this month" })).toBeVisible();
  await page.getByRole("button", { name: "This month" }).click();
  await expect(page.getByText("no cap set")).toBeVisible();
});

test("what agents and judges cost is said in the currency of the cap", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  const trace = { steps: [{ role: "user", text: "Hello." }], cost: 2.5 };
  await ask(place, "POST", "/traces", { id: "dear", agent: "desk", trace });
  const facts = page.getByRole("definition");
  await page.goto(`${place.url}/p/default/traces/dear`);
  const { cap } = await ask(place, "GET", "/spend");
  expect(cap.currency).toBe("GBP");
  await expect(facts.filter({ hasText: `£${(2.5 / cap.rate).toFixed(2)}` })).toBeVisible();
  await ask(place, "DELETE", "/spend/cap");
  await page.reload();
  await expect(facts.filter({ hasText: "$2.50" })).toBeVisible();
  await page.getByRole("button", { name: "agent cost" }).focus();
  await expect(page.getByRole("tooltip")).toContainText("What the agent itself spent");
  expect(await faultsOf(page)).toEqual([]);
});

test("who is told: addresses, a webhook whose secret is shown once, quiet hours, a trial", async ({
  sound: page,
  place: start,
}) => {
  const place = await start({ workers: 0 });
  await page.goto(`${place.url}/p/default/alerts`);
  await expect(page.getByRole("heading", { name: "No alerts" })).toBeVisible();
  await expect(page.getByText(/checked all monitors .* The next check is in \d+ min/)).toBeVisible();
  await page.getByRole("link", { name: "notifications" }).click();
  await expect(page.getByText("This server cannot send e-mail")).toBeVisible();
  await page.getByLabel("Recipients").selectOption("named");
  await page.getByLabel("Addresses").fill("ann@example.org, team@example.org");
  await page.getByRole("button", { name: "Save recipients" }).click();
  await expect
    .poll(async () => (await ask(place, "GET", "/notifications")).mail)
    .toEqual(["ann@example.org", "team@example.org"]);
  await page.getByLabel("URL", { exact: true }).fill("https://hooks.example.org/jurist");
  await page.getByRole("button", { name: "Save webhook" }).click();
  await expect(page.locator("[data-secret]")).toContainText("whsec_");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("Signed requests go to hooks.example.org.")).toBeVisible();
  await page.getByLabel("Time zone").fill("Nowhere/Never");
  await page.getByRole("button", { name: "Save quiet hours" }).click();
  await expect(page.getByRole("alert")).toContainText("Nowhere/Never");
  await page.getByLabel("Time zone").fill("Europe/London");
  await page.getByRole("button", { name: "Save quiet hours" }).click();
  await expect(page.getByRole("button", { name: "Remove quiet hours" })).toBeVisible();
  await page.getByRole("button", { name: "Send test" }).click();
  await expect(page.getByText("Test notification sent to all recipients.")).toBeVisible();
  await page.getByRole("button", { name: "Remove webhook" }).click();
  await expect(page.getByText("Signed requests go to")).toHaveCount(0);
  expect((await ask(place, "GET", "/notifications")).webhook).toBeNull();
  expect(await faultsOf(page)).toEqual([]);
});
