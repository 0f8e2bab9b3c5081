import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { CSSProperties } from "react";
import { tasksQuery } from "../annotate/queries";
import { may, useProject } from "../api/session";
import { chance, fixed, percent, percentRange, signed, signedRange } from "../chart/figures";
import { Interval } from "../chart/Interval";
import { ServerChart } from "../chart/ServerChart";
import { monitorNamesQuery } from "../monitors/queries";
import { CodeBlock } from "../ui/CodeBlock";
import { Select } from "../ui/Field";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { type Ranked, type Ranks, rankingQuery } from "./queries";
import styles from "./Ranking.module.css";
import type { RankingSearch } from "./search";

/** Ranking by pairwise comparisons: strengths, win rates and position bias. */
export function RankingPage() {
  const project = useProject();
  const { monitor, judge, task } = useSearch({ from: "/p/$project/ranking" });
  const by = task ? { source: "people", task } : { source: "comparisons", monitor, judge };
  const found = useQuery(rankingQuery(project.id, by));
  return (
    <>
      <PageHead
        title="Ranking"
        about="Ranking from pairwise comparisons by judges or people."
        book="statistics.html#definitions"
      />
      <RankingFilter judges={found.data?.judges ?? []} />
      <Loaded query={found} what="the ranking">
        {(it) =>
          it.n === 0 ? (
            <NoComparisons ranks={it} isOfPeople={task !== undefined} />
          ) : (
            <RankingDetail ranks={it} />
          )
        }
      </Loaded>
    </>
  );
}

/** Source of the comparisons: a monitor and judge, or a task. */
function RankingFilter({ judges }: { judges: string[] }) {
  const project = useProject();
  const { monitor, judge, task } = useSearch({ from: "/p/$project/ranking" });
  const navigate = useNavigate({ from: "/p/$project/ranking" });
  const go = (search: RankingSearch) => navigate({ search, replace: true, resetScroll: false });
  const monitors = useQuery(monitorNamesQuery(project.id));
  const asked = useQuery({ ...tasksQuery(project.id), enabled: may(project, "annotate") });
  const named = (all: (string | undefined)[]) =>
    [...new Set(all)].flatMap((it) => (it === undefined ? [] : [{ value: it, label: it }]));
  return (
    <search className={styles.by} aria-label="Filter comparisons">
      <Select
        label="Comparisons by"
        value={task ?? ""}
        options={[
          { value: "", label: "judges of monitors" },
          ...(asked.data?.items ?? []).map((it) => ({ value: it.id, label: `annotators of ${it.name}` })),
          ...(task && !asked.data ? [{ value: task, label: task }] : []),
        ]}
        onChange={(it) => go({ task: it.target.value || undefined })}
      />
      {task === undefined && (
        <>
          <Select
            label="Monitor"
            value={monitor ?? ""}
            options={[
              { value: "", label: "any monitor" },
              ...named([...(monitors.data ?? []).map((it) => it.name), monitor]),
            ]}
            onChange={(it) => go({ judge, monitor: it.target.value || undefined })}
          />
          <Select
            label="Judge"
            value={judge ?? ""}
            options={[{ value: "", label: "any judge" }, ...named([...judges, judge])]}
            onChange={(it) => go({ monitor, judge: it.target.value || undefined })}
          />
        </>
      )}
    </search>
  );
}

function NoComparisons({ ranks, isOfPeople }: { ranks: Ranks; isOfPeople: boolean }) {
  const project = useProject();
  const { monitor: chosen } = useSearch({ from: "/p/$project/ranking" });
  const monitors = useQuery(monitorNamesQuery(project.id));
  const monitor = monitors.data?.find((it) => it.name === chosen) ?? monitors.data?.[0];
  const name = monitor ? quoted(monitor.name) : "MONITOR";
  const agent = quoted(monitor?.agents[0] ?? "AGENT");
  return (
    <Notice title="No comparisons yet">
      {ranks.errors > 0 && <p>{plural(ranks.errors, "comparison")} failed with a judge error.</p>}
      {isOfPeople ? (
        <p>No annotator of this task has compared two answers yet.</p>
      ) : (
        <>
          <p>Compare two agents, or two versions of one agent, on tasks that both have done:</p>
          <CodeBlock
            text={`jurist monitor compare ${name} \\
  ${agent}:version=1 ${agent}:version=2 \\
  --server ${location.origin}`}
          />
          <p>
            {!monitor && "MONITOR is the name of a monitor, AGENT the name of one of its agents. "}
            <code>version</code> is a key of the trace metadata; use any key that tells your versions apart.
          </p>
        </>
      )}
    </Notice>
  );
}

/** Quoted for a shell. */
const quoted = (it: string): string => (/^[\w.@/-]+$/.test(it) ? it : `'${it.replaceAll("'", "'\\''")}'`);

