import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { answered, api, type Schemas } from "../api/client";
import { useProject } from "../api/session";
import { score3, signed } from "../chart/figures";
import { PageHead } from "../shell/Shell";
import { StatusBadge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Select } from "../ui/Field";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { count, moment, plural, score } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import styles from "./Compare.module.css";
import { type Compared, compared, type Difference, isChanged, type Pair, type Result } from "./compare";

type RunLine = Schemas["RunLine"];

/** Results of each run that are looked at; more would take the browser too long. */
const MOST = 2000;

/** Two runs side by side: what changed first. */
export function ComparePage() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/compare" });
  const runs = useInfiniteQuery({
    queryKey: ["runs-to-compare", project.id],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      answered(api(project.id).GET("/api/v1/runs", { params: { query: { limit: 200, after: pageParam } } })),
    getNextPageParam: (last) => last.next ?? undefined,
  });
  return (
    <>
      <p className={styles.up}>
        <Link to="/p/$project/runs" params={{ project: project.name }}>
          Runs
        </Link>
      </p>
      <PageHead title="Compare runs" about="Paired case by case; what changed stands first." />
      <Loaded query={runs} what="runs">
        {({ pages }) => {
          const all = pages.flatMap((it) => it.items);
          if (all.length < 2) {
            return (
              <State title="Two runs are needed">
                <p>Have a suite graded twice, before and after a change.</p>
              </State>
            );
          }
          const after = search.after ?? all[0]?.id ?? "";
          const before = search.before ?? earlier(all, after) ?? "";
          return (
            <>
              <Choose runs={all} before={before} after={after} />
              {before === after || before === "" ? (
                <State title="Choose two different runs" />
              ) : (
                <Both before={before} after={after} />
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** The run before it of the same suite, or else any run before it. */
export function earlier(runs: Pick<RunLine, "id" | "suite">[], after: string): string | undefined {
  const at = runs.findIndex((it) => it.id === after);
  const older = runs.slice(at + 1);
  return (older.find((it) => it.suite === runs[at]?.suite) ?? older[0] ?? runs.find((it) => it.id !== after))
    ?.id;
}

function Choose({ runs, before, after }: { runs: RunLine[]; before: string; after: string }) {
  const navigate = useNavigate({ from: "/p/$project/compare" });
  const options = (chosen: string) => {
    const all = runs.map((it) => ({
      value: it.id,
      label: `${it.suite ?? "without a name"}, ${moment(it.started)} · …${it.id.slice(-6)}`,
    }));
    return all.some((it) => it.value === chosen) ? all : [{ value: chosen, label: chosen }, ...all];
  };
  const go = (to: { before: string; after: string }) =>
    navigate({ search: (it) => ({ ...it, ...to }), replace: true });
  return (
    <search className={styles.choose} aria-label="Which runs">
      <Select
        label="Before"
        value={before}
        options={options(before)}
        onChange={(it) => go({ before: it.target.value, after })}
      />
      <Select
        label="After"
        value={after}
        options={options(after)}
        onChange={(it) => go({ before, after: it.target.value })}
      />
      <Button onClick={() => go({ before: after, after: before })}>Swap</Button>
    </search>
  );
}

/** Results with their places, so that a case leads to its scorecard. */
type Loadable = { results: Result[]; places: Map<string, number>; isCut: boolean };

function useResults(run: string) {
  const project = useProject();
  return useQuery({
    queryKey: ["all-results", project.id, run],
    queryFn: async (): Promise<Loadable> => {
      const results: Result[] = [];
      const places = new Map<string, number>();
      let after: number | undefined;
      do {
        const params = { path: { id: run }, query: { limit: 200, after } };
        const page = await answered(api(project.id).GET("/api/v1/runs/{id}/results", { params }));
        for (const it of page.items) {
          // What was graded is large, and not compared.
          const { case: name, trial, rubric, verdict, grades } = it.result as unknown as Result;
          results.push({ case: name, trial, rubric, verdict, grades });
          places.set(name, it.place);
        }
        after = page.next ?? undefined;
      } while (after !== undefined && results.length < MOST);
      return { results, places, isCut: after !== undefined };
    },
    staleTime: 60_000,
  });
}

function Both({ before, after }: { before: string; after: string }) {
  const [old, now] = [useResults(before), useResults(after)];
  return (
    <Loaded query={old} what="the earlier run">
      {(a) => (
        <Loaded query={now} what="the later run">
          {(b) => <Found before={a} after={b} run={after} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function Found({ before, after, run }: { before: Loadable; after: Loadable; run: string }) {
  const found = useMemo(() => compared(before.results, after.results), [before, after]);
  if (found.pairs.length === 0) {
    return (
      <State title="They have no case in common">
        <p>
          {plural(found.onlyBefore.length, "case")} before and {plural(found.onlyAfter.length, "case")} after,
          by other names.
        </p>
      </State>
    );
  }
  return (
    <div className={styles.parts}>
      {(before.isCut || after.isCut) && (
        <p className={styles.note}>
          Only the first {count(MOST)} results of each are compared here; <code>jurist compare</code> takes
          all.
        </p>
      )}
      <Totals found={found} />
      <Cases found={found} places={after.places} run={run} />
      <LeftOut title="Only before" names={found.onlyBefore} />
      <LeftOut title="Only after" names={found.onlyAfter} />
    </div>
  );
}

function Totals({ found }: { found: Compared }) {
  const rows = [
    ...(found.score ? [{ name: "score", difference: found.score }] : []),
    ...(found.passRate ? [{ name: "pass rate", difference: found.passRate }] : []),
    ...found.criteria,
  ];
  type Row = { name: string; difference: Difference };
  const columns: Column<Row>[] = [
    { name: "name", head: plural(found.nCases, "case"), cell: (it) => it.name },
    { name: "before", head: "Before", align: "end", cell: (it) => score3(it.difference.before) },
    { name: "after", head: "After", align: "end", cell: (it) => score3(it.difference.after) },
    {
      name: "difference",
      head: "Difference",
      align: "end",
      cell: (it) => <Signed value={it.difference.difference} />,
    },
    {
      name: "bar",
      head: "Worse, better",
      wide: true,
      cell: (it) => <Leaning value={it.difference.difference} />,
    },
    { name: "n", head: "Pairs", align: "end", cell: (it) => count(it.difference.n), wide: true },
  ];
  const isOther = found.pairs.filter((it) => !it.isSameRubric).length;
  return (
    <section className={styles.part}>
      <h2>Differences</h2>
      {isOther > 0 && (
        <p className={styles.note}>
          The rubric changed for {isOther} of {plural(found.pairs.length, "case")}; these are not in the
          figures.
        </p>
      )}
      <Table caption="Differences" columns={columns} rows={rows} keyOf={(it) => it.name} />
      <p className={styles.soft}>
        How sure that is, <code>jurist compare</code> says, with intervals.
      </p>
    </section>
  );
}

function Signed({ value }: { value: number }) {
  const tone = Math.abs(value) < 0.0005 ? undefined : value < 0 ? "worse" : "better";
  return (
    <span className={styles.signed} data-tone={tone}>
      {signed(value)}
    </span>
  );
}

/** How far to one side; the number stands beside it. */
function Leaning({ value }: { value: number }) {
  const share = Math.min(1, Math.abs(value)) * 50;
  return (
    <span className={styles.leaning} aria-hidden="true">
      <span
        data-tone={value < 0 ? "worse" : "better"}
        style={{ insetInlineStart: `${value < 0 ? 50 - share : 50}%`, inlineSize: `${share}%` }}
      />
    </span>
  );
}

function Cases({ found, places, run }: { found: Compared; places: Map<string, number>; run: string }) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/compare" });
  const navigate = useNavigate({ from: "/p/$project/compare" });
  const changed = found.pairs.filter(isChanged);
  const rows = search.all ? found.pairs : changed;
  const columns: Column<Pair>[] = [
    {
      name: "case",
      head: "Case",
      cell: (it) => (
        <Link
          to="/p/$project/runs/$run"
          params={{ project: project.name, run }}
          search={{ case: places.get(it.case) }}
        >
          {it.case}
        </Link>
      ),
    },
    {
      name: "verdict",
      head: "Verdict",
      cell: (it) => (
        <span className={styles.verdict}>
          <StatusBadge status={it.before.status} />
          {it.before.status !== it.after.status && (
            <>
              → <StatusBadge status={it.after.status} />
            </>
          )}
        </span>
      ),
    },
    {
      name: "scores",
      head: "Score",
      align: "end",
      cell: (it) => `${score(it.before.score)} → ${score(it.after.score)}`,
    },
    {
      name: "difference",
      head: "Difference",
      align: "end",
      cell: (it) => (it.difference === null ? "–" : <Signed value={it.difference} />),
    },
    {
      name: "criteria",
      head: "By criterion",
      wide: true,
      cell: (it) => (
        <span className={styles.criteria}>
          {it.criteria
            .filter((one) => Math.abs(one.after - one.before) > 1e-9)
            .map((one) => (
              <span key={one.name}>
                {one.name} <Signed value={one.after - one.before} />
              </span>
            ))}
        </span>
      ),
    },
  ];
  return (
    <section className={styles.part}>
      <div className={styles.head}>
        <h2>
          {plural(changed.length, "case")} of {count(found.pairs.length)} changed
        </h2>
        <label>
          <input
            type="checkbox"
            checked={search.all === true}
            onChange={(it) =>
              navigate({
                search: (before) => ({ ...before, all: it.target.checked || undefined }),
                replace: true,
                resetScroll: false,
              })
            }
          />{" "}
          those that did not as well
        </label>
      </div>
      {rows.length === 0 ? (
        <State title="Nothing changed">
          <p>Every case has the same verdict and the same score.</p>
        </State>
      ) : (
        <Table caption="Cases" columns={columns} rows={rows.slice(0, 500)} keyOf={(it) => it.case} />
      )}
      {rows.length > 500 && <p className={styles.soft}>and {count(rows.length - 500)} more</p>}
    </section>
  );
}

function LeftOut({ title, names }: { title: string; names: string[] }) {
  if (names.length === 0) return null;
  return (
    <details className={styles.out}>
      <summary>
        {title}: {plural(names.length, "case")}
      </summary>
      <ul>
        {names.slice(0, 500).map((it) => (
          <li key={it}>{it}</li>
        ))}
      </ul>
    </details>
  );
}
