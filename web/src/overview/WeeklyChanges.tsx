import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useProject } from "../api/session";
import { distanceText } from "../chart/figures";
import { ScaledDifference } from "../chart/ScaledDifference";
import { ScaledScore } from "../chart/ScaledScore";
import { type Monitor, nameOf, windowQuery } from "../monitors/queries";
import { Badge } from "../ui/Badge";
import { plural } from "../ui/format";
import { ErrorNotice } from "../ui/Loaded";
import { LoadingNotice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import {
  type CriterionChange,
  changesOf,
  isFall,
  isSignificant,
  mostImportant,
  sortByFall,
  weeks,
} from "./criterionChanges";
import styles from "./Overview.module.css";

/** Rows that are shown; the pages of monitors show all. */
const MOST = 8;

/** Criteria that fell or rose: the last seven days compared with the seven before. */
export function WeeklyChanges({ monitors }: { monitors: Monitor[] }) {
  const project = useProject();
  const { before, after } = weeks();
  const asked = useQueries({
    queries: monitors.flatMap((it) => [
      windowQuery(project.id, it.name, before),
      windowQuery(project.id, it.name, after),
    ]),
  });
  const isWaiting = asked.some((it) => it.isPending);
  const wrong = asked.find((it) => it.error && !it.data);
  const moves = sortByFall(
    monitors.flatMap((it, at) => {
      const [old, now] = [asked[2 * at]?.data, asked[2 * at + 1]?.data];
      return old && now ? changesOf(it, old, now) : [];
    }),
  );
  return (
    <section className={styles.part} aria-labelledby="week">
      <h2 id="week">Last 7 days compared with the 7 days before</h2>
      {wrong?.error ? (
        <ErrorNotice error={wrong.error} onRetry={() => wrong.refetch()} />
      ) : isWaiting ? (
        <LoadingNotice what="weekly changes" />
      ) : (
        <ChangeTable moves={moves} />
      )}
    </section>
  );
}

function ChangeTable({ moves }: { moves: CriterionChange[] }) {
  const project = useProject();
  if (moves.length === 0) {
    return (
      <p className={styles.soft}>
        No comparison yet: both weeks need traces that were scored by the same rubric version.
      </p>
    );
  }
  const columns: Column<CriterionChange>[] = [
    {
      name: "criterion",
      head: "Criterion",
      cell: (it) => (
        <>
          <Link
            to="/p/$project/monitors/$monitor"
            params={{ project: project.name, monitor: it.monitor }}
            search={{ view: "trend", criterion: it.criterion ?? undefined }}
            title={`Show the trend in ${it.monitor}`}
          >
            {nameOf(it)}
          </Link>{" "}
          <span className={styles.soft}>{whose(it, moves)}</span>
        </>
      ),
    },
    {
      name: "before",
      head: "7 days before",
      about:
        "Estimated score of all traffic from 14 to 7 days ago; on the scale of the rubric, where it has one, and from 0 to 1.",
      entry: "score",
      align: "end",
      cell: (it) => <ScaledScore mean={it.before.mean} scale={it.scale} isMinor />,
      wide: true,
    },
    {
      name: "after",
      head: "Last 7 days",
      about:
        "Estimated score of all traffic of the last 7 days; on the scale of the rubric, where it has one, and from 0 to 1.",
      entry: "score",
      align: "end",
      cell: (it) => <ScaledScore mean={it.after.mean} scale={it.scale} isMinor />,
    },
    {
      name: "difference",
      head: "Difference",
      about:
        "Estimate of the last 7 days minus that of the 7 days before, with its 95 % confidence interval; on the scale of the rubric, where it has one, and from 0 to 1. It is significant if the interval excludes 0.",
      entry: "confidence-interval",
      align: "end",
      cell: (it) => <ScaledDifference difference={it.difference} interval={it.interval} scale={it.scale} />,
    },
    {
      name: "says",
      head: "Result",
      about: "The change is significant if the 95 % confidence interval of the difference excludes 0.",
      book: "explanation/intervals.html#comparisons",
      cell: (it) => <ChangeResult move={it} />,
    },
  ];
  const shown = mostImportant(moves, MOST);
  const hidden = moves.filter((it) => !shown.includes(it));
  return (
    <>
      <p>{headline(moves)}</p>
      <Table
        caption="Changes in the last 7 days"
        columns={columns}
        rows={shown}
        keyOf={(it) => `${it.monitor} ${it.criterion}`}
        stacked
      />
      {hidden.length > 0 && <p className={styles.soft}>{describeHidden(hidden)}</p>}
    </>
  );
}

function ChangeResult({ move }: { move: CriterionChange }) {
  if (!isSignificant(move)) return <span className={styles.soft}>not significant</span>;
  return isFall(move) ? <Badge tone="fail">↓ fell</Badge> : <Badge tone="pass">↑ rose</Badge>;
}

/** How many changes are not listed, and where they are. */
function describeHidden(hidden: CriterionChange[]): string {
  const kind = hidden.some(isSignificant) ? "" : ", not significant,";
  const is = hidden.length === 1 ? "is" : "are";
  return `${plural(hidden.length, "more change")}${kind} ${is} shown on the pages of the monitors.`;
}

/** The agents of a monitor; also its name where several monitors cover the same agent. */
function whose({ monitor, agents }: CriterionChange, all: CriterionChange[]): string {
  const isShared = all.some((it) => it.monitor !== monitor && it.agents.some((one) => agents.includes(one)));
  const told = agents.join(", ");
  return isShared ? `${told} (${monitor})` : told;
}

/** One sentence that names the significant drops. */
function headline(moves: CriterionChange[]): string {
  const fell = moves.filter((it) => isFall(it) && it.criterion !== null);
  if (fell.length === 0) {
    return moves.some(isFall)
      ? "The overall score fell significantly; no single criterion did."
      : "No significant drop.";
  }
  const told = fell
    .slice(0, 3)
    .map((it) => `${it.criterion} of ${whose(it, moves)} by ${distanceText(-it.difference, it.scale, 3)}`);
  const more = fell.length > 3 ? `, and ${fell.length - 3} more` : "";
  return `Significant drops: ${told.join(", ")}${more}.`;
}
