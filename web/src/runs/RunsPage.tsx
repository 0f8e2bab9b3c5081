import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { MOST_RUNS } from "../compare/queries";
import { useMoney } from "../money/useMoney";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { CodeBlock } from "../ui/CodeBlock";
import { Select } from "../ui/Field";
import { duration, moment, score } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import { countsOf, VerdictBar } from "./CaseStrip";
import { runsQuery } from "./queries";
import styles from "./RunsPage.module.css";

type RunLine = Schemas["RunLine"];

export function RunsPage() {
  const project = useProject();
  const [chosen, setChosen] = useState<RunLine[]>([]);
  const money = useMoney();
  const { suite } = useSearch({ from: "/p/$project/runs" });
  const runs = useInfiniteQuery(runsQuery(project.id));
  // One run by itself can be compared with nothing.
  const isTwo = (runs.data?.pages.flatMap((it) => it.items).length ?? 0) > 1;
  return (
    <>
      <PageHead title="Runs" about="Evaluation runs of suites, the newest first.">
        {isTwo && <CompareButton chosen={chosen} />}
      </PageHead>
      <Loaded query={runs} what="runs">
        {({ pages }) => {
          const loaded = pages.flatMap((it) => it.items);
          if (loaded.length === 0) return <NoRuns />;
          const rows = suite === undefined ? loaded : loaded.filter((run) => (run.suite ?? "") === suite);
          return (
            <>
              <SuiteFilter runs={loaded} />
              <Table
                caption="Runs"
                columns={columns(project.name, money, chosen, setChosen).filter(
                  (it) => isTwo || it.name !== "compare",
                )}
                rows={rows}
                keyOf={(it) => it.id}
              />
              <MoreButton query={runs} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** Shows the runs of one suite, among those that are loaded. */
function SuiteFilter({ runs }: { runs: RunLine[] }) {
  const { suite } = useSearch({ from: "/p/$project/runs" });
  const navigate = useNavigate({ from: "/p/$project/runs" });
  const names = [...new Set([...runs.map((run) => run.suite ?? ""), ...(suite ? [suite] : [])])];
  if (names.length < 2) return null;
  return (
    <search className={styles.filter} aria-label="Filter runs">
      <Select
        label="Suite"
        value={suite ?? ""}
        options={[
          { value: "", label: "all suites" },
          ...names.filter((name) => name !== "").map((name) => ({ value: name, label: name })),
        ]}
        onChange={(event) => navigate({ search: { suite: event.target.value || undefined }, replace: true })}
      />
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
          <Link to="/p/$project/runs/$run" params={{ project, run: it.id }} className={styles.suite}>
            {it.suite ?? "unnamed suite"}
          </Link>{" "}
          {!it.ended && <Badge tone="accent">running</Badge>}
          <span className={styles.id}>{it.id.slice(-6)}</span>
        </>
      ),
    },
    {
      name: "shares",
      head: "Verdicts",
      cell: (it) => (
        <span className={styles.verdicts}>
          <VerdictBar n={countsOf(it)} total={total(it)} />
        </span>
      ),
    },
    { name: "pass", head: "Pass", align: "end", cell: (it) => `${it.n_pass}/${total(it)}` },
    { name: "fail", head: "Fail", align: "end", cell: (it) => it.n_fail || "–", wide: true },
    { name: "error", head: "Error", align: "end", cell: (it) => it.n_error || "–", wide: true },
    { name: "score", head: "Score", align: "end", cell: (it) => score(it.score) },
    { name: "cost", head: "Judge cost", align: "end", cell: (it) => money(it.cost), wide: true },
    { name: "took", head: "Duration", align: "end", cell: (it) => duration(took(it) || null), wide: true },
    { name: "began", head: "Started", align: "end", cell: (it) => <Time at={it.started} /> },
    {
      name: "compare",
      head: "Compare",
      align: "end",
      cell: (it) => (
        <input
          type="checkbox"
          aria-label={`Compare ${it.suite ?? "the run"} of ${moment(it.started)}, ${it.id.slice(-6)}`}
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
    </Notice>
  );
}
