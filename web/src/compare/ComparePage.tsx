import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { chance, type ScaleEnds, sharedEndsOf } from "../chart/figures";
import { ScaledDifference } from "../chart/ScaledDifference";
import { ScaledScore } from "../chart/ScaledScore";
import { ServerChart } from "../chart/ServerChart";
import { CaseName, type NamedCase, nameOfAllTrials, nameWithParts, tagName } from "../runs/CaseName";
import { earlier, newestWithEarlier } from "../runs/earlierRuns";
import { latestRunsQuery } from "../runs/queries";
import { StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { SCORE, VERDICT } from "../ui/explanations";
import { Select } from "../ui/Field";
import { count, moment, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { shortIdOf } from "../ui/ShortId";
import { type Column, Table } from "../ui/Table";
import { CaseChanges, type PairScales, ScoreChange, useRunScales } from "./CaseChanges";
import styles from "./Compare.module.css";
import { type Change, type Comparison, comparisonQuery, type Difference, MOST_RUNS } from "./queries";

type RunLine = Schemas["RunLine"];

const P_VALUE =
  "Probability of a difference at least this large if there were no real change (sign-flip permutation test over cases). Small values, such as below 0.05, indicate a real change.";

/** A run compared with earlier ones: differences with intervals, and changed cases. */
export function ComparePage() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/compare" });
  const runs = useQuery(latestRunsQuery(project.id, 200));
  return (
    <>
      <PageHead
        up={
          <Link to="/p/$project/runs" params={{ project: project.name }}>
            Runs
          </Link>
        }
        title="Compare runs"
        book="runs.html"
        about="Cases are paired; differences have 95 % confidence intervals; the worst changes come first."
      />
      <Loaded query={runs} what="runs">
        {(all) => {
          if (all.length < 2) {
            return (
              <Notice title="Two runs are needed">
                <p>Run a suite twice, before and after a change.</p>
              </Notice>
            );
          }
          const after = search.after ?? newestWithEarlier(all)?.id ?? "";
          const before = search.before?.split(",") ?? [earlier(all, after) ?? ""];
          return (
            <>
              <RunSelect runs={all} before={before} after={after} />
              {before.includes(after) || before.includes("") ? (
                <Notice title="Choose different runs" />
              ) : (
                <Comparisons runs={all} before={before} after={after} />
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

const labelOf = (it: RunLine): string =>
  `${it.suite ?? "unnamed suite"}, ${moment(it.started)} · …${shortIdOf(it.id)}`;

function RunSelect({ runs, before, after }: { runs: RunLine[]; before: string[]; after: string }) {
  const navigate = useNavigate({ from: "/p/$project/compare" });
  const suite = runs.find((run) => run.id === after)?.suite;
  const options = (chosen: string, isBefore: boolean) => {
    // Runs of other suites share no cases; they are listed only where there is no other choice.
    const same = runs.filter((run) => run.suite === suite);
    const listed = isBefore && same.length > 1 ? same : runs;
    const all = listed.map((it) => ({ value: it.id, label: labelOf(it) }));
    if (all.some((it) => it.value === chosen)) return all;
    const other = runs.find((run) => run.id === chosen);
    return [{ value: chosen, label: other ? labelOf(other) : chosen }, ...all];
  };
  const go = (to: { before: string[]; after: string }) =>
    navigate({
      search: { before: [...new Set(to.before)].join(","), after: to.after },
      replace: true,
      resetScroll: false,
    });
  const others = runs
    .filter((it) => it.id !== after && !before.includes(it.id))
    .toSorted((a, b) => Number(b.suite === suite) - Number(a.suite === suite));
  return (
    <search className={styles.choose} aria-label="Choose runs">
      {before.map((one, at) => (
        <Select
          key={at}
          label={at === 0 ? "Before" : `Before, ${at + 1}`}
          value={one}
          options={options(one, true)}
          onChange={(it) => go({ before: before.with(at, it.target.value), after })}
        />
      ))}
      <Select
        label="After"
        value={after}
        options={options(after, false)}
        onChange={(it) => go({ before, after: it.target.value })}
      />
      <div className={styles.buttons}>
        {before.length === 1 && (
          <Button onClick={() => go({ before: [after], after: before[0] ?? after })}>Swap</Button>
        )}
        {others[0] && before.length + 1 < MOST_RUNS && (
          <Button onClick={() => go({ before: [...before, others[0]?.id ?? ""], after })}>Add a run</Button>
        )}
        {before.length > 1 && (
          <Button look="quiet" onClick={() => go({ before: before.slice(0, -1), after })}>
            Remove a run
          </Button>
        )}
      </div>
    </search>
  );
}

type ComparisonsProps = { runs: RunLine[]; before: string[]; after: string };

function Comparisons({ runs, before, after }: ComparisonsProps) {
  const project = useProject();
  const found = useQuery(comparisonQuery(project.id, before, after));
  return (
    <Loaded query={found} what="the comparison">
      {({ comparisons, radar }) => (
        <div className={styles.parts}>
          {comparisons.map((it, at) => (
            <RunComparison
              key={it.before}
              comparison={it}
              run={comparisons.length > 1 ? (runs.find((run) => run.id === it.before) ?? null) : undefined}
              after={after}
            >
              {at === comparisons.length - 1 && radar && (
                <ServerChart title="By criterion" drawn={radar} dashed="pass mark" />
              )}
            </RunComparison>
          ))}
        </div>
      )}
    </Loaded>
  );
}

type RunComparisonProps = {
  comparison: Comparison;
  /** The run compared with, where there are several; null where the list does not contain it. */
  run: RunLine | null | undefined;
  after: string;
  /** Drawn beside the chart of differences. */
  children: ReactNode;
};

function RunComparison({ comparison, run, after, children }: RunComparisonProps) {
  const project = useProject();
  const name = run ? labelOf(run) : comparison.before;
  return (
    <section className={styles.against} aria-label={`Compared with ${name}`}>
      {run !== undefined && (
        <h2>
          Compared with{" "}
          <Link to="/p/$project/runs/$run" params={{ project: project.name, run: comparison.before }}>
            {name}
          </Link>
        </h2>
      )}
      {comparison.n_cases === 0 ? (
        <Notice title="These runs have no case in common">
          <p>
            {plural(comparison.only_before.length, "case")} only in the first run and{" "}
            {plural(comparison.only_after.length, "case")} only in the second, with other names or other
            rubrics
            {comparison.undecided.length > 0 &&
              `; ${plural(comparison.undecided.length, "case")} without a verdict in one of them`}
            .
          </p>
        </Notice>
      ) : (
        <ComparisonDetail comparison={comparison} after={after}>
          {children}
        </ComparisonDetail>
      )}
      {run === undefined ? (
        comparison.n_cases + comparison.undecided.length > 0 && (
          <CaseChanges key={`${comparison.before} ${after}`} before={comparison.before} after={after} />
        )
      ) : (
        <p>
          <Link
            to="/p/$project/compare"
            params={{ project: project.name }}
            search={{ before: comparison.before, after }}
          >
            Cases side by side
          </Link>
        </p>
      )}
    </section>
  );
}

function ComparisonDetail({ comparison, after, children }: Omit<RunComparisonProps, "run">) {
  const { score, pass_rate: passes, forest } = comparison;
  const scales = { before: useRunScales(comparison.before), after: useRunScales(after) };
  // A case may be called `constructor`.
  const nameOf = (name: string): NamedCase =>
    nameWithParts(name, Object.hasOwn(comparison.names, name) ? comparison.names[name] : null);
  return (
    <>
      {comparison.caveats.map((it) => (
        <p key={it} className={styles.note}>
          {it}
        </p>
      ))}
      <div className={styles.said}>
        {score && <p>{score.sentence}</p>}
        {passes && <p>{passes.sentence}</p>}
      </div>
      <DifferenceTable comparison={comparison} scales={scales} />
      <div className={styles.pictures}>
        {forest && <ServerChart title="Differences (after − before)" drawn={forest} />}
        {children}
      </div>
      <ChangedCases
        changed={comparison.changed}
        nCases={comparison.n_cases}
        run={after}
        scales={scales}
        nameOf={nameOf}
      />
      <UncomparedCases title="No verdict in one of the runs" cases={comparison.undecided.map(nameOf)} />
      <UncomparedCases title="Only before" cases={comparison.only_before.map(nameOf)} />
      <UncomparedCases title="Only after" cases={comparison.only_after.map(nameOf)} />
    </>
  );
}

type Row = {
  name: string;
  difference: Difference;
  /** For a guard criterion less is better, so only significant overall differences are coloured. */
  isTotal: boolean;
  scale?: ScaleEnds;
};

/** The scale of the scores of two runs, if it is the same. */
const sharedOverallScaleOf = ({ before, after }: PairScales): ScaleEnds | undefined =>
  sharedEndsOf([before.overall, after.overall]);

type DifferenceTableProps = { comparison: Comparison; scales: PairScales };

export function DifferenceTable({ comparison, scales }: DifferenceTableProps) {
  const scale = sharedOverallScaleOf(scales);
  const rows: Row[] = [
    ...(comparison.score ? [{ name: "score", difference: comparison.score, isTotal: true, scale }] : []),
    ...(comparison.pass_rate ? [{ name: "pass rate", difference: comparison.pass_rate, isTotal: true }] : []),
    ...Object.entries(comparison.criteria).map(([name, difference]) => ({
      name,
      difference,
      isTotal: false,
      // The server compares only criteria that have the same scale in both runs.
      scale: scales.after.criteria.get(name),
    })),
  ];
  const columns: Column<Row>[] = [
    { name: "name", head: plural(comparison.n_cases, "case"), cell: (it) => it.name },
    {
      name: "before",
      head: "Before",
      about:
        "Mean of the cases in the earlier run; on the scale of the rubric or criterion, where it has one, and from 0 to 1. Only cases that both runs graded count.",
      entry: "baseline",
      align: "end",
      cell: (it) => <ScaledScore mean={it.difference.before} scale={it.scale} isMinor />,
      wide: true,
    },
    {
      name: "after",
      head: "After",
      about:
        "Mean of the same cases in the later run; on the scale of the rubric or criterion, where it has one, and from 0 to 1.",
      entry: "score",
      align: "end",
      cell: (it) => <ScaledScore mean={it.difference.after} scale={it.scale} isMinor />,
    },
    {
      name: "difference",
      head: "Difference",
      about:
        "After minus before, with its 95 % confidence interval (bootstrap over cases); on the scale of the rubric or criterion, where it has one, and from 0 to 1. It is significant if the interval excludes 0 and the p-value is small.",
      book: "runs.html#compare-two-runs",
      align: "end",
      cell: ({ difference: it, isTotal, scale }) => (
        <ScaledDifference
          difference={it.difference}
          interval={it.interval}
          scale={scale}
          showMain={(text) => (
            <SignedDifference value={it.difference} text={text} isNeutral={!isTotal || !isSignificant(it)} />
          )}
        />
      ),
    },
    {
      name: "p",
      head: "p-value",
      about: P_VALUE,
      entry: "p-value",
      align: "end",
      cell: (it) => chance(it.difference.p),
      wide: true,
    },
    {
      name: "n",
      head: "Cases",
      about: "Cases that have this figure in both runs.",
      book: "runs.html#compare-two-runs",
      align: "end",
      cell: (it) => count(it.difference.n),
      wide: true,
    },
  ];
  return (
    <section className={styles.part}>
      <h3>Differences</h3>
      <Table caption="Differences" columns={columns} rows={rows} keyOf={(it) => it.name} />
    </section>
  );
}

const isSignificant = ({ interval }: Difference): boolean =>
  interval != null && (interval[0] > 0 || interval[1] < 0);

type SignedDifferenceProps = { value: number; text: string; isNeutral?: boolean };

function SignedDifference({ value, text, isNeutral }: SignedDifferenceProps) {
  const tone = isNeutral || Math.abs(value) < 0.0005 ? undefined : value < 0 ? "worse" : "better";
  return (
    <b className={styles.signed} data-tone={tone}>
      {text}
    </b>
  );
}

type ChangedCasesProps = {
  changed: Change[];
  nCases: number;
  run: string;
  scales: PairScales;
  nameOf: (name: string) => NamedCase;
};

function ChangedCases({ changed, nCases, run, scales, nameOf }: ChangedCasesProps) {
  const project = useProject();
  const columns: Column<Change>[] = [
    {
      name: "case",
      head: "Case",
      cell: (it) => (
        <Link to="/p/$project/runs/$run" params={{ project: project.name, run }} search={{ find: it.case }}>
          <CaseName {...tagName(nameOf(it.case))} />
        </Link>
      ),
    },
    {
      name: "verdict",
      head: "Verdict",
      ...VERDICT,
      cell: (it) => (
        <span className={styles.verdict}>
          <StatusBadge status={it.before} /> → <StatusBadge status={it.after} />
        </span>
      ),
    },
    {
      name: "scores",
      head: "Score",
      ...SCORE,
      align: "end",
      cell: (it) => (
        <span className={styles.scores}>
          <ScoreChange before={it.score_before} after={it.score_after} scales={scales} />
        </span>
      ),
    },
    {
      name: "difference",
      head: "Difference",
      about:
        "Score after minus score before, of this case alone; on the scale of the rubrics, where both runs share one, and from 0 to 1.",
      entry: "score",
      align: "end",
      cell: (it) =>
        it.score_before == null || it.score_after == null ? (
          "–"
        ) : (
          <ScaledDifference
            difference={it.score_after - it.score_before}
            scale={sharedOverallScaleOf(scales)}
            showMain={(text) => (
              <SignedDifference value={(it.score_after ?? 0) - (it.score_before ?? 0)} text={text} />
            )}
          />
        ),
      wide: true,
    },
    {
      name: "why",
      head: "Reason",
      wide: true,
      cell: (it) => (
        <ul className={styles.reasons}>
          {it.reasons.map((one, at) => (
            <li key={at}>{one}</li>
          ))}
        </ul>
      ),
    },
  ];
  return (
    <section className={styles.part}>
      <h3>
        {describeChanged(
          changed.map((it) => nameOf(it.case)),
          nCases,
        )}
      </h3>
      {changed.length > 0 && (
        <Table
          caption="Cases that changed"
          columns={columns}
          rows={changed.slice(0, MOST)}
          keyOf={(it) => it.case}
          stacked
        />
      )}
      {changed.length > MOST && <p className={styles.soft}>and {count(changed.length - MOST)} more</p>}
    </section>
  );
}

/** Repeated trials of one case count as one case. */
export function describeChanged(changed: NamedCase[], nCases: number): string {
  if (changed.length === 0) return `No verdict changed (${plural(nCases, "case")})`;
  const nChanged = new Set(changed.map(nameOfAllTrials)).size;
  const nTrials = changed.some(({ trial }) => trial != null) ? ` (${plural(changed.length, "trial")})` : "";
  return `Verdict changed in ${plural(nChanged, "case")} of ${count(nCases)}${nTrials}`;
}

/** Rows that are drawn; the worst come first. */
const MOST = 500;

function UncomparedCases({ title, cases }: { title: string; cases: NamedCase[] }) {
  if (cases.length === 0) return null;
  return (
    <details className={styles.out}>
      <summary>
        {title}: {plural(cases.length, "case")}
      </summary>
      <ul>
        {cases.slice(0, MOST).map((it) => (
          <li key={it.case}>
            <CaseName {...tagName(it)} />
          </li>
        ))}
      </ul>
    </details>
  );
}
