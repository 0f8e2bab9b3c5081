import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import type { Schemas } from "../api/client";
import { may, useProject } from "../api/session";
import { AddToDataset } from "../datasets/AddToDataset";
import { useMoney } from "../money/useMoney";
import { monitorNamesQuery } from "../monitors/queries";
import { StateBadge } from "../monitors/StateBadge";
import { VersionScore } from "../rubrics/VersionScore";
import { Badge, type Status, StatusBadge } from "../ui/Badge";
import { BookLink } from "../ui/BookLink";
import { Button } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { CodeText } from "../ui/CodeText";
import { TRACE_DURATION, TRACE_SCORE } from "../ui/explanations";
import { count, duration } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { SortHead } from "../ui/SortHead";
import { type Column, Table } from "../ui/Table";
import { type Explanation, Term } from "../ui/Term";
import { Time } from "../ui/Time";
import { AGENT_COST, DERIVED_COST } from "./costHelp";
import { tracesQuery } from "./queries";
import { SavedViews } from "./SavedViews";
import { MOST_SELECTED, SelectedTraces } from "./SelectedTraces";
import type { TraceSort } from "./search";
import { TraceFilter } from "./TraceFilter";
import styles from "./TracesPage.module.css";

type Head = Schemas["TraceSummary"];
type Line = Schemas["ListedTrace"];

/** The list of traces; filter and order are in the address. */
export function TracesPage() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/traces" });
  const traces = useInfiniteQuery(tracesQuery(project.id, search));
  const { sort: _, ...chosen } = search;
  const isFiltered = Object.values(chosen).some((it) => it !== undefined);
  // Nothing to filter. Rows of the filter before, which stay until the new ones are there, do not say so.
  const isEmpty =
    !isFiltered &&
    !traces.isPlaceholderData &&
    !traces.hasNextPage &&
    traces.data?.pages.every((page) => page.items.length === 0);
  return (
    <>
      <PageHead
        title="Traces"
        book="server.html#sending-traces"
        about="Recorded runs of agents, with their scores and the decisions of monitors."
      >
        {!isEmpty && <SavedViews />}
        {traces.data?.pages.some((page) => page.items.length > 0) && <AddListToDataset />}
      </PageHead>
      {!isEmpty && <TraceFilter />}
      {!isEmpty && <UnscoredLinks />}
      <Loaded query={traces} what="traces">
        {({ pages }) => {
          const rows = pages.flatMap((it) => it.items);
          // A page can be empty although later ones are not: traces that the person still has to annotate are left out by the verdict filter.
          if (rows.length > 0 || traces.hasNextPage) {
            return (
              <>
                <TraceTable rows={rows} />
                <MoreButton query={traces} />
              </>
            );
          }
          return isEmpty ? <NoTraces /> : <NoMatchingTraces />;
        }}
      </Loaded>
    </>
  );
}

