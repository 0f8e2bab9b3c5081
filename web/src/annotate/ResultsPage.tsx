import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { percent } from "../chart/figures";
import { Interval } from "../chart/Interval";
import { ServerChart } from "../chart/ServerChart";
import { Select } from "../ui/Field";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { type Explanation, Term } from "../ui/Term";
import { ExcludedAnnotators } from "./ExcludedAnnotators";
import { resultsQuery } from "./queries";
import styles from "./ResultsPage.module.css";
import { TaskLayout } from "./TaskLayout";
import type { TaskInFull } from "./types";

type Results = Schemas["ShownResults"];
type Question = Results["questions"][number];

/** Results of a task: means on their own scales, overall or by a field of the data. */
export function ResultsPage() {
  return <TaskLayout>{(task) => <TaskResults task={task} />}</TaskLayout>;
}

function TaskResults({ task }: { task: TaskInFull }) {
  const project = useProject();
  const { by } = useSearch({ strict: false }) as { by?: string };
  const navigate = useNavigate();
  const found = useQuery(resultsQuery(project.id, task.id, by));
  const choose = (field: string) =>
    navigate({ to: ".", search: { by: field || undefined } as never, replace: true });
  return (
    <Loaded query={found} what="the results">
      {(it) =>
        it.n_answers === 0 ? (
          <Notice title="No answers yet">
            <p>Means and confidence intervals appear after the first answer.</p>
          </Notice>
        ) : (
          <div className={styles.parts}>
            <div className={styles.head}>
              <p className={styles.about}>
                {plural(it.n_answers, "answer")} about {plural(it.n_items, "item")} by{" "}
                {plural(it.n_people, "person", "people")}. Means are on the scale of each question, with 95 %
                confidence intervals over items.
              </p>
              {it.fields.length > 0 && (
                <Select
                  label="Group by"
                  value={by ?? ""}
                  onChange={(event) => choose(event.target.value)}
                  options={[
                    { value: "", label: "no field" },
                    ...it.fields.map((field) => ({ value: field, label: field })),
                  ]}
                />
              )}
            </div>
            <ExcludedAnnotators task={task} />
            <div className={styles.columns}>
              <div className={styles.tables}>
                {it.groups.map((group) => (
                  <section key={group.value} className={styles.group} aria-label={`${by} ${group.value}`}>
                    <h2>
                      {group.value} <small>{plural(group.n_answers, "answer")}</small>
                    </h2>
                    <QuestionResults of={group.value} questions={group.questions} />
                  </section>
                ))}
                <section className={styles.group} aria-label="All answers">
                  {it.groups.length > 0 && (
                    <h2>
                      All <small>{plural(it.n_answers, "answer")}</small>
                    </h2>
                  )}
                  <QuestionResults of="all answers" questions={it.questions} />
                </section>
                {task.schemes.some(({ kind }) => kind === "text" || kind === "trajectory") && (
                  <p className={styles.about}>
                    Texts and marks of single steps have no mean. They are in the export on the page{" "}
                    <Link
                      to="/p/$project/annotate/$task/overview"
                      params={{ project: project.name, task: task.id }}
                    >
                      Overview
                    </Link>
                    .
                  </p>
                )}
              </div>
              {it.radar && (
                <ServerChart
                  title="Mean of each criterion, from the lowest to the highest answer"
                  drawn={it.radar}
                />
              )}
            </div>
          </div>
        )
      }
    </Loaded>
  );
}

type QuestionResultsProps = { of: string; questions: Question[] };

/** Ratings have a mean; answers that are labels have counts. Labels with a score have both. */
function QuestionResults({ of, questions }: QuestionResultsProps) {
  const rated = questions.filter((it) => it.kind !== "choice");
  const chosen = questions.filter((it) => it.kind === "choice" || it.counts.length > 0);
  return (
    <>
      {rated.length > 0 && <RatingTable of={of} questions={rated} />}
      {chosen.length > 0 && <ChoiceTable of={of} questions={chosen} />}
    </>
  );
}

const N_NOT_APPLICABLE: Column<Question> = {
  name: "not-applicable",
  head: "Not applicable",
  about: "Annotators who answered that the question does not apply. They are not part of the other figures.",
  book: "explanation/verdicts.html#from-answers-to-a-score",
  align: "end",
  wide: true,
  cell: (it) => it.n_not_applicable || "–",
};

const N_UNDECIDABLE: Column<Question> = {
  name: "undecidable",
  head: "Undecidable",
  about: "Annotators who answered that they cannot tell. They are not part of the other figures.",
  book: "explanation/verdicts.html#from-answers-to-a-score",
  align: "end",
  wide: true,
  cell: (it) => it.n_abstained || "–",
};

