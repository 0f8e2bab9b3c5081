import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { may, useProject } from "../api/session";
import { AddToDataset } from "../datasets/AddToDataset";
import { OneTimeSecret } from "../settings/SettingsLayout";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { N_ANSWERS } from "../ui/explanations";
import { Field, Select } from "../ui/Field";
import { Form, FormError, useFields } from "../ui/Form";
import { count, day, plural } from "../ui/format";
import { Explained, type Explanation, Term } from "../ui/Term";
import { useToast } from "../ui/Toast";
import { AddItemsDialog } from "./AddItemsDialog";
import { titleOf } from "./answers";
import { changeTask, exportOf, linksOf, type SettingsChange } from "./queries";
import { TaskLayout } from "./TaskLayout";
import styles from "./TaskPage.module.css";
import type { Scheme, TaskInFull } from "./types";

/** A task for its owner: progress, invitation, settings and export. */
export function TaskPage() {
  return <TaskLayout>{(task) => <TaskOverview task={task} />}</TaskLayout>;
}

const ITEMS_DONE: Explanation = {
  about: "Items that have the answers that they need.",
  book: "annotate.html#assignment",
};

function TaskOverview({ task }: { task: TaskInFull }) {
  const { progress } = task;
  return (
    <div className={styles.parts}>
      {task.description && (
        <p className={styles.about} dir="auto">
          {task.description}
        </p>
      )}
      <section className={styles.numbers} aria-label="Progress">
        {(
          [
            [
              count(progress.n_submitted),
              // Where everybody answers everything, there is no target number.
              task.settings.annotators_per_item == null
                ? "answers"
                : `of ${plural(progress.n_wanted, "answer")}`,
              N_ANSWERS,
            ],
            [count(progress.n_done), `of ${plural(progress.n_items, "item")} done`, ITEMS_DONE],
            [day(task.created), "created"],
          ] as [string, string, Explanation?][]
        ).map(([value, label, help]) => (
          <div key={label}>
            <b>{value}</b>
            <span>
              <Explained {...help}>{label}</Explained>
            </span>
          </div>
        ))}
        <progress max={Math.max(1, progress.n_items)} value={progress.n_done} aria-label="Completed items" />
      </section>
      <div className={styles.columns}>
        <section className={styles.part}>
          <h2>Questions</h2>
          <ol className={styles.schemes}>
            {task.schemes.map((it) => (
              <li key={it.name}>
                <b>{titleOf(it)}</b> <span>{inShort(it)}</span>
              </li>
            ))}
          </ol>
          <TaskItems task={task} />
          <TaskExport task={task} />
          <AddTaskToDataset task={task} />
        </section>
        <section className={styles.part}>
          <h2>People</h2>
          <TaskInvitation task={task} />
          <h2>Settings</h2>
          <TaskSettings task={task} />
        </section>
      </div>
    </div>
  );
}

function inShort(scheme: Scheme): string {
  switch (scheme.kind) {
    case "rubric":
      return `${plural(scheme.criteria.length, "criterion", "criteria")}: ${scheme.criteria.map((it) => it.label).join(", ")}`;
    case "trajectory":
      return `each step: ${scheme.marks.join(", ")}`;
    case "verify":
      return "answers of a judge, confirmed or corrected";
    case "pairwise":
    case "choice":
      return scheme.labels.join(", ");
    case "likert":
      return `1 to ${scheme.size}`;
    case "slider":
      return `${scheme.min} to ${scheme.max}`;
    case "text":
      return "free text";
  }
}

function TaskItems({ task }: { task: TaskInFull }) {
  const [adding, setAdding] = useState(false);
  // Items of a verification task come from a judge.
  if (task.schemes.some((it) => it.kind === "verify")) return null;
  return (
    <>
      <h2>Items</h2>
      <p className={styles.soft}>
        {plural(task.progress.n_items, "item")}. You can add items at any time; work in progress is not
        affected.
      </p>
      <Button onClick={() => setAdding(true)}>Add items</Button>
      {adding && <AddItemsDialog task={task} onClose={() => setAdding(false)} />}
    </>
  );
}

