import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { Interval } from "../chart/Interval";
import { ServerChart } from "../chart/ServerChart";
import { Select } from "../ui/Field";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
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
                    { value: "", label: "nothing" },
                    ...it.fields.map((field) => ({ value: field, label: field })),
                  ]}
                />
              )}
            </div>
            <div className={styles.columns}>
              <div className={styles.tables}>
                {it.groups.length === 0 ? (
                  <QuestionTable caption="Results" questions={it.questions} />
                ) : (
                  <ResultGroups results={it} by={by ?? ""} />
                )}
              </div>
              {it.radar && <ServerChart title="Mean of each criterion, on 0 to 1" drawn={it.radar} />}
            </div>
          </div>
        )
      }
    </Loaded>
  );
}

function ResultGroups({ results: { groups }, by }: { results: Results; by: string }) {
  return groups.map((group) => (
    <section key={group.value} className={styles.group} aria-label={`${by} ${group.value}`}>
      <h2>
        {group.value} <small>{plural(group.n_answers, "answer")}</small>
      </h2>
      <QuestionTable caption={`Results of ${group.value}`} questions={group.questions} />
    </section>
  ));
}

function QuestionTable({ caption, questions }: { caption: string; questions: Question[] }) {
  const columns: Column<Question>[] = [
    { name: "question", head: "Question", cell: (it) => <QuestionName question={it} /> },
    {
      name: "mean",
      head: (
        <Term about="Mean of all ratings, on the scale of the question. Answers without an order are counted instead.">
          Mean
        </Term>
      ),
      align: "end",
      cell: (it) => (it.kind === "choice" ? <AnswerCounts question={it} /> : figure(it.mean)),
    },
    {
      name: "interval",
      head: (
        <Term
          about="Confidence interval of the mean, over items. An item counts once, however many people rated it."
          entry="confidence-interval"
        >
          95 % interval
        </Term>
      ),
      align: "end",
      cell: (it) => (it.interval ? `${figure(it.interval[0])} to ${figure(it.interval[1])}` : "–"),
    },
    {
      name: "picture",
      head: "On its scale",
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
      align: "end",
      wide: true,
      cell: (it) => (it.scale ? `${it.scale[0]}–${it.scale[1]}` : "–"),
    },
    {
      name: "n",
      head: (
        <Term about="Number of ratings. Each annotator of an item counts, so it can exceed the number of items.">
          Rated
        </Term>
      ),
      align: "end",
      cell: (it) => count(it.n_scored),
    },
    {
      name: "silent",
      head: (
        <Term about="Answers “not applicable” and “undecidable”, in this order. They are not part of the mean.">
          n/a · ?
        </Term>
      ),
      align: "end",
      wide: true,
      cell: (it) => `${it.n_not_applicable || "–"} · ${it.n_abstained || "–"}`,
    },
  ];
  return (
    <Table
      caption={caption}
      columns={columns}
      rows={questions}
      keyOf={(it) => `${it.scheme} ${it.kind} ${it.name}`}
    />
  );
}

const ends = (scale: number[]): [number, number] => [scale[0] ?? 0, scale[1] ?? 1];

const figure = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(2));

/** Computed scores are bold. */
function QuestionName({ question }: { question: Question }) {
  const isDerived = question.kind !== "criterion" && question.kind !== "choice";
  return isDerived ? <b>{question.label}</b> : question.label;
}

function AnswerCounts({ question }: { question: Question }) {
  return (
    <span className={styles.counts}>
      {question.counts.map((it) => (
        <span key={it.answer}>
          {it.answer} <b>{count(it.n)}</b>
        </span>
      ))}
    </span>
  );
}
