import { useId, useLayoutEffect, useRef } from "react";
import type { Schemas } from "../api/client";
import { type Column, Table } from "../ui/Table";
import styles from "./Chart.module.css";

/** A chart of the server's, as it also stands in reports. */
export type Drawn = Schemas["ChartView"];

type ServerChartProps = { title: string; drawn: Drawn };

/** What the server drew, in the colours of the page, and the numbers behind it. */
export function ServerChart({ title, drawn }: ServerChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const picture = cleaned(drawn.svg);
    box.current?.replaceChildren(...(picture ? [picture] : []));
  }, [drawn.svg]);
  return (
    <figure className={styles.figure} aria-labelledby={id}>
      <figcaption id={id} className={styles.caption}>
        {title}
      </figcaption>
      <div ref={box} className={styles.picture} />
      <details className={styles.table}>
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

/** The picture without what is no shape: its own colours, and whatever else should not be there. */
export function cleaned(svg: string): SVGElement | null {
  // Taken out before it is read: the policy of the pages allows no style inside of them.
  const text = svg.replace(/<style>[\s\S]*?<\/style>/g, "");
  const picture = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
  if (!picture) return null;
  for (const it of [picture, ...picture.querySelectorAll("*")]) {
    if (!SHAPES.includes(it.localName)) it.remove();
    for (const { name } of [...it.attributes]) {
      if (name === "style" || name === "href" || name.startsWith("on") || name.includes(":")) {
        it.removeAttribute(name);
      }
    }
  }
  return picture;
}
