import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { Schemas } from "../api/client";
import { may, useProject } from "../api/session";
import { AddToDataset } from "../datasets/AddToDataset";
import { type Cited, citedIn, type Placed } from "../grades/gradeTable";
import { JudgeExchanges } from "../grades/JudgeExchanges";
import { gradesQuery, traceDecisionsQuery, verdictsQuery } from "../grades/queries";
import { GradeOutcome, TraceGrades } from "../grades/TraceGrades";
import { useMoney } from "../money/useMoney";
import { rubricsQuery } from "../rubrics/queries";
import { useSharedScale } from "../rubrics/scales";
import { VersionScore } from "../rubrics/VersionScore";
import { Badge, type Status, StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { TRACE_DURATION, VERDICT } from "../ui/explanations";
import { count, duration, moment, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { Breadcrumbs } from "../ui/PageHead";
import { Tabs } from "../ui/Tabs";
import { Explained, type Explanation, Term } from "../ui/Term";
import { useTitle } from "../ui/useTitle";
import { AGENT_COST, DERIVED_COST } from "./costHelp";
import { traceContentQuery, traceQuery } from "./queries";
import { SendToAnnotators } from "./SendToAnnotators";
import type { TraceSearch } from "./search";
import { TraceJson } from "./TraceJson";
import styles from "./TracePage.module.css";
import { TraceStatus, titleOf } from "./TracesPage";
import { TraceTimeline } from "./TraceTimeline";
import { shortTitle } from "./titles";
import { UseAsAnchor } from "./UseAsAnchor";
import { TraceView } from "./view/TraceView";
import type { Trace } from "./view/traceParts";

type Head = Schemas["TraceSummary"];

/** One trace: its facts, grades and steps. */
export function TracePage() {
  const { trace } = useParams({ from: "/p/$project/traces/$trace" });
  // Folded steps and the shown quote belong to one trace.
  return <TraceDetail key={trace} id={trace} />;
}

function TraceDetail({ id }: { id: string }) {
  const project = useProject();
  const head = useQuery(traceQuery(project.id, id));
  const content = useQuery({
    ...traceContentQuery(project.id, id),
    enabled: (head.data?.revision ?? 0) > 0 && head.data?.state !== "erased",
  });
  // Loaded at once, although the sections that show them wait for the trace.
  useQuery(traceDecisionsQuery(project.id, id));
  useQuery(gradesQuery(project.id, id));
  useQuery(verdictsQuery(project.id, id));
  useQuery(rubricsQuery(project.id));
  const { exchanges } = useSearch({ from: "/p/$project/traces/$trace" });
  const set = useAddress();
  const [shown, setShown] = useState<Placed>();
  const onQuote = (quote: Placed) => {
    // A new object each time, so that the same quote is scrolled into view again.
    setShown({ ...quote });
    document.getElementById("steps")?.scrollIntoView({ block: "nearest" });
    set({ step: quote.step, view: undefined });
  };
  return (
    <Loaded query={head} what="the trace">
      {(it) => (
        <div className={styles.page}>
          <TraceHead head={it} />
          <div className={styles.both}>
            <TraceGrades
              trace={it.id}
              finished={it.revision > 0 ? (it.finished ?? it.updated) : null}
              isWithheld={it.is_withheld}
              content={content.data}
              onQuote={onQuote}
              onExchanges={() => set({ exchanges: true })}
            />
            <div id="steps" className={styles.content}>
              {it.state === "erased" ? (
                <Notice title="This trace was erased">
                  <p>Its content is deleted; its grades are kept.</p>
                </Notice>
              ) : it.revision === 0 ? (
                <Notice title="The trace is still open">
                  <p>
                    {plural(it.n_pieces, "piece")} received. The steps are shown when the trace is finished.
                  </p>
                </Notice>
              ) : (
                <Loaded query={content} what="its steps">
                  {(trace) => (
                    <TraceContent id={it.id} trace={trace} shown={shown} onStep={() => setShown(undefined)} />
                  )}
                </Loaded>
              )}
            </div>
          </div>
          {exchanges && <JudgeExchanges trace={it.id} onClose={() => set({ exchanges: undefined })} />}
        </div>
      )}
    </Loaded>
  );
}

/** Changes the address without leaving the page. */
function useAddress() {
  const navigate = useNavigate({ from: "/p/$project/traces/$trace" });
  return useCallback(
    (change: Partial<TraceSearch>) =>
      navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false }),
    [navigate],
  );
}

