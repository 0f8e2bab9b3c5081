import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { Interval } from "../chart/Interval";
import { count, score } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { type CriterionMean, criteriaQuery } from "./queries";
import styles from "./RunPage.module.css";

/** The mean of each criterion over the cases of a run, with its confidence interval. */
export function RunCriteria({ run }: { run: string }) {
  const project = useProject();
  const found = useQuery(criteriaQuery(project.id, run));
  const columns: Column<CriterionMean>[] = [
    { name: "criterion", head: "Criterion", cell: (it) => it.criterion },
    {
      name: "mean",
      head: (
        <Term about="Mean score of the criterion over the cases that have one, from 0 to 1." entry="score">
          Mean
        </Term>
      ),
      align: "end",
      cell: (it) => score(it.mean),
    },
    {
      name: "interval",
      head: (
        <Term
          about="Confidence interval of the mean: repeated with other cases of the same kind, it contains the true mean in 95 of 100 evaluations. One case has no interval."
          entry="confidence-interval"
        >
          95 % interval
        </Term>
      ),
      align: "end",
      cell: (it) => (it.interval ? `${score(it.interval[0])} to ${score(it.interval[1])}` : "–"),
    },
    {
      name: "picture",
      head: "From 0 to 1",
      wide: true,
      cell: (it) => (
        <span className={styles.onScale}>
          <Interval mean={it.mean} interval={it.interval as [number, number] | null} domain={[0, 1]} />
        </span>
      ),
    },
    {
      name: "n",
      head: (
        <Term about="Cases with a score for the criterion. Trials of one case count once." entry="case">
          Cases
        </Term>
      ),
      align: "end",
      cell: (it) => count(it.n_cases),
    },
  ];
  return (
    <Loaded query={found} what="the criteria">
      {({ criteria }) =>
        criteria.length === 0 ? (
          <Notice title="Nothing has a score yet">
            <p>The mean of each criterion appears here once a case is graded.</p>
          </Notice>
        ) : (
          <div className={styles.view}>
            <Table caption="Criteria" columns={columns} rows={criteria} keyOf={(it) => it.criterion} />
          </div>
        )
      }
    </Loaded>
  );
}
