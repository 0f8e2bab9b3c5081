import { useMutation, useQuery } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";
import { may, useProject } from "../api/session";
import { percent } from "../chart/figures";
import { Badge } from "../ui/Badge";
import { BookLink } from "../ui/BookLink";
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

/** Judges of the project and whether they can be called. API keys stay on the server. */
export function JudgesPage() {
  const project = useProject();
  const judges = useQuery(judgesQuery(project.id));
  return (
    <SettingsLayout>
      <h2>Judges</h2>
      <p className={styles.muted}>
        Judges named by monitors or used in the last 30 days. The server reads API keys from{" "}
        <BookLink page="settings.html#keys-and-addresses-of-vendors">environment variables</BookLink> and
        never shows them. A judge without a price counts as free only if it is local; set prices in{" "}
        <BookLink page="settings.html#the-settings-file">the settings file</BookLink>.
      </p>
      <Loaded query={judges} what="judges">
        {(all) =>
          all.length === 0 ? (
            <Notice title="No judges yet">
              <p>A judge appears here when a monitor names it.</p>
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
          {it.name} {it.is_default && <Badge>default</Badge>}
          {it.problem && <p className={styles.problem}>{it.problem}</p>}
        </>
      ),
    },
    {
      name: "key",
      head: "API key",
      about: "Whether the server has the key of the vendor. The key itself is never shown.",
      book: "judges.html#which-model-judges",
      cell: (it) => <JudgeKey of={it} />,
    },
    {
      name: "price",
      head: "Price per million tokens",
      about:
        "US dollars for a million tokens of prompts and of replies. A model without a price does not run under a cap.",
      book: "money.html#the-cap",
      cell: (it) =>
        it.price ? (
          `${money(it.price.input)} in, ${money(it.price.output)} out`
        ) : (
          <span className={styles.muted}>unknown</span>
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
      about:
        "Share of the answers of the last 30 days that were missing or had the wrong form. They are never counted as scores.",
      book: "judges.html#when-a-judge-does-not-answer",
      align: "end",
      cell: (it) =>
        it.error_rate == null ? "–" : `${percent(it.error_rate)} of ${plural(it.n_grades, "answer")}`,
      wide: true,
    },
    ...(may(project, "manage")
      ? [
          {
            name: "ping",
            head: <span className="visually-hidden">Test</span>,
            align: "end" as const,
            cell: (it: Judge) => <PingButton judge={it.name} />,
          },
        ]
      : []),
  ];
  return <Table caption="Judges" columns={columns} rows={all} keyOf={(it) => it.name} />;
}

function JudgeKey({ of: { key } }: { of: Judge }) {
  if (key === "not_needed") return <span className={styles.muted}>not needed</span>;
  return (
    <Badge tone={key === "present" ? "pass" : "fail"}>{key === "present" ? "✓ set" : "✕ missing"}</Badge>
  );
}

/** Sends one call of a few tokens. */
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
              {found.ok ? `✓ answered in ${duration(found.ms)}` : "✕ did not answer"}
            </Badge>{" "}
            {found.error}
            {found.is_structured === false && "It does not follow the reply schema."}
          </>
        )}
      </span>
      <FormError error={pinging.error} />
      <Button
        onClick={() => pinging.mutate()}
        disabled={pinging.isPending}
        aria-label={`Test ${judge}`}
        title="Sends one call of a few tokens"
      >
        {pinging.isPending ? "Testing…" : "Test"}
      </Button>
    </div>
  );
}
