import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { chance, percent, percentRange, type Range, signed, signedRange } from "../chart/figures";
import { Interval } from "../chart/Interval";
import { PageHead } from "../shell/Shell";
import { Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { count, plural } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import { type Ranked, type Ranking, rankingQuery, SOURCES } from "./doors";
import styles from "./Ranking.module.css";

/** Who is preferred to whom: strengths, the matrix of wins, and whether the place mattered. */
export function RankingPage() {
  const project = useProject();
  const { source = "comparisons" } = useSearch({ from: "/p/$project/ranking" });
  const navigate = useNavigate({ from: "/p/$project/ranking" });
  const found = useQuery(rankingQuery(project.id, source));
  return (
    <>
      <PageHead
        title="Ranking"
        about="Answers set against each other two at a time, and what that says of all."
      >
        <Select
          label="As preferred by"
          value={source}
          options={Object.entries(SOURCES).map(([value, label]) => ({ value, label }))}
          onChange={(it) => navigate({ search: { source: it.target.value }, replace: true })}
        />
      </PageHead>
      <Loaded query={found} what="the ranking">
        {(it) => (it.n === 0 ? <Nothing source={source} /> : <Found ranking={it} />)}
      </Loaded>
    </>
  );
}

function Nothing({ source }: { source: string }) {
  return (
    <State title="Nothing was set against each other yet">
      {source === "people" ? (
        <p>A task under Annotate that asks which of two is better fills this page.</p>
      ) : (
        <>
          <p>Have a monitor's judge compare two agents, or two versions of one:</p>
          <pre>{`jurist monitor compare support support:version=1 support:version=2 --server ${location.origin}`}</pre>
        </>
      )}
    </State>
  );
}

function Found({ ranking }: { ranking: Ranking }) {
  return (
    <div className={styles.parts}>
      <Strengths ranking={ranking} />
      <Wins ranking={ranking} />
      <Place ranking={ranking} />
    </div>
  );
}

function Strengths({ ranking }: { ranking: Ranking }) {
  const rows = [...ranking.bradley_terry].sort((a, b) => a.rank - b.rank);
  const far = Math.max(0.5, ...rows.flatMap((it) => [it.strength, ...(it.interval ?? [])]).map(Math.abs));
  const domain: Range = [-far, far];
  const columns: Column<Ranked>[] = [
    { name: "side", head: "Side", cell: (it) => it.side },
    { name: "rank", head: "Rank", align: "end", cell: (it) => it.rank },
    {
      name: "strength",
      head: "Strength",
      cell: (it) => (
        <>
          <b>{signed(it.strength)}</b>{" "}
          {it.interval ? signedRange(it.interval) : <span className={styles.soft}>no interval</span>}
        </>
      ),
    },
    {
      name: "picture",
      head: "Weaker, stronger",
      wide: true,
      cell: (it) => <Interval mean={it.strength} interval={it.interval} mark={0} domain={domain} />,
    },
  ];
  return (
    <section className={styles.part}>
      <h2>Strengths</h2>
      <Table caption="Strengths" columns={columns} rows={rows} keyOf={(it) => it.side} />
      <p className={styles.soft}>
        By Bradley and Terry, with 95 % intervals, from {plural(ranking.n, "contest")}: a side that is 1
        stronger wins 73 of 100. {plural(ranking.ties, "tie")}, {plural(ranking.errors, "contest")} that no
        judge decided.
      </p>
    </section>
  );
}

function Wins({ ranking }: { ranking: Ranking }) {
  const { sides, wins } = ranking;
  const won = (row: number, column: number) => wins[row]?.[column] ?? 0;
  const columns: Column<number>[] = [
    { name: "side", head: "Won against →", cell: (row) => sides[row] },
    ...sides.map(
      (side, column): Column<number> => ({
        name: side,
        head: side,
        align: "end",
        cell: (row) => {
          const n = won(row, column) + won(column, row);
          if (row === column) return <span className={styles.soft}>·</span>;
          if (n === 0) return <span className={styles.soft}>never met</span>;
          const share = won(row, column) / n;
          return (
            <span className={styles.cell} style={{ "--share": share } as React.CSSProperties}>
              {percent(share)}{" "}
              <span className={styles.soft}>{`${count(won(row, column))} of ${count(n)}`}</span>
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
      <p className={styles.soft}>Of contests that one of the two won; ties are left out.</p>
    </section>
  );
}

/** Whether the one shown first wins more often than it should. */
function Place({ ranking }: { ranking: Ranking }) {
  const { position } = ranking;
  return (
    <section className={styles.part}>
      <h2>Does the place matter?</h2>
      {!position || position.n === 0 ? (
        <p className={styles.soft}>No contest says which of the two was shown first.</p>
      ) : (
        <>
          <p>
            The one shown first won <b>{percent(position.first_wins / position.n)}</b>{" "}
            {percentRange(position.interval)} of {count(position.n)}. {verdict(position)}
          </p>
          <Interval mean={position.first_wins / position.n} interval={position.interval} mark={0.5} />
        </>
      )}
    </section>
  );
}

function verdict({ interval, p }: NonNullable<Ranking["position"]>): string {
  const said = p == null ? "" : ` (p ${p < 0.001 ? chance(p) : `= ${chance(p)}`})`;
  if (!interval) return "That is too few to tell.";
  if (interval[0] > 0.5) return `It is preferred for its place${said}; ask both ways around.`;
  if (interval[1] < 0.5) return `The second is preferred for its place${said}; ask both ways around.`;
  return `That is within chance of a half${said}.`;
}
