import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Matrix } from "./queries";
import { MatrixTable } from "./RunMatrix";

test("the axes of the matrix are named in words", () => {
  const cell = { n: 1, passed: 1, decided: 1, score: 1 };
  const matrix: Matrix = {
    keys: [
      { key: "order_type", label: "order type", n_values: 2 },
      { key: "max_turns", label: "max turns", n_values: 2 },
    ],
    rows_by: "order_type",
    columns_by: "max_turns",
    rows: ["return", "–"],
    columns: ["3", "5"],
    cells: [
      [cell, null],
      [null, cell],
    ],
  };
  render(<MatrixTable matrix={matrix} run={{ id: "run_1", scale: { min: 1, max: 5 } }} outcomes={[]} />);
  expect(screen.getByRole("table", { name: "Order type by max turns" })).toBeTruthy();
  const heads = screen.getAllByRole("columnheader").map((it) => it.textContent);
  expect(heads).toEqual(["Order type", "max turns 3", "max turns 5"]);
  expect(screen.getByRole("rowheader", { name: /no order type/ })).toBeTruthy();
  const first = screen.getByRole("row", { name: /^return/ }).children[1];
  expect(first?.textContent).toContain("5.00 on 1–5 1.000");
});
