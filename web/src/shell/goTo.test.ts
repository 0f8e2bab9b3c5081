import { expect, test } from "vitest";
import { matchDestinations } from "./goTo";

const all = [
  { kind: "page", label: "Monitors", address: "/monitors" },
  { kind: "page", label: "New monitor", address: "/new-monitor" },
  { kind: "monitor", label: "support desk", address: "/monitors/support%20desk" },
];

test("every word has to match, and labels that start with the text come first", () => {
  const labels = (text: string) => matchDestinations(all, text).map(({ label }) => label);
  expect(labels("")).toEqual(["Monitors", "New monitor", "support desk"]);
  expect(labels("monitor")).toEqual(["Monitors", "New monitor", "support desk"]);
  expect(labels("new")).toEqual(["New monitor"]);
  expect(labels("desk monitor")).toEqual(["support desk"]);
  expect(labels("nothing")).toEqual([]);
});
