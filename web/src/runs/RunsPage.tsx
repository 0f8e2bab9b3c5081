import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { MOST_RUNS } from "../compare/queries";
import { useMoney } from "../money/useMoney";
import { RANGES } from "../traces/timeRange";
import { Badge } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { Select } from "../ui/Field";
import { duration, moment } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { SearchField } from "../ui/SearchField";
import { shortIdOf } from "../ui/ShortId";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { Time } from "../ui/Time";
import { countsOf, VerdictBar } from "./CaseStrip";
import { runsQuery } from "./queries";
import { RunOrigin } from "./RunOrigin";
import { RunScore } from "./RunScore";
import styles from "./RunsPage.module.css";
import type { RunsSearch } from "./search";

type RunLine = Schemas["RunLine"];

export function RunsPage() {
  const project = useProject();
  const [chosen, setChosen] = useState<RunLine[]>([]);
  const money = useMoney();
  const search = useSearch({ from: "/p/$project/runs" });
  // Without a filter: what can be chosen.
  const all = useInfiniteQuery(runsQuery(project.id));
  const runs = useInfiniteQuery(runsQuery(project.id, search));
  // One run by itself can be compared with nothing.
  const isTwo = (all.data?.pages.flatMap((it) => it.items).length ?? 0) > 1;
  return (
    <>
      <PageHead title="Runs" about="Evaluation runs of suites, the newest first." book="runs.html">
        {isTwo && (
          <Link
            to="/p/$project/history"
            params={{ project: project.name }}
            search={{ suite: search.suite, branch: search.branch }}
            className={buttonClass}
          >
            History
          </Link>
        )}
        {isTwo && <CompareButton chosen={chosen} />}
      </PageHead>
      <RunFilters runs={all.data?.pages.flatMap((it) => it.items) ?? []} />
      <Loaded query={runs} what="runs">
        {({ pages }) => {
          const rows = pages.flatMap((it) => it.items);
          if (rows.length === 0) return isFiltered(search) ? <NoRunMatches /> : <NoRuns />;
          const shown = columns(project.name, money, chosen, setChosen).filter(
            (it) =>
              (isTwo || it.name !== "compare") &&
              (it.name !== "origin" || rows.some((row) => Object.keys(row.provenance).length > 0)),
          );
          return (
            <>
              <Table caption="Runs" columns={shown} rows={rows} keyOf={(it) => it.id} />
              <MoreButton query={runs} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

const isFiltered = (search: RunsSearch): boolean =>
  Object.values(search).some((value) => value !== undefined);

function NoRunMatches() {
  const project = useProject();
  return (
    <Notice title="No run matches">
      <p>
        <Link to="/p/$project/runs" params={{ project: project.name }} search={{}}>
          Show all runs
        </Link>
      </p>
    </Notice>
  );
}

/** What runs can be filtered by: values of the runs that are loaded. */
const FILTERS: { name: "suite" | "branch" | "author" | "tag"; label: string; all: string }[] = [
  { name: "suite", label: "Suite", all: "all suites" },
  { name: "branch", label: "Branch", all: "all branches" },
  { name: "author", label: "Author", all: "all authors" },
  { name: "tag", label: "Tag", all: "all tags" },
];

function valuesOf(run: RunLine, name: (typeof FILTERS)[number]["name"]): (string | null | undefined)[] {
  if (name === "suite") return [run.suite];
  return name === "tag" ? (run.provenance.tags ?? []) : [run.provenance[name]];
}

const RUN_RANGES = RANGES.filter((range) => range.name !== "1h");

/** A search, a time range, and a choice for everything in which the runs differ; all of them are in the address. */
function RunFilters({ runs }: { runs: RunLine[] }) {
  const search = useSearch({ from: "/p/$project/runs" });
  const navigate = useNavigate({ from: "/p/$project/runs" });
  const set = (change: Partial<RunsSearch>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const shown = FILTERS.flatMap((filter) => {
    const chosen = search[filter.name];
    const found = runs.flatMap((run) => valuesOf(run, filter.name)).filter((value) => value != null);
    const names = [...new Set([...found, ...(chosen ? [chosen] : [])])];
    // A tag that one of the runs has already tells it from the others.
    return chosen || names.length > (filter.name === "tag" ? 0 : 1) ? [{ ...filter, chosen, names }] : [];
  });
  if (runs.length === 0 && !isFiltered(search)) return null;
  return (
    <search className={styles.filters} aria-label="Filter runs">
      <SearchField
        search={search.search ?? ""}
        placeholder="suite, branch, commit, id"
        onSearch={(words) => set({ search: words || undefined })}
      />
      {shown.map(({ name, label, all, chosen, names }) => (
        <Select
          key={name}
          label={label}
          value={chosen ?? ""}
          options={[{ value: "", label: all }, ...names.map((value) => ({ value, label: value }))]}
          onChange={(event) => set({ [name]: event.target.value || undefined })}
        />
      ))}
      <Select
        label="Time range"
        value={search.range ?? ""}
        options={[
          { value: "", label: "any time" },
          ...RUN_RANGES.map(({ name, label }) => ({ value: name, label })),
        ]}
        onChange={(event) => set({ range: (event.target.value || undefined) as RunsSearch["range"] })}
      />
      {isFiltered(search) && (
        <div className={styles.active}>
          {search.commit && (
            <Button onClick={() => set({ commit: undefined })}>commit {search.commit} ✕</Button>
          )}
          <Button look="quiet" onClick={() => navigate({ search: {}, replace: true })}>
            Clear filters
          </Button>
        </div>
      )}
    </search>
  );
}

/** Links to the comparison of the selected runs: the newest with each of the others. */
function CompareButton({ chosen }: { chosen: RunLine[] }) {
  const project = useProject();
  const [after, ...before] = [...chosen].sort((a, b) => b.started.localeCompare(a.started));
  return (
    <Link
      to="/p/$project/compare"
      params={{ project: project.name }}
      search={
        after && before.length > 0 ? { after: after.id, before: before.map((it) => it.id).join(",") } : {}
      }
      className={buttonClass}
      data-look={before.length > 0 ? "main" : undefined}
    >
      {before.length > 0 ? `Compare ${chosen.length} runs` : "Compare"}
    </Link>
  );
}

function columns(
  project: string,
  money: ReturnType<typeof useMoney>,
  chosen: RunLine[],
  onChoose: (chosen: RunLine[]) => void,
): Column<RunLine>[] {
  const isChosen = (it: RunLine) => chosen.some((one) => one.id === it.id);
  const total = (it: RunLine) => it.n_pass + it.n_fail + it.n_error + it.n_deferred;
  const took = (it: RunLine) => it.ended && new Date(it.ended).getTime() - new Date(it.started).getTime();
  return [
    {
      name: "suite",
      head: "Suite",
      cell: (it) => (
        <>
          <Link to="/p/$project/runs/$run" params={{ project, run: it.id }}>
            {it.suite ?? "unnamed suite"}
          </Link>{" "}
          {!it.ended && <Badge tone="accent">running</Badge>}
          <span className={styles.id}>{shortIdOf(it.id)}</span>
        </>
      ),
    },
    { name: "origin", head: "Commit", cell: (it) => <RunOrigin provenance={it.provenance} />, wide: true },
    {
      name: "shares",
      head: (
        <Term
          about="Shares of the cases with the verdicts pass, fail, error and deferred, from left to right."
          entry="verdict"
        >
          Verdicts
        </Term>
      ),
      cell: (it) => (
        <span className={styles.verdicts}>
          <VerdictBar n={countsOf(it)} total={total(it)} />
        </span>
      ),
      wide: true,
    },
    {
      name: "pass",
      head: (
        <Term
          about="Cases with the verdict pass, of all cases of the run; each trial of a case counts. Errors and deferred cases are part of the total."
          entry="pass-mark"
        >
          Pass
        </Term>
      ),
      align: "end",
      cell: (it) => `${it.n_pass}/${total(it)}`,
    },
    {
      name: "fail",
      head: "Fail",
      about: "Cases with the verdict fail.",
      align: "end",
      cell: (it) => it.n_fail || "–",
      wide: true,
    },
    {
      name: "error",
      head: "Error",
      about: "Cases without a verdict because the agent, a check or a judge failed. They have no score.",
      align: "end",
      cell: (it) => it.n_error || "–",
      wide: true,
    },
    {
      name: "score",
      head: (
        <Term
          about="Mean score of all cases that have a score; on the scale of the rubrics, where they share one, and from 0 to 1."
          entry="score"
        >
          Score
        </Term>
      ),
      align: "end",
      cell: (it) => <RunScore run={it} />,
    },
    {
      name: "cost",
      head: (
        <Term
          about="Cost of the judge calls of the run. Calls with unknown cost are not counted."
          entry="judge"
        >
          Judge cost
        </Term>
      ),
      align: "end",
      cell: (it) => money(it.cost),
      wide: true,
    },
    {
      name: "took",
      head: "Duration",
      about: "Time from the start of the run to its last result.",
      align: "end",
      cell: (it) => duration(took(it) || null),
      wide: true,
    },
    { name: "began", head: "Started", align: "end", cell: (it) => <Time at={it.started} /> },
    {
      name: "compare",
      head: "Compare",
      align: "end",
      cell: (it) => (
        <input
          type="checkbox"
          aria-label={`Compare ${it.suite ?? "the run"} of ${moment(it.started)}, ${shortIdOf(it.id)}`}
          checked={isChosen(it)}
          disabled={!isChosen(it) && chosen.length >= MOST_RUNS}
          onChange={() => onChoose(isChosen(it) ? chosen.filter((one) => one.id !== it.id) : [...chosen, it])}
        />
      ),
    },
  ];
}

function NoRuns() {
  return (
    <Notice title="No runs yet">
      <p>Start a run from the command line:</p>
      <CodeBlock text={`jurist init\njurist eval suite.yaml --server ${location.origin}`} />
      <p>Or send a run that was graded elsewhere:</p>
      <CodeBlock text={`jurist runs push latest --server ${location.origin}`} />
    </Notice>
  );
}
