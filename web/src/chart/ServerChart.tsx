import { useId, useLayoutEffect, useRef } from "react";
import type { Schemas } from "../api/client";
import { type Column, Table } from "../ui/Table";
import { useOverflow } from "../ui/useOverflow";
import styles from "./Chart.module.css";
import { ChartTip } from "./ChartTip";

/** A chart that the server draws; reports contain the same one. */
export type Drawn = Schemas["ChartView"];

/** The size of letters in the units of the picture, and the least that can be read, in pixels. */
const [LETTERS, READABLE] = [11, 9.2];

/** The width in pixels at which letters can still be read; a narrower frame scrolls. */
export const leastWidth = (units: number): number => Math.ceil((units * READABLE) / LETTERS);

type ServerChartProps = {
  title: string;
  drawn: Drawn;
  /** The meaning of the dashed line. */
  dashed?: string;
};

/** A chart of the server in the colours of the page, with its numbers as a table. */
export function ServerChart({ title, drawn, dashed }: ServerChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const picture = cleaned(drawn.svg);
    const [, , width] = picture?.getAttribute("viewBox")?.split(" ") ?? [];
    if (picture && width) picture.style.minInlineSize = `${leastWidth(Number(width)) / 16}rem`;
    box.current?.replaceChildren(...(picture ? [picture] : []));
  }, [drawn.svg]);
  const isScrolling = useOverflow(box, "inline");
  return (
    <figure className={styles.figure} aria-labelledby={id}>
      <figcaption id={id} className={styles.caption}>
        {title}
        {dashed && <span className={styles.dashed}>{dashed}</span>}
      </figcaption>
      <ChartTip>
        <div
          ref={box}
          className={styles.picture}
          // Keys scroll what has the focus.
          {...(isScrolling && { tabIndex: 0, role: "group", "aria-label": title })}
        />
      </ChartTip>
      {/* On a telephone the picture is wider than the page, and the table shows the same at once. */}
      <details className={styles.table} open={isScrolling}>
        <summary>Show as table</summary>
        <ServerChartTable title={title} table={drawn.table} />
      </details>
    </figure>
  );
}

function ServerChartTable({ title, table }: { title: string; table: Drawn["table"] }) {
  const columns = table.columns.map(
    (head, at): Column<string[]> => ({
      name: `${at} ${head}`,
      head,
      align: at === 0 ? undefined : "end",
      cell: (row) => row[at] ?? "",
    }),
  );
  return <Table caption={title} columns={columns} rows={table.rows} keyOf={(it) => it.join(" ")} />;
}

const SHAPES = ["svg", "g", "path", "line", "circle", "rect", "polygon", "polyline", "text", "title", "desc"];

/** The chart reduced to shapes and texts: without its own colours, scripts and links. Titles of marks become tips. */
export function cleaned(svg: string): SVGElement | null {
  // Removed before parsing: the content security policy allows no inline styles.
  const text = svg.replace(/<style>[\s\S]*?<\/style>/g, "");
  const picture = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
  if (!picture) return null;
  for (const it of [picture, ...picture.querySelectorAll("*")]) {
    if (!SHAPES.includes(it.localName)) it.remove();
    if (it.localName === "title" && it.parentNode instanceof Element && it.parentNode !== picture) {
      it.parentNode.setAttribute("data-tip", it.textContent ?? "");
      it.remove();
    }
    for (const { name } of [...it.attributes]) {
      if (name === "style" || name === "href" || name.startsWith("on") || name.includes(":")) {
        it.removeAttribute(name);
      }
    }
  }
  return picture;
}