/** Columns of answers that are not ratings, where there are any. */
const silentColumns = (questions: Question[]): Column<Question>[] => [
  ...(questions.some((it) => it.n_not_applicable > 0) ? [N_NOT_APPLICABLE] : []),
  ...(questions.some((it) => it.n_abstained > 0) ? [N_UNDECIDABLE] : []),
];

const keyOf = (it: Question): string => `${it.scheme} ${it.kind} ${it.name}`;

function RatingTable({ of, questions }: QuestionResultsProps) {
  const columns: Column<Question>[] = [
    {
      name: "question",
      head: "Question",
      cell: (it) => <QuestionName question={it} all={questions} />,
    },
    {
      name: "mean",
      head: "Mean",
      about: "Mean rating, on the scale of the question.",
      book: "annotate.html#answers",
      align: "end",
      cell: (it) => figure(it.mean),
    },
    {
      name: "interval",
      head: "95 % interval",
      about:
        "Confidence interval of the mean, over items. An item counts once, however many people rated it. There is none if all ratings are equal or only one item is rated.",
      entry: "confidence-interval",
      align: "end",
      cell: (it) => (it.interval ? `${figure(it.interval[0])} to ${figure(it.interval[1])}` : "–"),
    },
    {
      name: "picture",
      head: "On its scale",
      about: "Dot: mean. Line: 95 % confidence interval. The ends are the ends of the scale.",
      entry: "confidence-interval",
      wide: true,
      cell: (it) =>
        it.mean != null && it.scale ? (
          <span className={styles.onScale}>
            <Interval
              mean={it.mean}
              interval={it.interval as [number, number] | null}
              domain={ends(it.scale)}
            />
          </span>
        ) : null,
    },
    {
      name: "scale",
      head: "Scale",
      about: "Lowest and highest rating that the question allows.",
      entry: "scale",
      align: "end",
      wide: true,
      cell: (it) => (it.scale ? `${it.scale[0]}–${it.scale[1]}` : "–"),
    },
    {
      name: "n",
      head: "Ratings",
      about: "Number of ratings. Each annotator of an item counts, so it can exceed the number of items.",
      book: "annotate.html#answers",
      align: "end",
      cell: (it) => count(it.n_scored),
    },
    ...silentColumns(questions),
  ];
  return <Table caption={`Ratings of ${of}`} columns={columns} rows={questions} keyOf={keyOf} />;
}

function ChoiceTable({ of, questions }: QuestionResultsProps) {
  const columns: Column<Question>[] = [
    {
      name: "question",
      head: "Question",
      cell: (it) => <QuestionName question={it} all={questions} />,
    },
    {
      name: "counts",
      head: "Answers",
      about: "How often each answer was given, and its share of all answers to the question.",
      book: "annotate.html#answers",
      cell: (it) => <AnswerCounts question={it} />,
    },
    {
      name: "n",
      head: "Answered",
      about: "Number of answers. Each annotator of an item counts, so it can exceed the number of items.",
      book: "annotate.html#answers",
      align: "end",
      cell: (it) => count(it.n_scored),
    },
    ...silentColumns(questions),
  ];
  return <Table caption={`Answers of ${of}`} columns={columns} rows={questions} keyOf={keyOf} />;
}

const ends = (scale: number[]): [number, number] => [scale[0] ?? 0, scale[1] ?? 1];

const figure = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(2));

/** Scores for the item as a whole. */
const DERIVED: Record<Question["kind"], Explanation | undefined> = {
  criterion: undefined,
  choice: undefined,
  overall: { about: "Rating of the item as a whole, which annotators give in addition to the criteria." },
  weighted_score: {
    about: "Mean of the ratings of the criteria, weighted as the rubric says. Annotators do not enter it.",
    book: "explanation/verdicts.html#from-answers-to-a-score",
  },
  running_score: {
    about:
      "Points that are left after the mistakes that annotators marked in steps. Annotators do not enter them.",
    book: "annotate.html#schemes",
  },
};

/** Scores for the whole item are bold. The scheme is named where two of them have a question of the same name. */
function QuestionName({ question, all }: { question: Question; all: Question[] }) {
  const help = DERIVED[question.kind];
  const isShared = all.some((it) => it.label === question.label && it.scheme !== question.scheme);
  return (
    <>
      {help ? (
        <b>
          <Term {...help}>{question.label}</Term>
        </b>
      ) : (
        question.label
      )}
      {isShared && <small> {question.scheme}</small>}
    </>
  );
}

function AnswerCounts({ question }: { question: Question }) {
  return (
    <span className={styles.counts}>
      {question.counts.map((it) => (
        <span key={it.answer}>
          {it.answer} <b>{count(it.n)}</b> {percent(it.n / Math.max(1, question.n_scored))}
        </span>
      ))}
    </span>
  );
}
