import { useMutation, useQuery } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { percent } from "../chart/figures";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { FormError } from "../ui/Form";
import { day, duration, money, plural } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { judgesQuery } from "./queries";
import { SettingsLayout } from "./SettingsLayout";
import styles from "./SettingsLayout.module.css";

type Judge = Schemas["JudgeShown"];

/** Who judges in this project, and whether they could. Keys stay with the server. */
export function JudgesPage() {
  const project = useProject();
  const judges = useQuery(judgesQuery(project.id));
  return (
    <SettingsLayout>
      <h2>Judges</h2>
      <p className={styles.muted}>
        Those that monitors name, or that were asked within thirty days. Keys are in the server's environment
        and are never shown.
      </p>
      <Loaded query={judges} what="judges">
        {(all) =>
          all.length === 0 ? (
            <Notice title="No judges yet">
              <p>A monitor that names one puts it here.</p>
            </Notice>
          ) : (
            <JudgeTable all={all} />
          )
        }
      </Loaded>
    </SettingsLayout>
  );
}

function JudgeTable({ all }: { all: Judge[] }) {
  const project = useProject();
  const columns: Column<Judge>[] = [
    {
      name: "judge",
      head: "Judge",
      cell: (it) => (
        <>
          {it.name} {it.is_default && <Badge>asked unless told</Badge>}
          {it.problem && <p className={styles.problem}>{it.problem}</p>}
        </>
      ),
    },
    { name: "key", head: "Key", cell: (it) => <JudgeKey of={it} /> },
    {
      name: "price",
      head: "A million tokens",
      cell: (it) =>
        it.price ? (
          `${money(it.price.input)} in, ${money(it.price.output)} out`
        ) : (
          <span className={styles.muted}>not known</span>
        ),
      wide: true,
    },
    {
      name: "monitors",
      head: "Monitors",
      cell: (it) => it.monitors.join(", ") || <span className={styles.muted}>–</span>,
      wide: true,
    },
    {
      name: "used",
      head: "Last used",
      cell: (it) => (it.last_used ? day(it.last_used) : <span className={styles.muted}>never</span>),
      wide: true,
    },
    {
      name: "errors",
      head: "Errors, 30 days",
      align: "end",
      cell: (it) =>
        it.error_rate == null ? "–" : `${percent(it.error_rate)} of ${plural(it.n_grades, "answer")}`,
      wide: true,
    },
    ...(may(project, "manage")
      ? [
          {
            name: "ping",
            head: <span className="visually-hidden">Ping</span>,
            align: "end" as const,
            cell: (it: Judge) => <PingButton judge={it.name} />,
          },
        ]
      : []),
  ];
  return <Table caption="Judges" columns={columns} rows={all} keyOf={(it) => it.name} />;
}

function JudgeKey({ of: { key } }: { of: Judge }) {
  if (key === "not_needed") return <span className={styles.muted}>needs none</span>;
  return (
    <Badge tone={key === "present" ? "pass" : "fail"}>{key === "present" ? "✓ there" : "✕ missing"}</Badge>
  );
}

/** One call of a few tokens: does it answer? */
function PingButton({ judge }: { judge: string }) {
  const project = useProject();
  const pinging = useMutation({
    mutationFn: () => unwrap(api(project.id).POST("/api/v1/judges/ping", { body: { judge } })),
  });
  const found = pinging.data;
  return (
    <div className={styles.ping}>
      <span role="status">
        {found && (
          <>
            <Badge tone={found.ok ? "pass" : "fail"}>
              {found.ok ? `✓ unwrap in ${duration(found.ms)}` : "✕ did not answer"}
            </Badge>{" "}
            {found.error}
            {found.is_structured === false && "It does not keep to the shape it is asked for."}
          </>
        )}
      </span>
      <FormError error={pinging.error} />
      <Button
        onClick={() => pinging.mutate()}
        disabled={pinging.isPending}
        aria-label={`Ping ${judge}`}
        title="A call of a few tokens"
      >
        {pinging.isPending ? "Asking…" : "Ping"}
      </Button>
    </div>
  );
}
