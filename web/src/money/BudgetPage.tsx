import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { type Bar, BarChart } from "../chart/BarChart";
import { fixed } from "../chart/figures";
import { DAY_MS } from "../chart/scale";
import { monitorsQuery } from "../monitors/queries";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { N_CALLS, SPENT } from "../ui/explanations";
import { Field } from "../ui/Field";
import { Form, FormError, useFields } from "../ui/Form";
import { count, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { PageHead } from "../ui/PageHead";
import { ShortId } from "../ui/ShortId";
import { type Column, Table } from "../ui/Table";
import { Term } from "../ui/Term";
import { useToast } from "../ui/Toast";
import styles from "./Budget.module.css";
import { BudgetMeter } from "./BudgetMeter";
import { formatCap, formatMoney, monthBefore, monthName, PROJECTED_SPEND } from "./format";
import { type Spend, spendQuery } from "./queries";

/** The spend of one month: total, projection, cap and breakdown. */
export function BudgetPage() {
  const project = useProject();
  const { month } = useSearch({ from: "/p/$project/budget" });
  const spend = useQuery(spendQuery(project.id, month));
  return (
    <>
      <PageHead
        title="Budget"
        about="Cost of judge calls of this project, by month (UTC)."
        book="money.html"
      />
      <Loaded query={spend} what="the month">
        {(it) => <MonthBudget key={it.month} spend={it} />}
      </Loaded>
    </>
  );
}

function MonthBudget({ spend }: { spend: Spend }) {
  return (
    <div className={styles.parts}>
      <MonthNav spend={spend} />
      <MonthSummary spend={spend} />
      {spend.days.length === 0 ? (
        <Notice title="No spending in this month">
          <p>The cost of judge calls of runs and monitors appears here.</p>
        </Notice>
      ) : (
        <>
          <DailySpend spend={spend} />
          <SpendBreakdown spend={spend} />
        </>
      )}
    </div>
  );
}

/** Navigation between months. */
function MonthNav({ spend }: { spend: Spend }) {
  const navigate = useNavigate({ from: "/p/$project/budget" });
  const go = (month: string | undefined) => navigate({ search: { month } });
  const isOver = spend.elapsed >= 1;
  return (
    <nav className={styles.turn} aria-label="Months">
      <Button look="quiet" aria-label="Previous month" onClick={() => go(monthBefore(spend.month))}>
        ←
      </Button>
      <h2>{monthName(spend.month)}</h2>
      <span className={styles.soft}>{isOver ? "ended" : `${fixed(100 * spend.elapsed, 0)} % elapsed`}</span>
      {isOver && <Button onClick={() => go(undefined)}>This month</Button>}
    </nav>
  );
}

function MonthSummary({ spend }: { spend: Spend }) {
  const { cap, forecast } = spend;
  const money = (it: number) => formatMoney(it, cap);
  const share = !cap ? null : cap.dollars === 0 ? 1 : spend.spent / cap.dollars;
  return (
    <section className={styles.part} aria-label="Spend so far">
      <div className={styles.line}>
        <p className={styles.spent}>
          <b>{money(spend.spent)}</b>{" "}
          <Term {...SPENT}>
            {cap && share !== null
              ? `spent of ${formatCap(cap)} (${fixed(100 * share, 0)} %)`
              : "spent, no cap set"}
          </Term>
        </p>
        <CapButtons spend={spend} />
      </div>
      {cap && share !== null && <BudgetMeter spend={spend} share={share} dollars={cap.dollars} />}
      <ul className={styles.facts}>
        {forecast && (
          <li>
            <Term about={PROJECTED_SPEND} book="money.html#the-forecast">
              projected month-end spend
            </Term>{" "}
            <b>{money(forecast.expected)}</b>, 80 % interval {money(forecast.low)} to {money(forecast.high)}
          </li>
        )}
        {forecast?.reaches_cap && (
          <li className={styles.warning}>
            the cap will be reached on <b>{forecast.reaches_cap.slice(0, 10)}</b>; judging stops then
          </li>
        )}
        {!forecast && spend.no_forecast && <li>no projection yet: {spend.no_forecast}</li>}
        {spend.reserved > 0 && (
          <li>
            {money(spend.reserved)}{" "}
            <Term
              about="The most that the calls in progress can cost. It is not part of the spend; after each call the real cost replaces it."
              entry="cap"
            >
              reserved
            </Term>{" "}
            for calls in progress
          </li>
        )}
        {spend.assumed > 0 && (
          <li>
            {money(spend.assumed)} of it{" "}
            <Term about="Calls that ended without a report of their cost, for example because a worker stopped. The vendor may bill them, so they count as spent.">
              assumed
            </Term>{" "}
            for calls whose cost is unknown, at their maximum price
          </li>
        )}
        {cap && cap.currency !== "USD" && (
          <li>
            Exchange rate: 1 {cap.currency} = ${cap.rate}, fixed when the cap was set
          </li>
        )}
      </ul>
    </section>
  );
}

function CapButtons({ spend }: { spend: Spend }) {
  const project = useProject();
  const [open, setOpen] = useState<"set" | "lift" | null>(null);
  if (!may(project, "manage")) return null;
  return (
    <div className={styles.line}>
      <Button onClick={() => setOpen("set")}>{spend.cap ? "Change cap…" : "Set cap…"}</Button>
      {spend.cap && (
        <Button look="quiet" onClick={() => setOpen("lift")}>
          Remove cap…
        </Button>
      )}
      {open === "set" && <SetCapDialog spend={spend} onClose={() => setOpen(null)} />}
      {open === "lift" && <RemoveCapDialog onClose={() => setOpen(null)} />}
    </div>
  );
}

function useCapDone(text: string, onClose: () => void) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  return () => {
    toast(text);
    onClose();
    return queries.invalidateQueries({ queryKey: ["spend", project.id] });
  };
}

