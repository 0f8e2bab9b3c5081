import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ChangeEvent, useEffect, useId, useState } from "react";
import { may, useProject } from "../api/session";
import { distanceText, percent } from "../chart/figures";
import { type Cap, formatMoney } from "../money/format";
import { spendQuery } from "../money/queries";
import { useScoreScale } from "../rubrics/scales";
import { Button } from "../ui/Button";
import { FormError } from "../ui/Form";
import { count } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { type Column, Table } from "../ui/Table";
import { type Explanation, Term } from "../ui/Term";
import { withRate } from "./fileEdits";
import { useApplyMonitor } from "./MonitorFile";
import styles from "./Monitors.module.css";
import { type Monitor, type Projected, type Projection, projectionQuery } from "./queries";

/** Milliseconds without movement until the slider sends a request. */
const PAUSE = 150;

/** The sample rate, with the cost and precision of another one. */
export function Sampling({ monitor }: { monitor: Monitor }) {
  const project = useProject();
  const id = useId();
  const search = useSearch({ from: "/p/$project/monitors/$monitor" });
  const navigate = useNavigate({ from: "/p/$project/monitors/$monitor" });
  const asked = search.rate ?? monitor.sample_rate;
  // The position of the slider until the address has it.
  const [held, setHeld] = useState<number>();
  const rate = held ?? asked;
  useEffect(() => {
    if (held === undefined) return;
    if (held === asked) return setHeld(undefined);
    const timer = setTimeout(
      () => navigate({ search: (it) => ({ ...it, rate: held }), replace: true, resetScroll: false }),
      PAUSE,
    );
    return () => clearTimeout(timer);
  }, [held, asked, navigate]);
  const found = useQuery({
    ...projectionQuery(project.id, monitor.name, asked),
    placeholderData: keepPreviousData,
  });
  const set = (it: ChangeEvent<HTMLInputElement>) => setHeld(Number(it.target.value) / 100);
  return (
    <section className={styles.part}>
      <h2>Sample rate</h2>
      <div className={styles.dial}>
        <label htmlFor={id}>
          Sample rate of finished traces
          <output htmlFor={id}>{percent(rate)}</output>
        </label>
        <input
          id={id}
          type="range"
          min={1}
          max={100}
          step={1}
          value={Math.round(100 * rate)}
          aria-valuetext={percent(rate)}
          onChange={set}
        />
      </div>
      <Loaded query={found} what="the projection">
        {(it) => <SamplingProjection projection={it} rubric={monitor.version.rubric_version} />}
      </Loaded>
      {may(project, "write") && <ApplySampleRate monitor={monitor} rate={rate} />}
    </section>
  );
}

type SamplingProjectionProps = {
  projection: Projection;
  /** Id of the version of the monitor's rubric. */
  rubric: string;
};

function SamplingProjection({ projection, rubric }: SamplingProjectionProps) {
  const project = useProject();
  const scale = useScoreScale(rubric);
  const cap = useQuery(spendQuery(project.id)).data?.cap;
  type Row = { name: string; help: Explanation; said: (it: Projected) => string };
  const rows: Row[] = [
    {
      name: "Traces per month",
      help: { about: "Expected number of finished traces that the filter of the monitor lets through." },
      said: (it) => count(Math.round(it.traces_a_month)),
    },
    {
      name: "Judged per month",
      help: {
        about: "Expected number of traces that the judge grades. Failed traces are always among them.",
        entry: "sample-rate",
      },
      said: (it) => count(Math.round(it.judged_a_month)),
    },
    {
      name: "Cost per month",
      help: {
        about: "Expected cost of the judge calls, with an 80 % prediction interval.",
        book: "money.html#the-forecast",
      },
      said: (it) => costOf(it, cap),
    },
    {
      name: "Precision of the score",
      help: {
        about:
          "Half-width of the 95 % confidence interval of the estimated score, on the scale of the rubric, where it has one, and from 0 to 1.",
        entry: "confidence-interval",
      },
      said: (it) => widthOf(it.half_width.score, (one) => distanceText(one, scale, 3)),
    },
    {
      name: "Precision of the pass rate",
      help: {
        about: "Half-width of the 95 % confidence interval of the estimated pass rate.",
        entry: "confidence-interval",
      },
      said: (it) => widthOf(it.half_width.pass_rate, percent),
    },
  ];
  const columns: Column<Row>[] = [
    { name: "what", head: "Projection", cell: (it) => <Term {...it.help}>{it.name}</Term> },
    {
      name: "now",
      head: `Now, at ${percent(projection.now.sample_rate)}`,
      about: "Expected figures at the sample rate of the monitor.",
      entry: "sample-rate",
      align: "end",
      cell: (it) => it.said(projection.now),
    },
    {
      name: "then",
      head: `At ${percent(projection.sample_rate)}`,
      about: "Expected figures at the sample rate of the slider.",
      entry: "sample-rate",
      align: "end",
      cell: (it) => <b>{it.said(projection)}</b>,
    },
  ];
  return (
    <>
      <div className={styles.dial}>
        <Table
          caption="Projection for the sample rate"
          columns={columns}
          rows={rows}
          keyOf={(it) => it.name}
        />
      </div>
      <p className={styles.soft}>
        Computed from the traffic, prices and score variance of the last 30 days. The cost range is an 80 %
        interval; precision is the half-width of the 95 % confidence interval. Failed traces are always
        judged. Pacing and budget caps can lower the cost.
      </p>
    </>
  );
}

function costOf({ cost }: Projected, cap: Cap | null | undefined): string {
  if (!cost) return "unknown";
  const value = formatMoney(cost.value, cap);
  if (cost.low == null || cost.high == null) return value;
  return `${value}, ${formatMoney(cost.low, cap)} to ${formatMoney(cost.high, cap)}`;
}

const widthOf = (it: number | null | undefined, say: (it: number) => string): string =>
  it == null ? "unknown" : `± ${say(it)}`;

/** Writes the rate into the file; the series of estimates continues. */
function ApplySampleRate({ monitor, rate }: { monitor: Monitor; rate: number }) {
  const applying = useApplyMonitor(() => {});
  const source = withRate(monitor.version.source, rate);
  if (Math.abs(rate - monitor.sample_rate) < 0.0005) {
    return <p className={styles.soft}>Move the slider to see cost and precision at another sample rate.</p>;
  }
  return (
    <>
      <div className={styles.line}>
        <Button
          look="main"
          disabled={source === null || applying.isPending}
          onClick={() => source !== null && applying.mutate({ name: monitor.name, source })}
        >
          {applying.isPending ? "Applying…" : `Set sample rate to ${percent(rate)}`}
        </Button>
        {source === null && (
          <span className={styles.soft}>The file is JSON: change the rate in the File tab.</span>
        )}
      </div>
      <FormError error={applying.error} />
    </>
  );
}