const EXPORTS = [
  { format: "jsonl", label: "JSON Lines" },
  { format: "csv", label: "CSV" },
  { format: "parquet", label: "Parquet" },
];

function TaskExport({ task }: { task: TaskInFull }) {
  const project = useProject();
  return (
    <>
      <h2>Export results</h2>
      <p className={styles.exports}>
        {EXPORTS.map(({ format, label }) => (
          <a key={format} href={exportOf(project.id, task.id, format)} download={`${task.name}.${format}`}>
            {label}
          </a>
        ))}
      </p>
    </>
  );
}

function AddTaskToDataset({ task }: { task: TaskInFull }) {
  const project = useProject();
  const [isOpen, setOpen] = useState(false);
  if (!may(project, "write")) return null;
  return (
    <div>
      <Button onClick={() => setOpen(true)}>Add to dataset…</Button>
      {isOpen && <AddToDataset source={{ kind: "task", task: task.id }} onClose={() => setOpen(false)} />}
    </div>
  );
}

function TaskInvitation({ task }: { task: TaskInFull }) {
  const project = useProject();
  const links = useMutation({ mutationFn: () => linksOf(project.id, task.id) });
  return (
    <>
      <p className={styles.soft}>
        Members of this project find the task under Annotate. Other people join with a link, without an
        account, and see only this task. For a crowd platform, first open the task to crowd platforms in its
        settings.
      </p>
      <Button onClick={() => links.mutate()} disabled={links.isPending || task.state === "closed"}>
        Create link
      </Button>
      <FormError error={links.error} />
      {links.data && (
        <Dialog title="Links to this task" onClose={() => links.reset()} wide>
          <OneTimeSecret
            secret={absolute(links.data.url)}
            about="Invitation link: people enter their name and start."
          />
          <div>
            <CopyButton text={absolute(links.data.url)} />
          </div>
          {links.data.crowd_url && (
            <>
              <OneTimeSecret
                secret={absolute(links.data.crowd_url)}
                about="Link for a crowd platform. The platform appends its participant id."
              />
              <div>
                <CopyButton text={absolute(links.data.crowd_url)} />
              </div>
            </>
          )}
        </Dialog>
      )}
    </>
  );
}

const absolute = (url: string): string => (url.startsWith("/") ? `${location.origin}${url}` : url);

const YES_NO = [
  { value: "yes", label: "yes" },
  { value: "no", label: "no" },
];
const yesNo = (it: boolean): string => (it ? "yes" : "no");
const optional = (it: string): number | null => (it === "" ? null : Number(it));

