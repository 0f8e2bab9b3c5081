import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { useProject } from "../api/session";
import { nativeScore, type ScaleEnds } from "../chart/figures";
import { ScaledScore } from "../chart/ScaledScore";
import { useMoney } from "../money/useMoney";
import { Badge, type Status, StatusBadge } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { CodeText } from "../ui/CodeText";
import { count, duration, moment, plural, score } from "../ui/format";
import { isTyping, type KeyGroup, useKeyHelp } from "../ui/KeyHelp";
import { Loaded } from "../ui/Loaded";
import { Menu } from "../ui/Menu";
import { LoadingNotice, Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { ShortId } from "../ui/ShortId";
import { Tabs } from "../ui/Tabs";
import { Term } from "../ui/Term";
import { CaseFilter } from "./CaseFilter";
import { LabelAgreementNote } from "./CaseLabels";
import { CaseName, countCases, tagName } from "./CaseName";
import { type CaseOutcome, CaseStrip, CaseStripLegend } from "./CaseStrip";
import { FlakyCases } from "./FlakyCases";
import { latestRunsQuery, type RunInFull, resultQuery, runQuery } from "./queries";
import { RunAnswers } from "./RunAnswers";
import { RunCriteria } from "./RunCriteria";
import { RunMatrix } from "./RunMatrix";
import { RunOrigin } from "./RunOrigin";
import styles from "./RunPage.module.css";
import { type RunProgress, useRunEvents } from "./runEvents";
import { Scorecard } from "./Scorecard";
import type { RunView } from "./search";

/** One run: its figures, its cases (failed ones first), and the scorecard of one case. */
export function RunPage() {
  const project = useProject();
  const { run: id } = useParams({ from: "/p/$project/runs/$run" });
  const run = useQuery(runQuery(project.id, id));
  return (
    <Loaded query={run} what="the run">
      {(it) => <RunDetail key={it.id} run={it} />}
    </Loaded>
  );
}

const VIEWS: { name: RunView; label: string }[] = [
  { name: "cases", label: "Cases" },
  { name: "answers", label: "Answers" },
  { name: "criteria", label: "Criteria" },
  { name: "matrix", label: "Matrix" },
  { name: "flaky", label: "Flaky" },
];

const EXPORTS = [
  { format: "json", label: "JSON" },
  { format: "junit", label: "JUnit XML" },
  { format: "csv", label: "CSV" },
  { format: "md", label: "Markdown" },
];

function RunDetail({ run }: { run: RunInFull }) {
  const project = useProject();
  const { view = "cases" } = useSearch({ from: "/p/$project/runs/$run" });
  const navigate = useNavigate({ from: "/p/$project/runs/$run" });
  const followed = useRunEvents(project.id, run.id);
  const queries = useQueryClient();
  const money = useMoney();
  // A comparison needs two runs.
  const others = useQuery(latestRunsQuery(project.id, 2));
  // Once it has ended, its numbers are final.
  useEffect(() => {
    if (followed.ended && !run.ended) queries.invalidateQueries({ queryKey: ["run", project.id, run.id] });
  }, [followed.ended, run.ended, run.id, project.id, queries]);
  const total = followed.nUnits ?? run.n_units ?? Math.max(run.n_results, followed.outcomes.length);
  const took = run.ended ? new Date(run.ended).getTime() - new Date(run.started).getTime() : null;
  const here = `/api/v1/runs/${run.id}/report?project=${project.id}`;
  return (
    <>
      <PageHead
        up={
          <Link to="/p/$project/runs" params={{ project: project.name }}>
            Runs
          </Link>
        }
        title={run.suite ?? "Unnamed run"}
        book="runs.html"
        about={
          <>
            {moment(run.started)}
            {took !== null && <> · took {duration(took)}</>} · judge cost {money(run.cost)} ·{" "}
            <ShortId id={run.id} />
            {Object.keys(run.provenance).length > 0 && (
              <>
                {" "}
                · <RunOrigin provenance={run.provenance} />
              </>
            )}
          </>
        }
      >
        {(others.data?.length ?? 0) > 1 && (
          <Link
            className={buttonClass}
            data-look="plain"
            to="/p/$project/compare"
            params={{ project: project.name }}
            search={{ after: run.id }}
          >
            Compare
          </Link>
        )}
        <a
          className={buttonClass}
          data-look="plain"
          href={`${here}&format=html`}
          target="_blank"
          rel="noreferrer"
        >
          Open report
        </a>
        <Menu label="Export" button="Export ▾" align="end" look="plain">
          {(close) =>
            EXPORTS.map(({ format, label }) => (
              <a
                key={format}
                role="menuitem"
                href={`${here}&format=${format}`}
                download={`${run.id}.${format}`}
                onClick={close}
              >
                {label}
              </a>
            ))
          }
        </Menu>
      </PageHead>
      {run.not_graded && (
        <p className={styles.notGraded} role="alert">
          <CodeText text={run.not_graded} />
        </p>
      )}
      <RunFigures run={run} followed={followed} total={total} />
      <Tabs
        label="Views of the run"
        tabs={VIEWS}
        selected={view}
        onSelect={(name) =>
          navigate({ search: { view: name === "cases" ? undefined : name }, replace: true })
        }
      >
        {view === "cases" && <RunCases run={run} followed={followed} total={total} />}
        {view === "answers" &&
          (followed.outcomes.length === 0 ? (
            <NoCases run={run} followed={followed} total={total} />
          ) : (
            <RunAnswers run={run} outcomes={followed.outcomes} />
          ))}
        {view === "criteria" && <RunCriteria run={run} />}
        {view === "matrix" && <RunMatrix run={run} outcomes={followed.outcomes} />}
        {view === "flaky" && <FlakyCases run={run} outcomes={followed.outcomes} />}
      </Tabs>
    </>
  );
}

/** Explanations of the figures of a run. */
const FIGURES = {
  pass: "Share of graded cases with the verdict pass, with its 95 % confidence interval. Errors and deferred cases are not counted.",
  score:
    "Mean score of all cases that have a score; on the scale of the rubrics, where they share one, and from 0 to 1.",
  fail: "Cases with a score below the pass mark, or with a failed gate.",
  error: "Cases that could not be graded, for example because a judge failed. An error is never a score.",
  deferred: "Cases that are not graded because an API key, an annotator or budget was missing.",
};

/** Their headings in the glossary. */
const ENTRIES = { pass: "verdict", score: "score", fail: "verdict", error: "grader", deferred: "deferred" };

type RunFiguresProps = { run: RunInFull; followed: RunProgress; total: number };

/** Pass rate, mean score and counts of a run, also while it is in progress. */
export function RunFigures({ run, followed, total }: RunFiguresProps) {
  const n = useMemo(() => countsOf(followed.outcomes), [followed.outcomes]);
  const isOver = followed.ended || run.ended;
  const graded = n.pass + n.fail;
  const percent = (share: number) => Math.round(100 * share);
  // While a run is in progress, the interval is out of date, because it was computed when the page was opened.
  const interval = run.ended ? run.pass_rate_interval : undefined;
  const passRate = interval
    ? `pass rate [${percent(interval[0])} %, ${percent(interval[1])} %]`
    : "pass rate";
  const { scale } = run;
  const mean = meanOf(followed.outcomes);
  const meanScore =
    scale && mean !== null
      ? ([nativeScore(mean, scale), `mean score, ${score(mean)} on 0–1`] as const)
      : ([score(mean), "mean score"] as const);
  return (
    <div className={styles.progress}>
      {(
        [
          ["pass", graded === 0 ? "–" : `${percent(n.pass / graded)} %`, passRate],
          ["score", ...meanScore],
          ["fail", count(n.fail), "failed"],
          ["error", count(n.error), plural(n.error, "error").split(" ")[1]],
          ["deferred", count(n.deferred), "deferred"],
        ] as const
      ).map(([name, value, label]) => (
        <div key={name} className={styles.number} data-name={name} data-zero={value === "0" || undefined}>
          <b>{value}</b>
          <span>
            <Term about={FIGURES[name]} entry={ENTRIES[name]}>
              {label}
            </Term>
          </span>
        </div>
      ))}
      <div className={styles.going} role="status">
        {followed.broken && !isOver ? (
          <Badge tone="error">connection lost; reconnecting</Badge>
        ) : isOver ? (
          <span>{countCases(followed.outcomes)}</span>
        ) : (
          <>
            <progress max={total} value={followed.nResults} aria-label="Cases graded" />
            <span>
              {count(followed.nResults)} of {plural(total, "case")}
            </span>
          </>
        )}
      </div>
    </div>
  );
}

/** In the order of the list. */
const STATUSES: Status[] = ["fail", "error", "deferred", "pass"];
const RANK = Object.fromEntries(STATUSES.map((status, rank) => [status, rank])) as Record<Status, number>;

function RunCases({ run, followed, total }: { run: RunInFull; followed: RunProgress; total: number }) {
  const search = useSearch({ from: "/p/$project/runs/$run" });
  const navigate = useNavigate({ from: "/p/$project/runs/$run" });
  const n = useMemo(() => countsOf(followed.outcomes), [followed.outcomes]);
  const shown = useMemo(() => {
    const find = search.find?.toLowerCase() ?? "";
    return followed.outcomes
      .filter((it) => !search.status || it.status === search.status)
      .filter((it) => it.case.toLowerCase().includes(find))
      .sort(
        (a, b) => RANK[a.status] - RANK[b.status] || (a.score ?? 1) - (b.score ?? 1) || a.place - b.place,
      );
  }, [followed.outcomes, search.status, search.find]);
  const set = (change: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const selected = search.case ?? shown[0]?.place;
  useCaseKeys(shown, selected, (place) => set({ case: place }));
  if (followed.outcomes.length === 0) return <NoCases run={run} followed={followed} total={total} />;
  return (
    <>
      <CaseStrip
        outcomes={followed.outcomes}
        total={total}
        selected={selected}
        onSelect={(it) => set({ case: it })}
      />
      <CaseStripLegend />
      <LabelAgreementNote run={run.id} outcomes={followed.outcomes} />
      <div className={styles.cases}>
        <div className={styles.list}>
          <CaseFilter
            label="Filter cases"
            find={search.find ?? ""}
            onFind={(find) => set({ find })}
            choices={STATUSES.map((status) => ({ name: status, label: status, n: n[status] }))}
            chosen={search.status}
            onChoose={(status) => set({ status })}
          />
          {shown.length === 0 ? (
            <Notice
              title="No matching cases"
              action={
                <Button onClick={() => set({ find: undefined, status: undefined })}>Show all cases</Button>
              }
            />
          ) : (
            <CaseList
              shown={shown}
              scale={run.scale}
              selected={selected}
              onSelect={(it) => set({ case: it })}
            />
          )}
        </div>
        {selected !== undefined && <CaseDetail run={run} place={selected} />}
      </div>
    </>
  );
}

/** Shown before the first result has reached the page. */
function NoCases({ run, followed, total }: { run: RunInFull; followed: RunProgress; total: number }) {
  if (followed.ended) return <Notice title="The run has no cases" />;
  if (total === 0 || run.ended || run.n_results > 0) return <LoadingNotice what="cases" />;
  return (
    <Notice title="No case is graded yet">
      <p>
        {plural(total, "case")} {total === 1 ? "waits" : "wait"} for a worker. Results appear here as they
        arrive.
      </p>
    </Notice>
  );
}

/** Rows that are drawn at a time. */
const MOST = 300;

type CaseListProps = {
  shown: CaseOutcome[];
  scale: ScaleEnds | null | undefined;
  selected?: number;
  onSelect: (it: number) => void;
};

function CaseList({ shown, scale, selected, onSelect }: CaseListProps) {
  const [most, setMost] = useState(MOST);
  return (
    <>
      <ul className={styles.rows}>
        {shown.slice(0, most).map((it) => (
          <li key={it.place}>
            <button
              type="button"
              className={styles.row}
              aria-current={it.place === selected || undefined}
              onClick={() => onSelect(it.place)}
            >
              <StatusBadge status={it.status} />
              <span className={styles.name}>
                <CaseName {...tagName(it)} />
              </span>
              <span className={styles.score}>
                <ScaledScore mean={it.score} scale={scale} isMinor digits={2} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length > most && <Button onClick={() => setMost(most + MOST)}>Show more</Button>}
    </>
  );
}

function CaseDetail({ run, place }: { run: RunInFull; place: number }) {
  const project = useProject();
  const result = useQuery(resultQuery(project.id, run.id, place));
  return (
    <section className={styles.one} aria-label="Scorecard">
      <Loaded query={result} what="the scorecard">
        {(it) =>
          it ? (
            <Scorecard run={run} place={place} result={it.result} />
          ) : (
            <Notice title="This run has no such case" />
          )
        }
      </Loaded>
    </section>
  );
}

const KEYS: KeyGroup = { title: "Cases", keys: [{ keys: ["j", "k"], does: "next, previous case" }] };

function useCaseKeys(shown: CaseOutcome[], selected: number | undefined, onSelect: (place: number) => void) {
  useKeyHelp(KEYS);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const by = { j: 1, k: -1 }[event.key];
      if (!by || document.querySelector("dialog[open]")) return;
      const next = shown[shown.findIndex((it) => it.place === selected) + by];
      if (next) onSelect(next.place);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  });
}

function countsOf(outcomes: CaseOutcome[]): Record<Status, number> {
  const n = { pass: 0, fail: 0, error: 0, deferred: 0 };
  for (const it of outcomes) n[it.status] += 1;
  return n;
}

/** The mean of scores; cases without a score are not part of it. */
function meanOf(outcomes: CaseOutcome[]): number | null {
  const scores = outcomes.flatMap((it) => (it.score === null ? [] : [it.score]));
  return scores.length === 0 ? null : scores.reduce((sum, it) => sum + it, 0) / scores.length;
}
