import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Form, FormError, useFields } from "../ui/Form";
import { count, duration, score } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import type { Explanation } from "../ui/Term";
import { Time } from "../ui/Time";
import { changePerson, peopleQuery } from "./queries";
import { TaskLayout } from "./TaskLayout";
import styles from "./TaskPage.module.css";
import type { Person, Right, TaskInFull } from "./types";

/** The annotators of a task with their pace and quality checks. */
export function PeoplePage() {
  return <TaskLayout>{(task) => <AnnotatorTable task={task} />}</TaskLayout>;
}

function AnnotatorTable({ task }: { task: TaskInFull }) {
  const project = useProject();
  const found = useQuery(peopleQuery(project.id, task.id));
  return (
    <Loaded query={found} what="people">
      {({ items }) =>
        items.length === 0 ? (
          <Notice title="No annotators yet">
            <p>Annotators appear here after their first answer.</p>
          </Notice>
        ) : (
          <Table
            caption="Annotators"
            columns={columnsOf(items, task)}
            rows={items}
            keyOf={(it) => it.account}
          />
        )
      }
    </Loaded>
  );
}

const CHECK_BOOK = "annotate.html#gold-and-attention-items";

type Check = Explanation & { name: "training" | "gold" | "attention"; head: string };

const CHECKS: Check[] = [
  {
    name: "training",
    head: "Practice",
    about: "Practice items answered correctly, of all that were answered. Annotators get them first.",
    book: CHECK_BOOK,
  },
  {
    name: "gold",
    head: "Gold",
    about: "Gold items, whose answer is known, that were answered correctly, of all that were answered.",
    book: CHECK_BOOK,
  },
  {
    name: "attention",
    head: "Attention",
    about: "Attention checks, which every careful reader answers correctly: correct ones of all answered.",
    book: CHECK_BOOK,
  },
];

function columnsOf(all: Person[], task: TaskInFull): Column<Person>[] {
  const slowest = Math.max(1, ...all.map((it) => it.median_seconds ?? 0));
  // Checks that a task does not use have no column.
  const checks = CHECKS.filter(({ name }) => all.some((it) => it[name].all > 0));
  return [
    { name: "name", head: "Name", cell: (it) => it.name },
    {
      name: "done",
      head: "Items",
      about: "Ordinary items that were answered. Practice, gold and attention items are not included.",
      book: "annotate.html#assignment",
      align: "end",
      cell: (it) => count(it.n_done),
    },
    {
      name: "pace",
      head: "Median time",
      about:
        "Median working time per item, over all answers; ten minutes of inactivity count as a break. The bar compares it with the slowest annotator.",
      book: "annotate.html#assignment",
      align: "end",
      cell: (it) => <AnnotatorPace person={it} slowest={slowest} />,
    },
    {
      name: "fast",
      head: "Too fast",
      about:
        "Answers under the minimum time per item, of all answers, practice, gold and attention items included. Without a minimum, it is a third of the median of all annotators.",
      book: "annotate.html#assignment",
      align: "end",
      cell: (it) => (it.too_fast ? `${count(it.too_fast)}/${count(countAnswers(it))}` : "–"),
      wide: true,
    },
    ...checks.map(
      (check): Column<Person> => ({
        ...check,
        align: "end",
        cell: (it) => right(it[check.name]),
        wide: true,
      }),
    ),
    {
      name: "drift",
      head: "Drift",
      about:
        "Mean rating, on 0 to 1, in the first and in the second half of the annotator’s work, from ten answers on. A large difference can mean that the annotator has become stricter or more lenient.",
      align: "end",
      wide: true,
      cell: (it) => <AnnotatorDrift person={it} />,
    },
    {
      name: "warnings",
      head: "Warnings",
      about:
        "Signs of careless work: missed checks, answers that are too fast, or ratings that change by more than 0.2 from the first half of the work to the second.",
      book: "annotate.html#gold-and-attention-items",
      cell: (it) => (
        <span className={styles.warnings}>
          {it.warnings.map((warning) => (
            <Badge key={warning} tone="fail">
              {warning}
            </Badge>
          ))}
        </span>
      ),
    },
    {
      name: "last",
      head: "Last answer",
      align: "end",
      cell: (it) => (it.last ? <Time at={it.last} /> : "–"),
      wide: true,
    },
    {
      name: "use",
      head: "Action",
      about:
        "Answers of an excluded annotator stay stored. They are left out of disputes, agreement, results and labels, and exports mark them.",
      book: "annotate.html#exclude-an-annotator",
      cell: (it) => <Exclusion task={task} person={it} />,
    },
  ];
}

