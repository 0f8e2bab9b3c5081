import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { percent } from "../chart/figures";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { score } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import { type FlakyCase, flakyQuery } from "./doors";
import styles from "./RunPage.module.css";

/** Cases whose repeats disagree, the worst first. */
export function Flaky({ run }: { run: string }) {
  const project = useProject();
  const found = useQuery(flakyQuery(project.id, run));
  const columns: Column<FlakyCase>[] = [
    {
      name: "case",
      head: "Case",
      cell: (it) => (
        <Link to="/p/$project/runs/$run" params={{ project: project.name, run }} search={{ find: it.case }}>
          {it.case}
        </Link>
      ),
    },
    { name: "passed", head: "Passed", align: "end", cell: (it) => `${it.passed} of ${it.n}` },
    {
      name: "pass_k",
      head: "Passes every time",
      align: "end",
      cell: (it) => percent(it.pass_k),
    },
    {
      name: "scores",
      head: "Score of each try",
      wide: true,
      cell: (it) => (
        <span className={styles.tries}>
          {it.scores.map((one, at) => (
            <span key={at}>{score(one)}</span>
          ))}
        </span>
      ),
    },
  ];
  return (
    <Loaded query={found} what="flaky cases">
      {(all) =>
        all.length === 0 ? (
          <State title="No case disagrees with itself">
            <p>Cases that are tried more than once and do not end alike each time stand here.</p>
          </State>
        ) : (
          <Table caption="Flaky cases" columns={columns} rows={all} keyOf={(it) => it.case} />
        )
      }
    </Loaded>
  );
}