const TOKENS: Explanation = {
  about: "Tokens of the model calls of the trace: those that the models read, and those that they wrote.",
  book: "server.html#what-a-trace-cost",
};

const LATE: Explanation = {
  about:
    "Pieces of the trace that arrived after it was complete. They open it again and make a new revision.",
  book: "server.html#when-a-trace-is-complete",
};

function TraceHead({ head }: { head: Head }) {
  const project = useProject();
  const verdicts = useQuery(verdictsQuery(project.id, head.id));
  const money = useMoney();
  const isCounted = head.tokens.input + head.tokens.output > 0;
  const facts: [string, ReactNode, Explanation?][] = [
    ["agent", head.agent ?? "–"],
    ["started", moment(head.started)],
    ["duration", duration(head.duration_ms), TRACE_DURATION],
    ["tokens", isCounted ? `${count(head.tokens.input)} in, ${count(head.tokens.output)} out` : "–", TOKENS],
    [
      "agent cost",
      head.is_cost_derived ? `${money(head.cost)} from tokens` : money(head.cost),
      { about: head.is_cost_derived ? DERIVED_COST : AGENT_COST, book: "server.html#what-a-trace-cost" },
    ],
  ];
  if (head.session) {
    facts.splice(1, 0, [
      "session",
      <Link
        key="session"
        to="/p/$project/traces"
        params={{ project: project.name }}
        search={{ session: head.session }}
      >
        {head.session}
      </Link>,
    ]);
  }
  const title = titleOf(head);
  useTitle(title ?? head.id);
  return (
    <header className={styles.head}>
      <Breadcrumbs>
        <Link to="/p/$project/traces" params={{ project: project.name }}>
          Traces
        </Link>
      </Breadcrumbs>
      <div className={styles.top}>
        <h1 className={styles.title}>
          {title && <bdi title={title}>{shortTitle(title)}</bdi>}{" "}
          <span className={title ? styles.named : styles.id}>{head.id}</span> <TraceStatus trace={head} />
        </h1>
        <TraceActions head={head} />
      </div>
      <dl className={styles.facts}>
        {facts.map(([name, value, help]) => (
          <div key={name}>
            <dt>
              <Explained {...help}>{name}</Explained>
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
        {verdicts.data?.items.map((it) => (
          <div key={it.id}>
            <dt>
              <Term {...VERDICT}>verdict</Term>
            </dt>
            <dd>
              <StatusBadge status={it.status as Status} />{" "}
              <VersionScore version={it.rubric_version} score={it.score} />
            </dd>
          </div>
        ))}
        {head.n_late > 0 && (
          <div>
            <dt>
              <Term {...LATE}>late</Term>
            </dt>
            <dd>
              <Badge>{plural(head.n_late, "piece")} arrived after the trace had ended</Badge>
            </dd>
          </div>
        )}
      </dl>
    </header>
  );
}

/** What can be done with a trace. */
function TraceActions({ head }: { head: Head }) {
  const project = useProject();
  const [open, setOpen] = useState<"dataset" | "people" | "anchor">();
  if (!may(project, "write") || head.revision === 0 || head.state === "erased") return null;
  return (
    <div className={styles.actions}>
      <Button onClick={() => setOpen("dataset")}>Add to dataset…</Button>
      <Button onClick={() => setOpen("people")}>Send to annotators…</Button>
      <Button onClick={() => setOpen("anchor")}>Use as anchor…</Button>
      {open === "dataset" && (
        <AddToDataset source={{ kind: "traces", traces: [head.id] }} onClose={() => setOpen(undefined)} />
      )}
      {open === "people" && <SendToAnnotators traces={[head.id]} onClose={() => setOpen(undefined)} />}
      {open === "anchor" && (
        <UseAsAnchor trace={head.id} agent={head.agent} onClose={() => setOpen(undefined)} />
      )}
    </div>
  );
}

type TraceContentProps = TraceStepsProps & { id: string };

const VIEWS = [
  { name: "steps", label: "Steps" },
  { name: "timeline", label: "Timeline" },
  { name: "json", label: "Raw JSON" },
] as const;

/** The steps as text, as a timeline or as JSON. */
function TraceContent({ id, trace, shown, onStep }: TraceContentProps) {
  const { view = "steps", step } = useSearch({ from: "/p/$project/traces/$trace" });
  const set = useAddress();
  return (
    <Tabs
      label="Views of the trace"
      tabs={[...VIEWS]}
      selected={view}
      onSelect={(name) => set({ view: name === "steps" ? undefined : name })}
    >
      {view === "steps" && <TraceSteps trace={trace} shown={shown} onStep={onStep} />}
      {view === "timeline" && (
        <TraceTimeline
          trace={trace}
          step={step}
          onStep={(chosen) => {
            onStep();
            set({ step: chosen, view: undefined });
          }}
        />
      )}
      {view === "json" && <TraceJson id={id} trace={trace} />}
    </Tabs>
  );
}

type TraceStepsProps = { trace: Trace; shown: Placed | undefined; onStep: () => void };

function TraceSteps({ trace, shown, onStep }: TraceStepsProps) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/traces/$trace" });
  const params = useParams({ from: "/p/$project/traces/$trace" });
  const set = useAddress();
  const onStepChange = useCallback(
    (step: number) => {
      onStep();
      return set({ step });
    },
    [set, onStep],
  );
  const onFindChange = useCallback((find: string) => set({ find: find || undefined }), [set]);
  const grades = useQuery(gradesQuery(project.id, params.trace));
  const cited = useMemo(() => citedIn(trace, grades.data ?? []), [trace, grades.data]);
  if (!trace.steps?.length && !trace.files?.length) {
    return <Notice title="No steps">This trace has no steps.</Notice>;
  }
  const here = `/p/${encodeURIComponent(params.project)}/traces/${encodeURIComponent(params.trace)}`;
  return (
    <>
      {trace.task && trace.task.trim() !== trace.steps?.[0]?.text?.trim() && (
        <section className={styles.task} aria-label="Task">
          <h2>Task</h2>
          <p dir="auto">{trace.task}</p>
        </section>
      )}
      <div className={styles.steps}>
        <TraceView
          trace={trace}
          step={search.step}
          onStepChange={onStepChange}
          find={search.find}
          onFindChange={onFindChange}
          quotes={cited}
          shown={shown}
          addressOf={(n) => `${here}?step=${n}`}
          beside={(n) => <StepCitations all={cited.filter((it) => it.step === n)} />}
        />
      </div>
    </>
  );
}

/** The answer on the scale of its criterion, where it has one. */
function CitedOutcome({ grade }: Pick<Cited, "grade">) {
  return <GradeOutcome grade={grade} scale={useSharedScale([grade.rubric_version], grade.criterion)} />;
}

/** Grades that quote a step. */
function StepCitations({ all }: { all: Cited[] }) {
  // Two monitors can have the same grade.
  const once = [
    ...new Map(all.map(({ grade: it }) => [`${it.grader} ${it.criterion} ${it.score}`, it])).values(),
  ];
  if (once.length === 0) return null;
  return (
    <ul className={styles.cites} aria-label="Quoted by">
      {once.map((it) => (
        <li key={it.id}>
          <b>{it.criterion}</b> <CitedOutcome grade={it} /> <span>quoted by {it.grader}</span>
        </li>
      ))}
    </ul>
  );
}