/** Changes whether the answers of an annotator are used, and reloads the figures that depend on it. */
function useExclusion(task: TaskInFull, person: Person, onDone?: () => void) {
  const project = useProject();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: Schemas["AnnotatorChange"]) =>
      changePerson(project.id, task.id, person.account, change),
    onSuccess: async () => {
      await Promise.all(
        ["people", "disputes", "agreement", "results", "answers"].map((name) =>
          queries.invalidateQueries({ queryKey: [name, project.id] }),
        ),
      );
      onDone?.();
    },
  });
}

/** Whether the answers of an annotator are used, with the button that changes it. */
function Exclusion({ task, person }: { task: TaskInFull; person: Person }) {
  const [isAsking, setAsking] = useState(false);
  const change = useExclusion(task, person);
  if (person.excluded) {
    return (
      <span className={styles.warnings}>
        <Badge>excluded</Badge>
        {person.reason && <span>{person.reason}</span>}
        <Button look="link" disabled={change.isPending} onClick={() => change.mutate({ excluded: false })}>
          Include<span className="visually-hidden"> {person.name}</span>
        </Button>
        <FormError error={change.error} />
      </span>
    );
  }
  return (
    <>
      <Button look="link" onClick={() => setAsking(true)}>
        Exclude<span className="visually-hidden"> {person.name}</span>
      </Button>
      {isAsking && <ExclusionDialog task={task} person={person} onClose={() => setAsking(false)} />}
    </>
  );
}

function ExclusionDialog({
  task,
  person,
  onClose,
}: {
  task: TaskInFull;
  person: Person;
  onClose: () => void;
}) {
  const [entered, bind] = useFields({ reason: "" });
  const change = useExclusion(task, person, onClose);
  const asked = {
    ...change,
    mutate: () => change.mutate({ excluded: true, reason: entered.reason.trim() || null }),
  };
  return (
    <Dialog title={`Exclude ${person.name}`} onClose={onClose}>
      <Form asked={asked} does="Exclude answers">
        <p className={styles.soft}>
          The answers stay stored. They are left out of disputes, agreement, results and labels, and you can
          include them again.
        </p>
        <Field label="Reason" hint="Optional." {...bind("reason")} />
      </Form>
    </Dialog>
  );
}

/** The median time per item, relative to the slowest annotator. */
export function AnnotatorPace({ person, slowest }: { person: Person; slowest: number }) {
  if (person.median_seconds == null) return "–";
  return (
    <span className={styles.pace}>
      {duration(1000 * person.median_seconds)}
      <meter min={0} max={slowest} value={person.median_seconds} aria-hidden="true" />
    </span>
  );
}

const [WIDE, HIGH, DOT] = [40, 18, 2.5];
/** The change that fills the height of the chart. */
const STEEPEST = 0.4;

/** The mean rating in the first and second half of an annotator's work. */
export function AnnotatorDrift({ person: { drift } }: { person: Person }) {
  if (!drift) return "–";
  const rise = Math.max(-1, Math.min(1, (drift.second - drift.first) / STEEPEST));
  const by = rise * (HIGH / 2 - DOT);
  const [from, to] = [HIGH / 2 + by, HIGH / 2 - by];
  return (
    <span className={styles.drift}>
      {score(drift.first)} → {score(drift.second)}
      <svg viewBox={`0 0 ${WIDE} ${HIGH}`} aria-hidden="true">
        <line x1={DOT} y1={from} x2={WIDE - DOT} y2={to} />
        <circle cx={DOT} cy={from} r={DOT} />
        <circle cx={WIDE - DOT} cy={to} r={DOT} />
      </svg>
    </span>
  );
}

/** Answers to ordinary items and to checks. */
const countAnswers = (it: Person): number =>
  it.n_done + CHECKS.reduce((sum, { name }) => sum + it[name].all, 0);

const right = (it: Right): string => (it.all === 0 ? "–" : `${it.right}/${it.all}`);
