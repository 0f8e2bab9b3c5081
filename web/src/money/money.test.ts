import { expect, test } from "vitest";
import { describeAlertChecks } from "./alertChecks";
import { daysOf } from "./BudgetPage";
import { alertSentence, formatCap, formatMoney, monthBefore, monthName } from "./format";

test("money is said as the command line says it", () => {
  const gbp = { currency: "GBP", rate: 1.25 };
  expect([formatMoney(25, gbp), formatMoney(62.5, gbp), formatMoney(0.01, gbp), formatMoney(0, gbp)]).toEqual(
    ["£20.00", "£50.00", "£0.0080", "£0.00"],
  );
  expect(formatMoney(3, { currency: "JPY", rate: 0.0066 })).toBe("454.55 JPY");
  expect([formatMoney(1.5, null), formatMoney(0.00005, null), formatMoney(0, null)]).toEqual([
    "$1.5000",
    "$0.0000500",
    "$0.0000",
  ]);
});

test("a cap is shown as it was written, and a small cost does not look like nothing", () => {
  const shown = [50, 0.5, 0.08, 0.135, 0.155].map((amount) =>
    formatCap({ amount, currency: "GBP", rate: 1.25 }),
  );
  expect(shown).toEqual(["£50.00", "£0.50", "£0.08", "£0.135", "£0.155"]);
  expect(formatMoney(0.0000276, { currency: "GBP", rate: 1.25 })).toBe("£0.0000221");
});

test("months turn over years, and days without spending are nothing", () => {
  expect([monthBefore("2026-11"), monthBefore("2027-01")]).toEqual(["2026-10", "2026-12"]);
  expect(monthName("2026-11")).toBe("November 2026");
  const days = daysOf({ month: "2026-11", days: [{ day: "2026-11-03", spent: 2, n_calls: 1 }] });
  expect(days.map((it) => [it.day, it.spent])).toEqual([
    ["2026-11-01", 0],
    ["2026-11-02", 0],
    ["2026-11-03", 2],
  ]);
});

test("a page without alerts says when monitors were checked, and when they are checked next", () => {
  const now = Date.parse("2026-11-03T12:00:00Z");
  const text = (last_check: string | null, next_check: string | null) =>
    describeAlertChecks({ last_check, next_check }, now);
  expect(text("2026-11-03T11:57:00Z", "2026-11-03T12:07:00Z")).toBe(
    "The server checked all monitors 3 min ago. The next check is in 7 min.",
  );
  expect(text("2026-11-03T11:50:00Z", "2026-11-03T12:00:00Z")).toBe(
    "The server checked all monitors 10 min ago. The next check is due now.",
  );
  expect(text(null, null)).toBe("The server has not checked its monitors since it started.");
  expect(text(null, "2026-11-03T12:00:20Z")).toBe(
    "The server has not checked its monitors since it started. The next check is in 1 min.",
  );
});

test("an alert is a sentence, and names in it stay as they are written", () => {
  const sentence = (message: string, of: { monitor?: string; criterion?: string } = {}) =>
    alertSentence({ message, ...of });
  expect(sentence("judging has stopped: £40.00 are spent")).toBe("Judging has stopped: £40.00 are spent");
  expect(sentence("the score of kind in desk fell", { monitor: "desk", criterion: "kind" })).toBe(
    "The score of kind in desk fell",
  );
  expect(sentence("desk is paused: no rubric", { monitor: "desk" })).toBe("desk is paused: no rubric");
  expect(sentence("kind in desk has spent 90 %", { monitor: "desk", criterion: "kind" })).toBe(
    "kind in desk has spent 90 %",
  );
});