function RankingDetail({ ranks }: { ranks: Ranks }) {
  return (
    <div className={styles.parts}>
      <StrengthTable ranks={ranks} />
      <WinMatrix ranks={ranks} />
      <PositionBias ranks={ranks} />
    </div>
  );
}

function StrengthTable({ ranks }: { ranks: Ranks }) {
  const columns: Column<Ranked>[] = [
    { name: "side", head: "Candidate", cell: (it) => `${it.rank}. ${it.side}` },
    {
      name: "strength",
      head: "Strength",
      about:
        "Strength in the Bradley–Terry model, on a log scale with mean 0. A difference of 1 means 73 wins of 100.",
      align: "end",
      cell: (it) => (
        <>
          <b>{signed(it.strength)}</b>{" "}
          {it.interval ? signedRange(it.interval) : <span className={styles.soft}>no interval</span>}
        </>
      ),
    },
    {
      name: "elo",
      head: "Elo",
      about:
        "The same strength on the Elo scale of chess ratings: 400 points more mean ten wins for one loss.",
      book: "how-to/position-bias.html#many-pairs",
      align: "end",
      wide: true,
      cell: (it) => fixed(it.elo, 0),
    },
    {
      name: "n",
      head: "Comparisons",
      about: "Comparisons of this candidate with any other one. Those with a judge error are excluded.",
      book: "how-to/position-bias.html#many-pairs",
      align: "end",
      wide: true,
      cell: (it) => count(it.n),
    },
  ];
  return (
    <section className={styles.part}>
      <h2>Strengths</h2>
      {ranks.bradley_terry ? (
        <div className={styles.columns}>
          <Table caption="Strengths" columns={columns} rows={ranks.bradley_terry} keyOf={(it) => it.side} />
          {ranks.strengths && <ServerChart title="Strengths with 95 % intervals" drawn={ranks.strengths} />}
        </div>
      ) : (
        <p>Strengths cannot be estimated: {ranks.undefined}.</p>
      )}
      <p className={styles.soft}>
        Bradley–Terry model of {plural(ranks.n, "comparison")} with {plural(ranks.ties, "tie")};{" "}
        {plural(ranks.errors, "comparison")} with a judge error are excluded. A candidate with a strength that
        is 1 higher wins 73 of 100 comparisons.
      </p>
    </section>
  );
}

function WinMatrix({ ranks }: { ranks: Ranks }) {
  const { sides, wins, rates } = ranks;
  const won = (row: number, column: number) => wins[row]?.[column] ?? 0;
  const columns: Column<number>[] = [
    { name: "side", head: "Wins against →", cell: (row) => sides[row] },
    ...sides.map(
      (side, column): Column<number> => ({
        name: side,
        head: side,
        about: `Win rate of the row against ${side}, with a tie as half a win; then wins and losses.`,
        align: "end",
        cell: (row) => {
          if (row === column) return <span className={styles.soft}>·</span>;
          const rate = rates[row]?.[column];
          if (rate == null) return <span className={styles.soft}>not compared</span>;
          return (
            <span className={styles.cell} style={{ "--share": rate } as CSSProperties}>
              {percent(rate)}{" "}
              <span className={styles.soft}>
                {count(won(row, column))} : {count(won(column, row))}
              </span>
            </span>
          );
        },
      }),
    ),
  ];
  return (
    <section className={styles.part}>
      <h2>Wins</h2>
      <Table
        caption="How often each row won against each column"
        columns={columns}
        rows={sides.map((_, at) => at)}
        keyOf={(it) => sides[it] ?? String(it)}
      />
      <p className={styles.soft}>
        Win rate of the row against the column, with a tie as half a win; then wins and losses.
      </p>
    </section>
  );
}

/** Whether the position of an answer influences who wins. */
function PositionBias({ ranks: { position } }: { ranks: Ranks }) {
  return (
    <section className={styles.part}>
      <h2>Position bias</h2>
      {position ? (
        <>
          <p>
            The answer shown first{" "}
            <Term
              about="Win rate of the first position, with its 95 % confidence interval. Without position bias it is 50 %."
              entry="position-bias"
            >
              won
            </Term>{" "}
            <b>{percent(position.rate)}</b> {percentRange(position.interval)} of{" "}
            {plural(position.n, "comparison")} without ties. {verdict(position)}
          </p>
          <Interval mean={position.rate} interval={position.interval} mark={0.5} />
        </>
      ) : (
        <p className={styles.soft}>No comparison has a winner yet.</p>
      )}
    </section>
  );
}

function verdict({ rate, p }: NonNullable<Ranks["position"]>): string {
  const said = p < 0.001 ? `p ${chance(p)}` : `p = ${chance(p)}`;
  if (p >= 0.05) return `No significant position bias (${said}).`;
  return `Significant position bias (${said}): the ${rate > 0.5 ? "first" : "second"} position is preferred.`;
}
