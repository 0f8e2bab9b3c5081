import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { percent } from "../chart/figures";
import { ScaledScore } from "../chart/ScaledScore";
import { plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { CaseName, nameOfAllTrials, tagName } from "./CaseName";
import type { CaseOutcome } from "./CaseStrip";
import { type FlakyCase, flakyQuery, type RunInFull } from "./queries";
import styles from "./RunPage.module.css";

/** Cases whose trials disagree, the most balanced first. */
export function FlakyCases({ run, outcomes }: { run: RunInFull; outcomes: CaseOutcome[] }) {
  const project = useProject();
  const found = useQuery(flakyQuery(project.id, run.id));
  const named = new Map(outcomes.map((it) => [nameOfAllTrials(it), tagName({ ...it, trial: null })]));
  const columns: Column<FlakyCase>[] = [
    {
      name: "case",
      head: "Case",
      cell: (it) => (
        <Link
          to="/p/$project/runs/$run"
          params={{ project: project.name, run: run.id }}
          search={{ find: it.case }}
        >
          <CaseName {...(named.get(it.case) ?? { base: it.case, tags: [] })} />
        </Link>
      ),
    },
    {
      name: "passed",
      head: "Passed",
      about: "Trials with the verdict pass, of those that passed or failed.",
      entry: "trial",
      align: "end",
      cell: (it) => `${it.passed} of ${it.n}`,
    },
    {
      name: "flips",
      head: (
        <Term about="Share of trials whose verdict differs from the majority of the case." entry="flaky">
          Flip rate
        </Term>
      ),
      align: "end",
      cell: (it) => percent(it.flip_rate),
    },
    {
      name: "all",
      head: <Term about="Estimated probability that all trials of the case pass.">P(all pass)</Term>,
      align: "end",
      wide: true,
      cell: (it) => percent(it.pass_k.at(-1)),
    },
    {
      name: "scores",
      head: "Score of each trial",
      about:
        "Scores in the order of the trials; on the scale of the rubrics, where they share one, and from 0 (worst) to 1 (best). A dash is a trial without a score.",
      entry: "score",
      wide: true,
      cell: (it) => (
        <span className={styles.tries}>
          {it.scores.map((one, at) => (
            <span key={at}>
              <ScaledScore mean={one} scale={run.scale} isMinor digits={2} />
            </span>
          ))}
        </span>
      ),
    },
  ];
  return (
    <Loaded query={found} what="flaky cases">
      {(it) => {
        if (it.k === 0) {
          return (
            <Notice title="No repeated trials">
              <p>A suite with several trials per case shows here which cases flip between pass and fail.</p>
            </Notice>
          );
        }
        return (
          <div className={styles.view}>
            <p>
              {plural(it.n_cases, "case")} with up to {plural(it.k, "trial")}: {percent(it.any)} passed at
              least once, {percent(it.all)} passed every time.
            </p>
            {it.cases.length === 0 ? (
              <Notice title="No flaky cases" />
            ) : (
              <Table caption="Flaky cases" columns={columns} rows={it.cases} keyOf={(one) => one.case} />
            )}
          </div>
        );
      }}
    </Loaded>
  );
}
