import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { useMoney } from "../money/useMoney";
import { judgesQuery } from "../settings/queries";
import { agentsQuery, newestTracesQuery } from "../traces/queries";
import { Button } from "../ui/Button";
import { Field, Select } from "../ui/Field";
import { FormError } from "../ui/Form";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { useDebounced } from "../ui/useDebounced";
import { trialPriceQuery } from "./queries";
import styles from "./Rubrics.module.css";

const NEWEST = 10;

/** A trial of a version on the traces in the address, or on the newest. */
export function RubricTrialView({ source }: { source: string }) {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/rubrics/$rubric" });
  const navigate = useNavigate({ from: "/p/$project/rubrics/$rubric" });
  const set = (change: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const { traces, agent, newest = NEWEST } = search;
  const agents = useQuery(agentsQuery(project.id));
  const found = useQuery({
    ...newestTracesQuery(project.id, newest, agent),
    select: (items) => items.map((item) => item.id),
    enabled: traces === undefined,
  });
  if (traces !== undefined) {
    return (
      <div className={styles.preview}>
        <p className={styles.line}>
          {plural(traces.length, "trace")} selected.
          <Button look="link" onClick={() => set({ traces: undefined })}>
            Use the newest traces instead
          </Button>
        </p>
        <RubricTrial source={source} traces={traces} />
      </div>
    );
  }
  return (
    <div className={styles.preview}>
      <search className={styles.line} aria-label="Filter traces">
        <Select
          label="Newest traces of"
          value={agent ?? ""}
          options={[
            { value: "", label: "any agent" },
            ...(agents.data ?? []).map((it) => ({ value: it.name, label: it.name })),
          ]}
          onChange={(it) => set({ agent: it.target.value || undefined })}
        />
        <Select
          label="How many"
          value={String(newest)}
          options={[...new Set([5, NEWEST, 25, 50, newest])].map((it) => ({
            value: String(it),
            label: count(it),
          }))}
          onChange={(it) => set({ newest: Number(it.target.value) })}
        />
        <span className={styles.soft}>
          Or{" "}
          <Link to="/p/$project/traces" params={{ project: project.name }} search={{ agent }}>
            select traces
          </Link>
          .
        </span>
      </search>
      <Loaded query={found} what="traces">
        {(all) =>
          all.length === 0 ? (
            <Notice title="No trace has finished yet" />
          ) : (
            <RubricTrial source={source} traces={all} />
          )
        }
      </Loaded>
    </div>
  );
}

type Taken = Schemas["TrialTrace"];

const columnsOf = (money: ReturnType<typeof useMoney>): Column<Taken>[] => [
  { name: "trace", head: "Trace", cell: (it) => it.trace },
  {
    name: "calls",
    head: "Calls",
    about:
      "Calls to judges that the trace needs. The number can depend on the answers, for example in a decision tree.",
    book: "judges.html#cost",
    align: "end",
    cell: (it) => (it.least_calls === it.calls ? count(it.calls) : `${it.least_calls} to ${it.calls}`),
  },
  {
    name: "cost",
    head: "Cost at most",
    about: "Price of all these calls, with the longest reply that the judge may give.",
    book: "judges.html#cost",
    align: "end",
    cell: (it) => money(it.cost),
  },
];

/** The cost of a trial before anything is spent, and the button that starts it as a run. */
export function RubricTrial({ source, traces }: { source: string; traces: string[] }) {
  const project = useProject();
  const navigate = useNavigate();
  const money = useMoney();
  const [typed, setTyped] = useState("");
  const judge = useDebounced(typed.trim()) || undefined;
  const body = { source, traces, judge };
  const price = useQuery(trialPriceQuery(project.id, body));
  const isOld = price.isPlaceholderData || typed.trim() !== (judge ?? "");
  const judges = useQuery(judgesQuery(project.id));
  const trying = useMutation({
    mutationFn: () => unwrap(api(project.id).POST("/api/v1/rubrics/try", { body: { ...body, spend: true } })),
    onSuccess: (it) =>
      navigate({ to: "/p/$project/runs/$run", params: { project: project.name, run: it.id ?? "" } }),
  });
  return (
    <section className={styles.try} aria-label="Cost of the trial">
      <div className={styles.narrow}>
        <Field
          label="Judge"
          hint="Default: the default judge of the server."
          list="judges"
          value={typed}
          onChange={(it) => setTyped(it.target.value)}
        />
        <datalist id="judges">
          {judges.data?.map((it) => (
            <option key={it.name} value={it.name} />
          ))}
        </datalist>
      </div>
      <Loaded query={price} what="the cost">
        {({ calls, cost, judges: asked, per_trace }) => (
          <>
            <p role="status">
              {plural(traces.length, "trace")}, at most {plural(calls, "call")} of{" "}
              {asked.join(", ") || "no judge"},{" "}
              {calls === 0 ? (
                "no cost"
              ) : cost == null ? (
                "unknown cost: the judge has no price"
              ) : (
                <>
                  at most about <b>{money(cost)}</b>
                </>
              )}
              . Nothing is spent until you start the trial.
            </p>
            <details>
              <summary>Cost by trace</summary>
              <Table
                caption="Calls and cost of each trace"
                columns={columnsOf(money)}
                rows={per_trace}
                keyOf={(it) => it.trace}
              />
            </details>
            {may(project, "write") ? (
              <div className={styles.line}>
                <Button look="main" onClick={() => trying.mutate()} disabled={trying.isPending || isOld}>
                  {trying.isPending
                    ? "Starting…"
                    : cost == null
                      ? "Start trial (cost unknown)"
                      : `Start trial (up to ${money(cost)})`}
                </Button>
              </div>
            ) : (
              <p className={styles.soft}>You need a role with the permission write to start a trial.</p>
            )}
            <FormError error={trying.error} />
          </>
        )}
      </Loaded>
    </section>
  );
}