/** Adds the traces of the current filter to a dataset. */
function AddListToDataset() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/traces" });
  const [isOpen, setOpen] = useState(false);
  if (!may(project, "write")) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Add all matching to dataset…</Button>
      {isOpen && <AddToDataset source={{ kind: "filter", search }} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Links to the lists of unscored traces; a trace has one reason per monitor. */
function UnscoredLinks() {
  const project = useProject();
  const { data } = useQuery(monitorNamesQuery(project.id));
  return (
    <p className={styles.unscored}>
      {data &&
        (data.length > 0 ? "Why traces have no score: " : "There is no monitor, so traces get no score: ")}
      {data?.length === 0 && (
        <Link to="/p/$project/monitors" params={{ project: project.name }}>
          Monitors
        </Link>
      )}
      {data?.map((it, at) => (
        <Fragment key={it.id}>
          {at > 0 && ", "}
          <Link
            to="/p/$project/monitors/$monitor"
            params={{ project: project.name, monitor: it.name }}
            search={{ view: "traces" }}
          >
            {it.name}
          </Link>
        </Fragment>
      ))}
    </p>
  );
}

function TraceTable({ rows }: { rows: Line[] }) {
  const project = useProject();
  const [chosen, setChosen] = useState<string[]>([]);
  const mayChoose = may(project, "write");
  const sortedBy = useSorting();
  const money = useMoney();
  const isAll = rows.slice(0, MOST_SELECTED).every((it) => chosen.includes(it.id));
  const choose = (id: string, isChosen: boolean) =>
    setChosen((before) =>
      isChosen ? [...before, id].slice(0, MOST_SELECTED) : before.filter((it) => it !== id),
    );
  const columns: Column<Line>[] = [
    {
      name: "id",
      head: (
        <TraceColumnHead
          isAll={isAll}
          onSelectAll={
            mayChoose
              ? (all) => setChosen(all ? rows.slice(0, MOST_SELECTED).map((one) => one.id) : [])
              : null
          }
        />
      ),
      cell: (it) => (
        <span className={styles.first}>
          {mayChoose && (
            <input
              type="checkbox"
              aria-label={`Select ${it.id}`}
              checked={chosen.includes(it.id)}
              disabled={chosen.length >= MOST_SELECTED && !chosen.includes(it.id)}
              onChange={(event) => choose(it.id, event.target.checked)}
            />
          )}
          <Link
            to="/p/$project/traces/$trace"
            params={{ project: project.name, trace: it.id }}
            className={titleOf(it) ? styles.title : styles.id}
          >
            {titleOf(it) && <bdi title={titleOf(it)}>{titleOf(it)}</bdi>}
            <span className={styles.id}>{it.id}</span>
          </Link>
        </span>
      ),
    },
    {
      name: "agent",
      head: "Agent",
      cell: (it) => <AgentCell agent={it.agent} />,
      wide: true,
    },
    {
      name: "state",
      head: "Status",
      about: "How the trace ended, as the agent reported it; open while more steps may arrive.",
      book: "server.html#when-a-trace-is-complete",
      cell: (it) => <TraceStatus trace={it} />,
      wide: true,
    },
    { name: "score", ...sortedBy("Score", "score", TRACE_SCORE), cell: (it) => <TraceScores of={it} /> },
    {
      name: "why",
      head: "Decision",
      about: "Why the trace has a score, or why it has none.",
      book: "monitor.html#which-traces-are-judged",
      cell: (it) => <TraceReasons of={it} />,
      wide: true,
    },
    {
      name: "steps",
      head: "Steps",
      about: "Messages, tool calls and results in the trace.",
      align: "end",
      cell: (it) => count(it.n_steps),
      wide: true,
    },
    {
      name: "cost",
      ...sortedBy("Agent cost", "cost", { about: AGENT_COST, book: "server.html#what-a-trace-cost" }),
      align: "end",
      cell: (it) =>
        it.is_cost_derived ? <Term about={DERIVED_COST}>{money(it.cost)}</Term> : money(it.cost),
      wide: true,
    },
    {
      name: "took",
      ...sortedBy("Duration", "duration", TRACE_DURATION),
      align: "end",
      cell: (it) => <span className={styles.short}>{duration(it.duration_ms)}</span>,
      wide: true,
    },
    {
      name: "began",
      ...sortedBy("Started", "time"),
      align: "end",
      cell: (it) => (
        <span className={styles.short}>
          <Time at={it.started} />
        </span>
      ),
      wide: true,
    },
  ];
  return (
    <>
      <Table caption="Traces" columns={columns} rows={rows} keyOf={(it) => it.id} />
      <SortNote />
      {chosen.length > 0 && (
        <SelectedTraces
          traces={chosen}
          lines={rows.filter((it) => chosen.includes(it.id))}
          onClear={() => setChosen([])}
        />
      )}
    </>
  );
}

type TraceColumnHeadProps = {
  isAll: boolean;
  /** Null for people who may not select traces. */
  onSelectAll: ((isAll: boolean) => void) | null;
};

function TraceColumnHead({ isAll, onSelectAll }: TraceColumnHeadProps) {
  return (
    <span className={styles.first}>
      {onSelectAll && (
        <input
          type="checkbox"
          aria-label="Select all shown traces"
          checked={isAll}
          onChange={(it) => onSelectAll(it.target.checked)}
        />
      )}
      Trace
    </span>
  );
}

/** A column head that sorts: descending first, then ascending. By default the newest come first. */
function useSorting() {
  const { sort = "-time" } = useSearch({ from: "/p/$project/traces" });
  const navigate = useNavigate({ from: "/p/$project/traces" });
  return (
    label: string,
    by: "time" | "cost" | "duration" | "score",
    help?: Explanation,
  ): Pick<Column<Line>, "head" | "sorted"> => {
    const sorted = sort === by ? "ascending" : sort === `-${by}` ? "descending" : "none";
    const next: TraceSort = sorted === "descending" ? by : `-${by}`;
    return {
      sorted,
      head: (
        <SortHead
          label={label}
          sorted={sorted}
          onSort={() =>
            navigate({
              search: (before) => ({ ...before, sort: next === "-time" ? undefined : next }),
              replace: true,
            })
          }
          help={help}
        />
      ),
    };
  };
}

/** Sorting leaves out traces without a value. */
function SortNote() {
  const { sort } = useSearch({ from: "/p/$project/traces" });
  const by = sort?.replace("-", "");
  if (by === undefined || by === "time") return null;
  return (
    <p className={styles.soft}>
      Traces without a {by} are not listed when sorted by {by}.
    </p>
  );
}

/** Verdicts with scores; on narrow screens the decisions of an unscored trace, which have no column there. */
function TraceScores({ of: { verdicts, decisions, is_withheld } }: { of: Line }) {
  if (is_withheld) return <span className={styles.soft}>hidden until you have annotated it</span>;
  if (verdicts.length === 0) {
    return (
      <>
        <span className={styles.dash}>–</span>
        {decisions.length > 0 && (
          <ul className={styles.states}>
            {decisions.map((it) => (
              <li key={it.monitor}>
                <StateBadge state={it.state} />
              </li>
            ))}
          </ul>
        )}
      </>
    );
  }
  return (
    <ul className={styles.each}>
      {verdicts.map((it, at) => (
        <li key={at}>
          <StatusBadge status={it.status as Status} />{" "}
          <VersionScore version={it.rubric_version} score={it.score} />
        </li>
      ))}
    </ul>
  );
}

function TraceReasons({ of: { decisions } }: { of: Line }) {
  if (decisions.length === 0) return <span className={styles.soft}>no monitor</span>;
  return (
    <ul className={styles.each}>
      {decisions.map((it) => (
        <li key={it.monitor}>
          <StateBadge state={it.state} />{" "}
          <span className={styles.reason} title={it.reason}>
            {decisions.length > 1 && `${it.monitor}: `}
            <CodeText text={it.reason} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** An agent; choosing it shows its traces alone. */
function AgentCell({ agent }: { agent: string | null | undefined }) {
  const { agent: chosen } = useSearch({ from: "/p/$project/traces" });
  if (!agent) return "–";
  if (chosen === agent) return <span className={styles.short}>{agent}</span>;
  return (
    <Link
      from="/p/$project/traces"
      search={(before) => ({ ...before, agent })}
      className={styles.facet}
      title={`Only traces of ${agent}`}
    >
      {agent}
    </Link>
  );
}

/** The title that the sender gave, or else the task. */
export function titleOf({ metadata, title }: Head): string | undefined {
  const told = metadata as Record<string, unknown> | null | undefined;
  const found = told?.title ?? told?.name ?? told?.task ?? title;
  return typeof found === "string" && found.trim() !== "" ? found.trim().slice(0, 200) : undefined;
}

export function TraceStatus({ trace }: { trace: Head }) {
  if (trace.state === "open" || trace.state === "reopened") return <Badge tone="accent">{trace.state}</Badge>;
  if (trace.state === "erased") return <Badge>erased</Badge>;
  return (
    <Badge tone={trace.is_failed ? "fail" : "plain"}>
      {trace.is_failed ? `✕ ${trace.status ?? "failed"}` : (trace.status ?? "finished")}
    </Badge>
  );
}

function NoMatchingTraces() {
  const navigate = useNavigate({ from: "/p/$project/traces" });
  return (
    <Notice
      title="No matching traces"
      action={<Button onClick={() => navigate({ search: {} })}>Show all traces</Button>}
    >
      <p>Change or remove a filter above.</p>
    </Notice>
  );
}

function NoTraces() {
  return (
    <Notice title="No traces yet">
      <p>
        Point an <BookLink page="how-to/opentelemetry.html">OpenTelemetry exporter</BookLink> of your agent at
        this server, or send a trace with a command:
      </p>
      <CodeBlock
        text={`curl ${location.origin}/api/v1/traces \\
  -H 'Authorization: Bearer jrk_…' -H 'Content-Type: application/json' \\
  -d '{"id": "first", "agent": "me", "trace": [{"role": "user", "content": "Hello"}]}'`}
      />
    </Notice>
  );
}
