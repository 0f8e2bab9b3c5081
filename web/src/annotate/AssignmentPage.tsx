import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Problem } from "../api/client";
import { isSignedOut, useProject } from "../api/session";
import { JoinTaskForm } from "../shell/JoinTask";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { useToast } from "../ui/Toast";
import { useTitle } from "../ui/useTitle";
import { AnnotationForm } from "./AnnotationForm";
import styles from "./AssignmentPage.module.css";
import { asShown, differences } from "./answers";
import { newerOf } from "./draftSaver";
import { OwnItems } from "./OwnItems";
import { assignmentQuery, fetchNext, nextQuery, skip, submit, tasksQuery } from "./queries";
import type { Done, Submitted, Work } from "./types";
import { useDraft } from "./useDraft";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** A remark of the server about the pace of the item before. */
    pace?: string;
  }
}

/** Opens the next item, or says that there is none. */
export function NextAssignmentPage() {
  const project = useProject();
  const { task } = useParams({ from: "/p/$project/annotate/$task" });
  const navigate = useNavigate();
  const found = useQuery(nextQuery(project.id, task));
  const assignment = found.data && "assignment" in found.data ? found.data.assignment : undefined;
  useEffect(() => {
    if (!assignment) return;
    const params = { project: project.name, task, assignment };
    navigate({ to: "/p/$project/annotate/$task/$assignment", params, replace: true });
  }, [assignment, navigate, project.name, task]);
  if (isSignedOut(found.error)) return <AnnotatorNameForm task={task} />;
  return (
    <Loaded query={found} what="the next item">
      {(it) => ("done" in it ? <NoMoreItems done={it} /> : null)}
    </Loaded>
  );
}

const WHY = {
  finished: ["All items are done", "Thank you. This task has no more items for you."],
  quota: ["Your items are done", "Thank you. You have reached the maximum number of items per annotator."],
  closed: ["This task is closed", "Your submitted answers are stored. No more answers are accepted."],
  nothing_now: [
    "No items at the moment",
    "Other annotators are working on the remaining items. This page checks for new items automatically.",
  ],
} as const;

function NoMoreItems({ done }: { done: Done }) {
  const project = useProject();
  const [title, text] = WHY[done.why as keyof typeof WHY] ?? WHY.finished;
  return (
    <>
      <PageHead title={title} />
      <div className={styles.done} role="status">
        <p>{text}</p>
        {done.code && (
          <div className={styles.code}>
            <p>Your completion code</p>
            <code data-code>{done.code}</code>
            <CopyButton text={done.code} />
          </div>
        )}
        <p>
          <Link to="/p/$project/annotate" params={{ project: project.name }}>
            All tasks
          </Link>
        </p>
      </div>
    </>
  );
}

/** One item of a task, for the annotator it is assigned to. */
export function AssignmentPage() {
  const project = useProject();
  const { assignment, task } = useParams({ from: "/p/$project/annotate/$task/$assignment" });
  const found = useQuery(assignmentQuery(project.id, assignment));
  if (isSignedOut(found.error)) return <AnnotatorNameForm task={task} />;
  if (found.error instanceof Problem && found.error.status === 403) return <AlreadySubmitted task={task} />;
  return (
    <Loaded query={found} what="the item">
      {(it) => (
        <>
          <p role="status" className="visually-hidden">
            {it.task.name}, {placeOf(it)}
          </p>
          <AssignmentForm key={it.assignment} work={it} isLeft={found.isPlaceholderData} />
        </>
      )}
    </Loaded>
  );
}

/** On a server without accounts annotators enter a name, because answers belong to a person. */
function AnnotatorNameForm({ task }: { task: string }) {
  const project = useProject();
  const tasks = useQuery(tasksQuery(project.id));
  const found = tasks.data?.items.find((it) => it.id === task);
  return (
    <Notice title={found ? `Annotate: ${found.name}` : "Annotate"}>
      {found?.description && <p dir="auto">{found.description}</p>}
      <JoinTaskForm by={{ task }} />
    </Notice>
  );
}

function AlreadySubmitted({ task }: { task: string }) {
  const project = useProject();
  return (
    <Notice
      title="This item is already submitted"
      action={
        <Link to="/p/$project/annotate/$task" params={{ project: project.name, task }}>
          Next item
        </Link>
      }
    >
      <p>In this task, submitted items cannot be edited.</p>
    </Notice>
  );
}

