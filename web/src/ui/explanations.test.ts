// @vitest-environment node
// Every figure in a table or among the key figures of a page has an explanation.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDERS =
  "annotate chart compare datasets grades money monitors overview ranking rubrics runs settings traces".split(
    " ",
  );

/** Columns without figures: names, links, texts and times. Heads that are computed are written as in the source. */
const PLAIN = new Set(
  `About|Action|Actor|Agent|Agreement|Alert|Candidate|Case|Change|Changed|Created|Created by|Criterion|Day|Decided|Details
Dataset|E-mail address|Earlier version|Expires|Fields|Judge|Last answer|Last used|Monitor|Monitors|Name|Newest version|Permissions
Projection|Question|Reason|Results|Role|Rubric|Run|Series|Started|Suite|Target|Task|Time|Trace|Used by monitors
Wins against →|Commit|Compare|head|capitalize(rowsBy)|head(name, matrix.columns_by)
title|plural(comparison.n_cases, "case")`.split(/[|\n]/),
);

type Unexplained = { file: string; figure: string };

/** `...SCORE` and `...help` bring an explanation with them. */
function isExplained(literal: ts.ObjectLiteralExpression): boolean {
  return literal.properties.some((property) =>
    ts.isSpreadAssignment(property)
      ? /^([A-Z_0-9]+|help|check)$/.test(property.expression.getText())
      : property.name?.getText() === "about",
  );
}

/** The value of a property; of `{ head }` the name. */
function findValue(literal: ts.ObjectLiteralExpression, name: string): ts.Node | undefined {
  const property = literal.properties.find((it) => it.name?.getText() === name);
  return property && (ts.isPropertyAssignment(property) ? property.initializer : property.name);
}

const textOf = (node: ts.Node): string => (ts.isStringLiteral(node) ? node.text : node.getText());

/** The name of a figure that has no explanation. */
function findUnexplained(literal: ts.ObjectLiteralExpression, hasKeyFigures: boolean): string | undefined {
  if (isExplained(literal)) return undefined;
  const isColumn = findValue(literal, "cell") !== undefined;
  const isKeyFigure = hasKeyFigures && !isColumn && findValue(literal, "value") !== undefined;
  const title = isColumn
    ? (findValue(literal, "head") ?? sortedTitleOf(literal))
    : isKeyFigure
      ? findValue(literal, "name")
      : undefined;
  if (title === undefined) return undefined;
  const text = textOf(title);
  const isDrawn =
    /<Term\b|visually-hidden|<(AgreementAxis|AnswerColumnHead|GraderColumnHead|TraceColumnHead)\b/.test(text);
  return isDrawn || PLAIN.has(text) ? undefined : text;
}

/** The title of a column that can be sorted: `...sortedBy("Score", "score", EXPLANATION)`. */
function sortedTitleOf(literal: ts.ObjectLiteralExpression): ts.Node | undefined {
  for (const property of literal.properties) {
    if (!ts.isSpreadAssignment(property) || !ts.isCallExpression(property.expression)) continue;
    const { expression, arguments: given } = property.expression;
    if (expression.getText() === "sortedBy" && given.length < 3) return given[0];
  }
  return undefined;
}

function readFigures(): { n: number; unexplained: Unexplained[] } {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(home, folder))
      .filter((name) => name.endsWith(".tsx") && !name.endsWith(".test.tsx"))
      .map((name) => `${folder}/${name}`),
  );
  const unexplained: Unexplained[] = [];
  let n = 0;
  for (const file of files) {
    const text = readFileSync(join(home, file), "utf8");
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
    const hasKeyFigures = text.includes("<KeyFigures");
    const visit = (node: ts.Node) => {
      if (ts.isObjectLiteralExpression(node)) {
        n += Number(isExplained(node));
        const figure = findUnexplained(node, hasKeyFigures);
        if (figure !== undefined) unexplained.push({ file, figure });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return { n, unexplained };
}

test("every figure of a page has an explanation", () => {
  const { n, unexplained } = readFigures();
  expect(unexplained).toEqual([]);
  expect(n).toBeGreaterThan(60);
});
