import type { ReactNode } from "react";
import { percent } from "../chart/figures";
import type { Decision } from "../monitors/queries";
import { describeState, strataWords } from "../monitors/traceStates";
import { VersionScore } from "../rubrics/VersionScore";
import { duration, moment } from "../ui/format";
import styles from "./DecisionPath.module.css";
import type { Verdict } from "./gradeTable";

type Station = {
  name: string;
  told?: ReactNode;
  /** The outcome at this station; `ahead` was not reached. */
  went: "on" | "stopped" | "waits" | "broke" | "ahead";
};

const SPOKEN = {
  on: "",
  stopped: "stopped here",
  waits: "waiting here",
  broke: "failed here",
  ahead: "not reached",
};

/** The way of a trace from its end to its score, always with the same stations, so that it is visible where it stopped. */
export function stationsOf(it: Decision, finished?: string | null, verdict?: Verdict): Station[] {
  const { label } = describeState(it.state);
  const after = (time: string) =>
    finished ? `after ${duration(Math.max(0, Date.parse(time) - Date.parse(finished)))}` : moment(time);
  const isJudged = it.state === "scored" || it.state === "cached";
  const judged: Station = isJudged
    ? { name: it.state === "cached" ? "cached" : "judged", told: after(it.updated), went: "on" }
    : !it.is_sampled
      ? { name: "judged", went: "ahead" }
      : it.state === "judge_error"
        ? { name: label, told: after(it.updated), went: "broke" }
        : { name: label, went: it.judge_status === "pending" ? "waits" : "stopped" };
  return [
    { name: "finished", told: finished ? moment(finished) : undefined, went: "on" },
    {
      name: `${percent(it.probability)} probability`,
      told: strataWords[it.stratum] ?? it.stratum,
      went: "on",
    },
    it.is_sampled
      ? { name: "sampled", told: after(it.decided), went: "on" }
      : { name: label, went: "stopped" },
    // No worker has started: the trace waits for the judge.
    judged.name === "sampled" ? { ...judged, name: "waits" } : judged,
    isJudged
      ? {
          name: "scored",
          told: verdict && (
            <>
              <VersionScore version={verdict.rubric_version} score={verdict.score} /> {verdict.status}
            </>
          ),
          went: "on",
        }
      : { name: "scored", went: "ahead" },
  ];
}

export function DecisionPath({ label, stations }: { label: string; stations: Station[] }) {
  return (
    <ol className={styles.path} aria-label={label}>
      {stations.map((it, at) => (
        <li key={at} data-went={it.went}>
          <b>{it.name}</b>
          {it.told && <span>{it.told}</span>}
          {SPOKEN[it.went] && <span className="visually-hidden">{SPOKEN[it.went]}</span>}
        </li>
      ))}
    </ol>
  );
}