function placeOf({ state, progress: { done, left } }: Work): string {
  if (state === "submitted") return "submitted item";
  return left == null ? `item ${done + 1}` : `item ${done + 1} of ${done + left}`;
}

/** `isLeft` while the next item loads. The form of the next item then replaces this one and every open menu in it. */
function AssignmentForm({ work, isLeft }: { work: Work; isLeft: boolean }) {
  const project = useProject();
  const navigate = useNavigate();
  const { pace } = useLocation().state;
  const toast = useToast();
  const kept = useDraft(project.id, work);
  const [submitted, setSubmitted] = useState<Submitted>();
  useTitle(work.task.name);
  const params = { project: project.name, task: work.task.id };
  const goTo = (assignment: string, pace?: string | null) =>
    navigate({
      to: "/p/$project/annotate/$task/$assignment",
      params: { ...params, assignment },
      state: { pace: pace ?? undefined },
    });
  const goOn = async (pace?: string | null) => {
    // After going back, the next item is the one after this.
    if (work.after) return goTo(work.after, pace);
    const found = await fetchNext(project.id, work.task.id);
    if ("done" in found) return navigate({ to: "/p/$project/annotate/$task", params });
    return goTo(found.assignment, pace);
  };
  const submitting = useMutation({
    mutationFn: async () => {
      if (submitted) return goOn(submitted.pace);
      const keeping = kept.keeping.current;
      if (!keeping) return;
      const answer = await submit(project.id, work.assignment, await keeping.settled());
      keeping.finish();
      setSubmitted(answer);
      if (!answer.feedback) await goOn(answer.pace);
    },
    onError: (error) => {
      const newer = newerOf(error);
      if (newer) kept.keeping.current?.meet(newer);
    },
  });
  const skipping = useMutation({
    mutationFn: async () => {
      await skip(project.id, work.assignment);
      kept.keeping.current?.finish();
      toast("Item skipped.");
      await goOn();
    },
  });
  const isBusy = submitting.isPending || skipping.isPending || isLeft;
  const { back_navigation } = work.settings;
  const fault = submitting.error ?? skipping.error;
  return (
    <div className={styles.work} inert={isLeft}>
      {kept.saved.kind === "twofold" && (
        <VersionConflict work={work} kept={kept} theirs={kept.saved.theirs.draft} />
      )}
      <AnnotationForm
        title={work.task.name}
        item={work.item}
        schemes={asShown(work)}
        draft={kept.draft}
        onDraftChange={(it) => isBusy || kept.change(it)}
        onSubmit={() => submitting.mutate()}
        onBack={back_navigation && work.before ? () => goTo(work.before as string) : undefined}
        onForward={work.after ? () => goTo(work.after as string) : undefined}
        onSkip={work.state === "assigned" ? () => skipping.mutate() : undefined}
        progress={work.progress}
        guidelines={work.task.description ?? undefined}
        items={
          <OwnItems
            own={work.own}
            current={work.assignment}
            nDone={work.progress.done}
            isDisabled={isBusy}
            onChoose={goTo}
          />
        }
        saved={kept.saved}
        isSubmitting={isBusy}
        isAgain={work.state === "submitted"}
        notice={pace ?? (kept.isRestored ? "Unsaved answers were restored from this browser." : undefined)}
        fault={newerOf(fault) ? null : fault}
        feedback={submitted?.feedback ?? undefined}
      />
    </div>
  );
}

type VersionConflictProps = { work: Work; kept: ReturnType<typeof useDraft>; theirs: Work["draft"] };

/** Two tabs or computers answered differently: the annotator chooses one version. */
function VersionConflict({ work, kept, theirs }: VersionConflictProps) {
  const rows = differences(work.schemes, kept.draft, theirs);
  return (
    <section className={styles.twofold} role="alert" aria-label="Two versions">
      <h2>There are two versions of your answers</h2>
      <p>
        This item was also saved in another tab or on another computer. Choose the version to keep; nothing is
        lost until then.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Question</th>
            <th scope="col">This tab</th>
            <th scope="col">Other version</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((it) => (
            <tr key={it.label}>
              <th scope="row">{it.label}</th>
              <td>{it.mine}</td>
              <td>{it.theirs}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className={styles.choice}>
        <Button look="main" onClick={kept.keepMine}>
          Keep this version
        </Button>
        <Button onClick={kept.takeTheirs}>Use the other version</Button>
      </div>
    </section>
  );
}
