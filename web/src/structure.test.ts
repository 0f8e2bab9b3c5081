// @vitest-environment node
// What holds the source tree together: no import circles, component names that are unique, one data layer.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const home = dirname(fileURLToPath(import.meta.url));

const sources = new Map(
  readdirSync(home, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !/\.(d|test)\.tsx?$/.test(path))
    .map((path) => [normalize(path), readFileSync(join(home, path), "utf8")]),
);

const IMPORT = /(?:from |import\()"(\.[^"]+)"/g;

function importsOf(path: string): string[] {
  const text = sources.get(path) ?? "";
  return [...text.matchAll(IMPORT)].flatMap(([, specifier = ""]) => {
    const target = relative(home, join(home, dirname(path), specifier));
    return [target, `${target}.ts`, `${target}.tsx`].filter((candidate) => sources.has(candidate));
  });
}

/** The first circle that a depth-first walk meets, as paths from its start to its start. */
function findCircle(): string[] | undefined {
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const next of importsOf(path)) {
      const circle = visit(next, [...trail, path]);
      if (circle) return circle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of sources.keys()) {
    const circle = visit(path, []);
    if (circle) return circle;
  }
  return undefined;
}

test("no file imports itself by way of others", () => {
  expect(importsOf("router.tsx").length).toBeGreaterThan(20);
  expect(findCircle()).toBeUndefined();
});

test("what all pages are made of imports no page", () => {
  const shared = /^(api|ui|chart)\//;
  for (const path of [...sources.keys()].filter((candidate) => shared.test(candidate))) {
    const others = importsOf(path).filter((target) => !shared.test(target));
    expect(others, `${path} imports pages`).toEqual([]);
  }
});

test("a component has a name of its own, so that developer tools and search find it", () => {
  const homes = new Map<string, string>();
  for (const [path, text] of sources) {
    for (const [, name = ""] of text.matchAll(/^(?:export )?function ([A-Z]\w*)/gm)) {
      expect(homes.get(name), `${path} and another file have a component ${name}`).toBeUndefined();
      homes.set(name, path);
    }
  }
  expect(homes.size).toBeGreaterThan(100);
});

test("only query files say how data is loaded", () => {
  for (const [path, text] of sources) {
    if (/(^|\/)queries\.ts$/.test(path) || path === "api/session.ts") continue;
    expect(text.includes("queryFn:"), `${path} loads data by itself; put it into queries.ts`).toBe(false);
  }
});
