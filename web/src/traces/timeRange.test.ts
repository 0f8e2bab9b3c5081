import { expect, test } from "vitest";
import { endOfDay, lastDayOf, nameOfRange, RANGES, startOfDay, startOfRange } from "./timeRange";

const now = Date.parse("2026-03-20T10:15:32.500Z");

test("a range is known again by the address that it made", () => {
  expect(startOfRange("24h", now)).toBe("2026-03-19T10:15:00Z");
  for (const { name } of RANGES) expect(nameOfRange({ from: startOfRange(name, now) }, now)).toBe(name);
  expect(nameOfRange({}, now)).toBe("any");
  expect(nameOfRange({ from: startOfRange("7d", now), until: "2026-03-20T00:00:00Z" }, now)).toBe("custom");
  expect(nameOfRange({ from: startOfDay("2026-03-13") }, Date.parse("2026-03-20T00:05:00Z"))).toBe("custom");
});

test("the last day of a range belongs to it", () => {
  expect(endOfDay("2026-02-28")).toBe("2026-03-01T00:00:00Z");
  expect(lastDayOf(endOfDay("2026-02-28"))).toBe("2026-02-28");
  expect([endOfDay(""), lastDayOf(undefined)]).toEqual([undefined, ""]);
});
