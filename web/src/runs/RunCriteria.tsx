import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { type Range, rangeText } from "../chart/figures";
import { Interval } from "../chart/Interval";
import { ScaledScore } from "../chart/ScaledScore";
import { declaredScalesOf } from "../rubrics/scales";
import { count } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { type CriterionMean, criteriaQuery, type RunInFull } from "./queries";
import styles from "./RunPage.module.css";

/** The mean of each criterion over the cases of a run, with its confidence interval. */
export function RunCriteria({ run }: { run: RunInFull }) {
  const project = useProject();
  const found = useQuery(criteriaQuery(project.id, run.id));
  return (
    <Loaded query={found} what="the criteria">
      {({ criteria }) =>
        criteria.length === 0 ? (
          <Notice title="Nothing has a score yet">
            <p>The mean of each criterion appears here once a case is graded.</p>
          </Notice>
        ) : (
          <div className={styles.view}>
            <CriterionMeanTable criteria={criteria} rubrics={run.rubrics} />
          </div>
        )
      }
    </Loaded>
  );
}

type CriterionMeanTableProps = { criteria: CriterionMean[]; rubrics: Record<string, unknown> };

/** The mean of each criterion on the scale that its rubric gives it, and from 0 to 1. */
export function CriterionMeanTable({ criteria, rubrics }: CriterionMeanTableProps) {
  const scales = declaredScalesOf(rubrics);
  const columns: Column<CriterionMean>[] = [
    { name: "criterion", head: "Criterion", cell: (it) => it.criterion },
    {
      name: "mean",
      head: "Mean",
      about:
        "Mean score of the criterion over the cases that have one: on the scale of the criterion, where it has one, and from 0 to 1.",
      entry: "score",
      align: "end",
      cell: (it) => <ScaledScore mean={it.mean} scale={scales.get(it.criterion)} digits={2} />,
    },
    {
      name: "interval",
      head: "95 % interval",
      about:
        "Confidence interval of the mean, on the scale of the criterion, where it has one, and from 0 to 1. In 95 of 100 evaluations with other cases of the same kind, it contains the true mean. One case has no interval.",
      entry: "confidence-interval",
      align: "end",
      cell: (it) => rangeText(it.interval as Range | null, scales.get(it.criterion)) || "–",
    },
    {
      name: "picture",
      head: "From 0 to 1",
      about: "Dot: mean. Line: 95 % confidence interval. The ends of the axis are 0 and 1.",
      entry: "confidence-interval",
      wide: true,
      cell: (it) => (
        <span className={styles.onScale}>
          <Interval
            mean={it.mean}
            interval={it.interval as Range | null}
            domain={[0, 1]}
            scale={scales.get(it.criterion)}
          />
        </span>
      ),
    },
    {
      name: "n",
      head: "Cases",
      about: "Cases with a score for the criterion. Trials of one case count once.",
      entry: "case",
      align: "end",
      cell: (it) => count(it.n_cases),
    },
  ];
  return <Table caption="Criteria" columns={columns} rows={criteria} keyOf={(it) => it.criterion} />;
}