function SetCapDialog({ spend, onClose }: { spend: Spend; onClose: () => void }) {
  const project = useProject();
  const done = useCapDone("Cap saved. It applies from the next call on.", onClose);
  const [{ amount, currency, rate }, bind] = useFields({
    amount: spend.cap ? String(spend.cap.amount) : "50",
    currency: spend.cap?.currency ?? "GBP",
    rate: "",
  });
  const setting = useMutation({
    mutationFn: () => {
      const body = {
        amount: Number(amount),
        currency: currency.trim().toUpperCase(),
        rate: rate.trim() === "" ? undefined : Number(rate),
      };
      return unwrap(api(project.id).PUT("/api/v1/spend/cap", { body }));
    },
    onSuccess: done,
  });
  return (
    <Dialog title="Monthly cap" onClose={onClose}>
      <Form asked={setting} does="Save cap">
        <Field label="Amount" type="number" min={0} step="any" required {...bind("amount")} />
        <Field
          label="Currency"
          hint="ISO code, for example GBP."
          required
          maxLength={3}
          {...bind("currency")}
        />
        <Field
          label="Exchange rate to USD"
          hint="Default: the rate of the server."
          type="number"
          min={0}
          step="any"
          {...bind("rate")}
        />
        <p className={styles.soft}>A call that could exceed the cap is not made.</p>
      </Form>
    </Dialog>
  );
}

