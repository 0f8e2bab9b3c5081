import { useMutation, useQuery } from "@tanstack/react-query";
import { answered, api } from "../api/client";
import { may, useProject } from "../api/session";
import type { JudgeView } from "../api/soon";
import { percent } from "../chart/figures";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Fault } from "../ui/Form";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { duration } from "../ui/say";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import { Settings } from "./Settings";
import styles from "./Settings.module.css";

type Judge = JudgeView;

/** Who judges in this project, and whether they could. Keys stay with the server. */
export function JudgesPage() {
  const project = useProject();
  const judges = useQuery({
    queryKey: ["judges", project.id],
    queryFn: () => answered(api(project.id).GET("/api/v1/judges")),
  });
  return (
    <Settings>
      <h2>Judges</h2>
      <p className={styles.muted}>
        Those that monitors and rubrics name. Keys are in the server's environment and are never shown.
      </p>
      <Loaded query={judges} what="judges">
        {(all) =>
          all.length === 0 ? (
            <State title="No judges yet">
              <p>A monitor or a rubric that names one puts it here.</p>
            </State>
          ) : (
            <Judges all={all} />
          )
        }
      </Loaded>
    </Settings>
  );
}

function Judges({ all }: { all: Judge[] }) {
  const project = useProject();
  const columns: Column<Judge>[] = [
    { name: "judge", head: "Judge", cell: (it) => it.name },
    { name: "vendor", head: "Vendor", cell: (it) => it.vendor ?? "–", wide: true },
    {
      name: "key",
      head: "Key",
      cell: (it) => <Badge tone={it.has_key ? "pass" : "fail"}>{it.has_key ? "✓ there" : "✕ missing"}</Badge>,
    },
    {
      name: "price",
      head: "Price",
      cell: (it) => (it.is_priced ? "known" : <span className={styles.muted}>not known</span>),
      wide: true,
    },
    {
      name: "used",
      head: "Last used",
      cell: (it) => (it.last_used ? <Time at={it.last_used} /> : <span className={styles.muted}>never</span>),
      wide: true,
    },
    {
      name: "errors",
      head: "Errors",
      align: "end",
      cell: (it) => (it.error_rate == null ? "–" : percent(it.error_rate)),
    },
    ...(may(project, "manage")
      ? [
          {
            name: "ping",
            head: <span className="visually-hidden">Ping</span>,
            align: "end" as const,
            cell: (it: Judge) => <Ping judge={it.name} />,
          },
        ]
      : []),
  ];
  return <Table caption="Judges" columns={columns} rows={all} keyOf={(it) => it.name} />;
}

/** One call of a few tokens: does it answer? */
function Ping({ judge }: { judge: string }) {
  const project = useProject();
  const pinging = useMutation({
    mutationFn: () => answered(api(project.id).POST("/api/v1/judges/ping", { body: { judge } })),
  });
  const found = pinging.data;
  return (
    <div className={styles.ping}>
      <span role="status">
        {found && (
          <>
            <Badge tone={found.ok ? "pass" : "fail"}>
              {found.ok ? `✓ answered in ${duration(found.ms)}` : "✕ did not answer"}
            </Badge>{" "}
            {found.error}
          </>
        )}
      </span>
      <Fault error={pinging.error} />
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
