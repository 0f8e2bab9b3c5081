import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { distanceText, fixed, percent } from "../chart/figures";
import { ScaledScore } from "../chart/ScaledScore";
import { shortTitle } from "../traces/titles";
import { Badge, type Status, StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { CodeText } from "../ui/CodeText";
import { SCORE, VERDICT } from "../ui/explanations";
import { Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import styles from "./Monitors.module.css";
import { type Decision, decisionsQuery, type Monitor } from "./queries";
import { StateBadge } from "./StateBadge";
import { STATES, STRATUM } from "./traceStates";

/** The decision of the monitor about each trace, with filters. */
export function MonitorTraces({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const { state, stratum, agent, disputed, days } = useSearch({ from: "/p/$project/monitors/$monitor" });
  const navigate = useNavigate({ from: "/p/$project/monitors/$monitor" });
  const chosen = { state, stratum, agent, disputed, days };
  const set = (change: Partial<typeof chosen>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const found = useInfiniteQuery(decisionsQuery(project.id, monitor.name, chosen));
  const isFiltered = Object.values(chosen).some((it) => it !== undefined);
  const options = (any: string, all: [string, string][]) => [
    { value: "", label: any },
    ...all.map(([value, label]) => ({ value, label })),
  ];
  return (
    <section className={styles.part}>
      <search className={styles.filter} aria-label="Filter traces">
        <Select
          label="State"
          value={state ?? ""}
          options={options(
            "any state",
            Object.entries(STATES).map(([name, it]) => [name, it.label]),
          )}
          onChange={(it) => set({ state: it.target.value || undefined })}
        />
        <Select
          label="Stratum"
          value={stratum ?? ""}
          options={options(
            "any stratum",
            ["failed", "expensive", "other"].map((it) => [it, it === "other" ? "other: neither" : it]),
          )}
          onChange={(it) => set({ stratum: it.target.value || undefined })}
        />
        <label>
          <input
            type="checkbox"
            checked={disputed === true}
            onChange={(it) => set({ disputed: it.target.checked || undefined })}
          />
          only where judges disagree
        </label>
        {days !== undefined && (
          <label>
            <input type="checkbox" checked onChange={() => set({ days: undefined })} />
            only the last {days} days
          </label>
        )}
      </search>
      {disputed && (
        <p>
          The scores of these judges differ by more than {fixed(monitor.disagreement_margin, 2)} (on the scale
          0 to 1). A person should review these traces.
        </p>
      )}
      <Loaded query={found} what="decisions">
        {({ pages }) => {
          const rows = pages.flatMap((it) => it.items);
          if (rows.length > 0) {
            return (
              <>
                <DecisionTable rows={rows} />
                <MoreButton query={found} />
              </>
            );
          }
          if (disputed && !state && !stratum) {
            return <Notice title="No judges disagree by more than the margin" />;
          }
          return isFiltered ? (
            <Notice
              title="No matching traces"
              action={
                <Button
                  onClick={() =>
                    set({ state: undefined, stratum: undefined, agent: undefined, disputed: undefined })
                  }
                >
                  Show all traces
                </Button>
              }
            />
          ) : (
            <Notice title="No trace has finished yet">
              <p>The monitor decides about every trace that finishes from now on.</p>
            </Notice>
          );
        }}
      </Loaded>
    </section>
  );
}

function DecisionTable({ rows }: { rows: Decision[] }) {
  const project = useProject();
  const columns: Column<Decision>[] = [
    {
      name: "trace",
      head: "Trace",
      cell: (it) => (
        <Link
          to="/p/$project/traces/$trace"
          params={{ project: project.name, trace: it.trace }}
          className={it.title ? undefined : styles.trace}
          title={it.title ? it.trace : undefined}
        >
          {it.title ? <bdi>{shortTitle(it.title)}</bdi> : it.trace}
        </Link>
      ),
    },
    {
      name: "state",
      head: "State",
      about:
        "State of the trace in this monitor: not sampled, waiting, scored, or the reason for a missing score.",
      book: "monitor.html#when-a-trace-is-complete",
      cell: (it) => (
        <>
          <StateBadge state={it.state} /> {it.is_disputed && <Badge tone="fail">disputed</Badge>}
        </>
      ),
    },
    {
      name: "verdict",
      head: "Verdict",
      ...VERDICT,
      cell: (it) => (it.verdict == null ? "–" : <StatusBadge status={it.verdict as Status} />),
    },
    {
      name: "score",
      head: "Score",
      ...SCORE,
      align: "end",
      cell: (it) => <ScaledScore mean={it.score} scale={it.scale} isMinor digits={2} />,
    },
    {
      name: "why",
      head: "Decision",
      about: "Reason for the state.",
      book: "monitor.html#which-traces-are-judged",
      cell: (it) => <CodeText text={it.reason} />,
      wide: true,
    },
    {
      name: "stratum",
      head: "Stratum",
      about: STRATUM,
      entry: "stratum",
      cell: (it) => it.stratum,
      wide: true,
    },
    {
      name: "probability",
      head: "Probability",
      about: "Probability that a trace like this is sampled. Estimates weight each score by its inverse.",
      entry: "sample-rate",
      align: "end",
      cell: (it) => percent(it.probability),
      wide: true,
    },
    {
      name: "spread",
      head: "Judge spread",
      about:
        "Largest difference between the judges of a panel on one criterion of the trace; on the scale of the rubric, where its criteria share one, and from 0 to 1. Above the margin of the monitor, the trace is disputed.",
      entry: "panel",
      align: "end",
      cell: (it) => (it.spread == null ? "–" : distanceText(it.spread, it.spread_scale)),
      wide: true,
    },
    { name: "decided", head: "Decided", align: "end", cell: (it) => <Time at={it.decided} /> },
  ];
  return <Table caption="Decisions" columns={columns} rows={rows} keyOf={(it) => it.trace} stacked />;
}
