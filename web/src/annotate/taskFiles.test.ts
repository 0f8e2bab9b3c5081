import { expect, test } from "vitest";
import { chosen, configOf, pathIn, rowsOf } from "./taskFiles";

test("a file goes by the path under which the configuration names it", () => {
  const config = 'data_files:\n  - "data/traces.jsonl"\n  - more.csv # and these\n';
  expect(pathIn(config, "traces.jsonl")).toBe("data/traces.jsonl");
  expect(pathIn(config, "more.csv")).toBe("more.csv");
  expect(pathIn(config, "races.jsonl")).toBe("races.jsonl");
  expect(pathIn("files: [a/b.json,c.json]", "c.json")).toBe("c.json");
});

test("the configuration is the YAML among them", () => {
  expect(configOf(["traces.jsonl", "config.yaml"])).toBe("config.yaml");
  expect(configOf(["a.yaml", "annotation.yml"])).toBe("annotation.yml");
  expect(configOf(["rows.jsonl", "task.json"])).toBe("task.json");
});

test("what was chosen is read", async () => {
  const file = (name: string, text: string) => ({ name, text: async () => text });
  const all = [file("rows.jsonl", "{}"), file("config.yaml", "data_files: [in/rows.jsonl]")];
  expect(await chosen(all)).toEqual({
    config: "config.yaml",
    files: { "config.yaml": "data_files: [in/rows.jsonl]", "in/rows.jsonl": "{}" },
  });
});

test("rows are objects, one on each line or in a list; what is none is named by its line", () => {
  const rows = [{ id: "a" }, { id: "b", text: "{" }];
  expect(rowsOf('{"id": "a"}\n\n{"id": "b", "text": "{"}\n')).toEqual(rows);
  expect(rowsOf(JSON.stringify(rows, null, 2))).toEqual(rows);
  expect(() => rowsOf('{"id": "a"}\n{"id": ')).toThrow(/^line 2 is not a JSON object/);
  expect(() => rowsOf('{"id": "a"}\n7')).toThrow(/^line 2 is not a JSON object/);
  expect(() => rowsOf('\n\n{"id": "a"}\n7')).toThrow(/^line 4 is not a JSON object/);
  expect(() => rowsOf("[1]")).toThrow(/^a list must contain objects/);
  expect(() => rowsOf('[{"id": "a"}')).toThrow(/^a list must contain objects/);
});
