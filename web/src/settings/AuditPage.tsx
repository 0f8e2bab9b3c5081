import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { useProject } from "../api/session";
import { Button } from "../ui/Button";
import { Loaded } from "../ui/Loaded";
import { MoreButton } from "../ui/MoreButton";
import { Notice } from "../ui/Notice";
import { ShortId } from "../ui/ShortId";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import { describeAction, describeDetails } from "./auditActions";
import { auditQuery, membersQuery } from "./queries";
import { SettingsLayout } from "./SettingsLayout";
import styles from "./SettingsLayout.module.css";

type Entry = Schemas["AuditEntryView"];

export function AuditPage() {
  const project = useProject();
  const search = useSearch({ from: "/p/$project/settings/audit" });
  const navigate = useNavigate({ from: "/p/$project/settings/audit" });
  const entries = useInfiniteQuery(auditQuery(project.id, search));
  const members = useQuery(membersQuery(project.id));
  const nameOf = (actor: string) =>
    actor === "anyone" ? "no account" : (members.data?.find((it) => it.account === actor)?.name ?? actor);
  const labelOf = (key: string, value: string) => (key === "action" ? describeAction(value) : nameOf(value));
  const only = (key: "actor" | "action", value: string) => (
    <Button
      look="tool"
      onClick={() => navigate({ search: { ...search, [key]: value } })}
      title={`Show only entries of: ${labelOf(key, value)}`}
    >
      {labelOf(key, value)}
    </Button>
  );
  const columns: Column<Entry>[] = [
    { name: "time", head: "Time", cell: (it) => <Time at={it.time} /> },
    { name: "action", head: "Action", cell: (it) => only("action", it.action) },
    { name: "actor", head: "Actor", cell: (it) => only("actor", it.actor) },
    { name: "target", head: "Target", cell: (it) => <AuditTarget target={it.target} />, wide: true },
    {
      name: "body",
      head: "Details",
      cell: (it) => describeDetails(it.body as Record<string, unknown> | null | undefined),
    },
  ];
  const chosen = Object.entries(search).filter((it) => it[1]);
  return (
    <SettingsLayout>
      <div className={styles.line}>
        <h2>Audit log</h2>
        {chosen.map(([key, value]) => (
          <Button key={key} onClick={() => navigate({ search: { ...search, [key]: undefined } })}>
            {labelOf(key, value)} ✕
          </Button>
        ))}
      </div>
      <Loaded query={entries} what="the audit log">
        {({ pages }) => {
          const rows = pages.flatMap((it) => it.items);
          if (rows.length > 0) {
            return (
              <>
                <Table
                  caption="Changes, the newest first"
                  columns={columns}
                  rows={rows}
                  keyOf={(it) => it.id}
                  stacked
                />
                <MoreButton query={entries} />
              </>
            );
          }
          if (chosen.length === 0) return <Notice title="No changes yet" />;
          return (
            <Notice
              title="No matching entries"
              action={<Button onClick={() => navigate({ search: {} })}>Show everything</Button>}
            />
          );
        }}
      </Loaded>
    </SettingsLayout>
  );
}

/** Ids that the server makes, such as `run_0190c4d27e1b7a3c9f50b8e6d1a24c7e`: the kind and the rest. */
const MADE_ID = /^([a-z]+)_(?:[a-z]+_)?[0-9a-f]{32}$/;

/** What an entry is about: a name, or the end of an id; runs have a page. */
export function AuditTarget({ target }: { target: string }) {
  const project = useProject();
  const kind = MADE_ID.exec(target)?.[1];
  if (kind === undefined) return <code>{target}</code>;
  if (kind !== "run") return <ShortId id={target} />;
  return (
    <Link to="/p/$project/runs/$run" params={{ project: project.name, run: target }}>
      run <ShortId id={target} />
    </Link>
  );
}