function RemoveCapDialog({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const done = useCapDone("Cap removed.", onClose);
  const lifting = useMutation({
    mutationFn: () => unwrap(api(project.id).DELETE("/api/v1/spend/cap")),
    onSuccess: done,
  });
  return (
    <Dialog title="Remove the cap?" onClose={onClose}>
      <p>Spending is then unlimited, and models without a known price may be called.</p>
      <FormError error={lifting.error} />
      <div className={styles.line}>
        <Button look="danger" onClick={() => lifting.mutate()} disabled={lifting.isPending}>
          Remove cap
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

function DailySpend({ spend }: { spend: Spend }) {
  const money = (it: number) => formatMoney(it, spend.cap);
  const rate = spend.cap?.rate ?? 1;
  const bars = daysOf(spend).map(
    (it): Bar => ({
      name: it.day,
      label: String(Number(it.day.slice(8))),
      // The axis has round numbers of the currency, not of dollars.
      value: it.spent / rate,
      tip: `${it.day}: ${money(it.spent)}, ${plural(it.n_calls, "call")}`,
    }),
  );
  type Day = Spend["days"][number];
  const columns: Column<Day>[] = [
    { name: "day", head: "Day", cell: (it) => it.day },
    { name: "spent", head: "Spent", ...SPENT, align: "end", cell: (it) => money(it.spent) },
    { name: "calls", head: "Calls", ...N_CALLS, align: "end", cell: (it) => count(it.n_calls) },
  ];
  return (
    <section className={styles.part}>
      <h2>By day</h2>
      <BarChart
        title="Spend by day"
        about={`${money(spend.spent)} on ${plural(spend.days.length, "day")}`}
        bars={bars}
        say={(it) => money(it * rate)}
        table={
          <Table
            caption="Spent by day"
            columns={columns}
            rows={[...spend.days].reverse()}
            keyOf={(it) => it.day}
          />
        }
      />
    </section>
  );
}

/** Every day from the first of the month to the last with spending; days without spending are 0. */
export function daysOf({ month, days }: Pick<Spend, "month" | "days">): Spend["days"] {
  const by = new Map(days.map((it) => [it.day, it]));
  const all: Spend["days"] = [];
  const last =
    days
      .map((it) => it.day)
      .sort()
      .at(-1) ?? "";
  for (let at = Date.parse(`${month}-01T00:00:00Z`); ; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    if (day > last) return all;
    all.push(by.get(day) ?? { day, spent: 0, n_calls: 0 });
  }
}

type Part = Spend["subjects"][number];

function SpendBreakdown({ spend }: { spend: Spend }) {
  const project = useProject();
  const monitors = useQuery(monitorsQuery(project.id));
  const monitorOf = (it: Part) => monitors.data?.find((one) => one.id === it.name || one.name === it.name);
  const subject = (it: Part) => {
    const monitor = monitorOf(it);
    if (monitor) {
      return (
        <Link to="/p/$project/monitors/$monitor" params={{ project: project.name, monitor: monitor.name }}>
          {monitor.name}
        </Link>
      );
    }
    if (it.name.startsWith("run_")) {
      return (
        <Link to="/p/$project/runs/$run" params={{ project: project.name, run: it.name }}>
          run <ShortId id={it.name} />
        </Link>
      );
    }
    return it.name;
  };
  return (
    <div className={styles.tables}>
      <SpendTable title="Run or monitor" parts={spend.subjects} spend={spend} name={subject} />
      <SpendTable title="Judge" parts={spend.judges} spend={spend} />
      <SpendTable title="Purpose" parts={spend.purposes} spend={spend} />
    </div>
  );
}

type SpendTableProps = { title: string; parts: Part[]; spend: Spend; name?: (it: Part) => React.ReactNode };

function SpendTable({ title, parts, spend, name = (it) => it.name }: SpendTableProps) {
  if (parts.length === 0) return null;
  const columns: Column<Part>[] = [
    { name: "name", head: title, cell: name },
    { name: "spent", head: "Spent", ...SPENT, align: "end", cell: (it) => formatMoney(it.spent, spend.cap) },
    { name: "calls", head: "Calls", ...N_CALLS, align: "end", cell: (it) => count(it.n_calls) },
  ];
  return (
    <Table
      caption={`Spent by ${title.toLowerCase()}`}
      columns={columns}
      rows={parts}
      keyOf={(it) => it.name}
    />
  );
}
