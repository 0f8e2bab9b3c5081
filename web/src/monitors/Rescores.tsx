import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { fixed } from "../chart/figures";
import { ScaledDifference } from "../chart/ScaledDifference";
import { ScaledScore } from "../chart/ScaledScore";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { FormError } from "../ui/Form";
import { count, moment, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { useToast } from "../ui/Toast";
import styles from "./Monitors.module.css";
import { type Monitor, nameOf, type Rescore, type RescorePlan, rescoresQuery } from "./queries";
import { useVersionNames } from "./versions";

/** Grades traces of earlier versions with the newest version; existing grades stay. */
export function Rescores({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const found = useQuery(rescoresQuery(project.id, monitor.name));
  return (
    <>
      {may(project, "write") && <RescoreForm monitor={monitor} />}
      <section className={styles.part}>
        <Loaded query={found} what="re-scores">
          {(all) =>
            all.length === 0 ? (
              <Notice title="No re-scores yet" />
            ) : (
              <>
                <h2>Earlier re-scores</h2>
                {all.map((it) => (
                  <RescoreCard key={it.id} rescore={it} monitor={monitor} />
                ))}
              </>
            )
          }
        </Loaded>
      </section>
    </>
  );
}

/** Dollars with as many digits as on the command line. */
const dollars = (amount: number): string => `$${fixed(amount, amount < 1 ? 4 : 2)}`;

const priced = (price: number | null | undefined): string =>
  price == null ? "an unknown price" : `about ${dollars(price)}`;

function RescoreForm({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const queries = useQueryClient();
  const versionOf = useVersionNames(monitor.name);
  const toast = useToast();
  const [overlap, setOverlap] = useState("200");
  const [since, setSince] = useState("");
  const [plan, setPlan] = useState<RescorePlan | null>(null);
  const ask = useMutation({
    mutationFn: (confirmed: boolean) =>
      unwrap(
        api(project.id).POST("/api/v1/monitors/{name}/rescores", {
          params: { path: { name: monitor.name } },
          body: {
            confirmed,
            overlap: overlap.trim() === "" ? undefined : Number(overlap),
            since: since ? `${since}T00:00:00Z` : undefined,
          },
        }),
      ),
    onSuccess: (told, confirmed) => {
      if (!confirmed) return setPlan(told);
      setPlan(null);
      toast(`${plural(told.n_traces, "trace")} will be re-scored.`);
      queries.invalidateQueries({ queryKey: ["rescores", project.id, monitor.name] });
      return undefined;
    },
  });
  const changed = (set: (it: string) => void) => (it: { target: { value: string } }) => {
    set(it.target.value);
    setPlan(null);
    ask.reset();
  };
  return (
    <section className={styles.part}>
      <h2>Re-score with the newest version</h2>
      <p>
        Grades the traces of earlier rubric versions with the newest version. A random sample is enough to
        measure the offset between two versions.
      </p>
      <form
        className={styles.filter}
        onSubmit={(it) => {
          it.preventDefault();
          ask.mutate(false);
        }}
      >
        <Field
          label="Sample size"
          hint="Empty for all."
          type="number"
          min={1}
          value={overlap}
          onChange={changed(setOverlap)}
        />
        <Field
          label="Sampled since"
          hint="Empty for all."
          type="date"
          value={since}
          onChange={changed(setSince)}
        />
        {!plan && (
          <Button type="submit" disabled={ask.isPending}>
            {ask.isPending ? "Estimating…" : "Estimate cost"}
          </Button>
        )}
      </form>
      <FormError error={ask.error} />
      {plan && (
        <div className={styles.plan} role="status">
          <p>
            {plural(plan.n_traces, "trace")} of {count(plan.n_of)}, {plural(plan.n_calls, "call")},{" "}
            <b>{priced(plan.price)}</b>, rubric{" "}
            <span title={plan.rubric_version}>{versionOf(plan.rubric_version)}</span>
          </p>
          {plan.price != null && plan.budget_left != null && plan.budget_left < plan.price && (
            <p>
              Only {dollars(plan.budget_left)} of this month’s budget is left. Traces that do not fit stay
              without a score until the budget is raised.
            </p>
          )}
          <div className={styles.line}>
            <Button
              look="main"
              onClick={() => ask.mutate(true)}
              disabled={ask.isPending || plan.n_traces === 0}
            >
              Start re-score
            </Button>
            <Button onClick={() => setPlan(null)}>Cancel</Button>
            {plan.n_traces === 0 && (
              <span className={styles.soft}>
                No trace was sampled by an earlier version in this time range.
              </span>
            )}
          </div>
        </div>
      )}
    </section>
  );
}

type Offset = Rescore["offsets"][number];

function RescoreCard({ rescore, monitor }: { rescore: Rescore; monitor: Monitor }) {
  const versionOf = useVersionNames(monitor.name);
  const columns: Column<Offset>[] = [
    { name: "criterion", head: "Criterion", cell: nameOf },
    {
      name: "offset",
      head: "Offset (newer − earlier)",
      about:
        "Mean difference between the scores of the two versions on the same traces, with its 95 % confidence interval; on the scale of the rubric, where both versions have the same, and from 0 to 1.",
      book: "monitor.html#re-score",
      cell: (it) => <ScaledDifference difference={it.mean} interval={it.interval} scale={it.scale} />,
    },
    {
      name: "from",
      head: "Earlier version",
      cell: (it) => <span title={it.from_version}>{versionOf(it.from_version)}</span>,
      wide: true,
    },
    {
      name: "n",
      head: "Sample",
      about: "Traces that have a score from both versions.",
      book: "monitor.html#re-score",
      align: "end",
      cell: (it) => plural(it.n, "trace"),
    },
  ];
  const isOver = rescore.n_scored + rescore.n_errors >= rescore.n_traces;
  return (
    <article className={styles.part}>
      <div className={styles.head}>
        <h3>{moment(rescore.created)}</h3>
        <span>
          {count(rescore.n_scored)} of {count(rescore.n_traces)} re-scored with{" "}
          <span title={rescore.rubric_version}>{versionOf(rescore.rubric_version)}</span>,{" "}
          {plural(rescore.n_errors, "error")}
        </span>
        {!isOver && <Badge tone="accent">in progress</Badge>}
      </div>
      {rescore.score && (
        <p>
          Estimated score of the traffic of that time:{" "}
          <ScaledScore mean={rescore.score.mean} interval={rescore.score.interval} scale={rescore.scale} />
        </p>
      )}
      {rescore.offsets.length > 0 && (
        <Table
          caption="Offset between versions"
          columns={columns}
          rows={rescore.offsets}
          keyOf={(it) => `${it.criterion} ${it.from_version}`}
        />
      )}
    </article>
  );
}