function TaskSettings({ task }: { task: TaskInFull }) {
  const [changing, setChanging] = useState(false);
  const project = useProject();
  const queries = useQueryClient();
  const { settings } = task;
  const state = useMutation({
    mutationFn: () => changeTask(project.id, task.id, { state: task.state === "open" ? "closed" : "open" }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["task", project.id, task.id] }),
  });
  const lines: [string, string, string?][] = [
    [
      "Annotators per item",
      settings.annotators_per_item?.toString() ?? "all",
      "Different people who answer the same item. Agreement can be measured from two on.",
    ],
    [
      "Overlap sample",
      settings.overlap
        ? `${settings.overlap_annotators ?? "–"} annotators for ${Math.round(100 * settings.overlap)} % of the items`
        : "no",
      "A share of the items goes to more annotators than the others, to measure agreement at lower cost.",
    ],
    ["Items per annotator", settings.quota ? `at most ${count(settings.quota)}` : "no limit"],
    [
      "Release abandoned items after",
      plural(settings.stale_minutes, "minute"),
      "An item that was opened and not submitted goes to another annotator after this time.",
    ],
    ["Edit submitted items", yesNo(settings.back_navigation)],
    [
      "Show score to annotators",
      yesNo(settings.shows_score),
      "Whether the form shows the weighted score of the answers so far.",
    ],
    [
      "Practice items",
      String(settings.training?.length ?? 0),
      "Shown first, with the expected answers afterwards.",
    ],
    [
      "Gold items",
      String(settings.gold?.length ?? 0),
      "Items with known answers, mixed among the others to measure accuracy.",
    ],
    [
      "Attention checks",
      String(settings.attention?.length ?? 0),
      "Items with an obvious answer, to find people who do not read.",
    ],
    [
      "Minimum time per item",
      settings.min_seconds ? plural(settings.min_seconds, "second") : "a third of the median time",
      "Annotators who are faster get a remark, and the People page marks them.",
    ],
    [
      "Open to crowd platforms",
      yesNo(settings.crowd ?? false),
      "Whether everyone who knows the address of the task can join with a participant id.",
    ],
  ];
  return (
    <>
      <dl className={styles.rules}>
        {lines.map(([name, value, about]) => (
          <div key={name}>
            <dt>{about ? <Term about={about}>{name}</Term> : name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className={styles.doing}>
        <Button onClick={() => setChanging(true)}>Edit settings</Button>
        <Button
          look={task.state === "open" ? "danger" : "plain"}
          onClick={() => state.mutate()}
          disabled={state.isPending}
        >
          {task.state === "open" ? "Close task" : "Reopen task"}
        </Button>
      </div>
      <FormError error={state.error} />
      {changing && <TaskSettingsDialog task={task} onClose={() => setChanging(false)} />}
    </>
  );
}

function TaskSettingsDialog({ task, onClose }: { task: TaskInFull; onClose: () => void }) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  const { settings } = task;
  const [entered, bind] = useFields({
    people: settings.annotators_per_item?.toString() ?? "",
    quota: settings.quota?.toString() ?? "",
    stale: String(settings.stale_minutes),
    seconds: settings.min_seconds?.toString() ?? "",
    back: yesNo(settings.back_navigation),
    score: yesNo(settings.shows_score),
    crowd: yesNo(settings.crowd ?? false),
  });
  const change = useMutation({
    mutationFn: () => {
      const settings: SettingsChange = {
        annotators_per_item: optional(entered.people),
        quota: optional(entered.quota),
        stale_minutes: Number(entered.stale),
        min_seconds: optional(entered.seconds),
        back_navigation: entered.back === "yes",
        shows_score: entered.score === "yes",
        crowd: entered.crowd === "yes",
      };
      return changeTask(project.id, task.id, { settings });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["task", project.id, task.id] });
      toast("Settings saved.");
      onClose();
    },
  });
  return (
    <Dialog title="Task settings" onClose={onClose}>
      <Form asked={change} does="Save settings">
        <Field
          label="Annotators per item"
          type="number"
          min={1}
          hint="Empty: all annotators."
          {...bind("people")}
        />
        <Field
          label="Items per annotator, at most"
          type="number"
          min={1}
          hint="Empty: no limit."
          {...bind("quota")}
        />
        <Field
          label="Release abandoned items after (minutes)"
          type="number"
          min={1}
          required
          {...bind("stale")}
        />
        <Field
          label="Minimum time per item (seconds)"
          type="number"
          min={0}
          hint="Empty: a third of the median time of all answers."
          {...bind("seconds")}
        />
        <Select label="Edit submitted items" options={YES_NO} {...bind("back")} />
        <Select label="Show score to annotators" options={YES_NO} {...bind("score")} />
        <Select
          label="Open to crowd platforms"
          hint="Everyone who knows the address of the task can join with a participant id. The id is not checked."
          options={YES_NO}
          {...bind("crowd")}
        />
      </Form>
    </Dialog>
  );
}
