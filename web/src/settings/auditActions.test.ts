import { expect, test } from "vitest";
import { describeAction, describeDetails } from "./auditActions";

test("entries of the audit log are words, and an unknown action keeps its code", () => {
  expect(describeAction("token.add")).toBe("API token created");
  expect(describeAction("moon.land")).toBe("moon.land");
  expect(describeDetails({ name: "ci", scopes: ["ingest", "read"], n_added: 3, note: null })).toBe(
    "name: ci; scopes: ingest, read; added: 3",
  );
  expect(describeDetails(undefined)).toBe("");
});
