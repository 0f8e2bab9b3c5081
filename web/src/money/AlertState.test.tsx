import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { AlertState } from "./AlertState";
import type { Alert } from "./queries";

test("an alert can be acknowledged and snoozed at the same time", () => {
  const text = (alert: Partial<Alert>) => render(<AlertState alert={alert as Alert} />).container.textContent;
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const acknowledged = new Date(Date.now() - 3_600_000).toISOString();
  expect(text({})).toBe("! active");
  expect(text({ snoozed_until: tomorrow })).toMatch(/^active, snoozed until /);
  expect(text({ acknowledged, snoozed_until: tomorrow })).toMatch(/^active, acknowledged .*, snoozed until /);
  // The snooze is over.
  expect(text({ acknowledged, snoozed_until: acknowledged })).not.toContain("snoozed");
});
