import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { type Scope, useProject } from "../api/session";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { Field, Select } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { day } from "../ui/format";
import { ErrorNotice, Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { Time } from "../ui/Time";
import { useToast } from "../ui/Toast";
import { tokensQuery } from "./queries";
import { OneTimeSecret, SettingsLayout } from "./SettingsLayout";
import styles from "./SettingsLayout.module.css";

type Token = Schemas["TokenView"];

const SCOPES: { name: Scope; does: string }[] = [
  { name: "ingest", does: "send traces, no read access" },
  { name: "read", does: "read traces, runs, grades and rubrics" },
  { name: "annotate", does: "work on annotation tasks" },
  { name: "write", does: "start runs and change rubrics" },
  { name: "manage", does: "manage members, API tokens and the budget" },
];

export function TokensPage() {
  const project = useProject();
  const tokens = useQuery(tokensQuery(project.id));
  const [adding, setAdding] = useState(false);
  const add = (
    <Button look="main" onClick={() => setAdding(true)}>
      New API token
    </Button>
  );
  return (
    <SettingsLayout>
      <div className={styles.line}>
        <h2>API tokens</h2>
        {add}
      </div>
      <Loaded query={tokens} what="tokens">
        {(all) => {
          const programs = all.filter((it) => !it.scopes.some((scope) => scope.startsWith("join:")));
          if (programs.length > 0) return <TokenTable tokens={programs} />;
          return (
            <Notice title="No API tokens yet">
              <p>Programs that send traces or start runs authenticate with an API token.</p>
            </Notice>
          );
        }}
      </Loaded>
      {adding && <NewTokenDialog onClose={() => setAdding(false)} />}
    </SettingsLayout>
  );
}

/** Permissions in words; the token of an invitation link is for one task. */
const describeScopes = (scopes: string[]): string =>
  scopes.map((scope) => (scope.startsWith("task:") ? "annotate one task" : scope)).join(", ");

function TokenTable({ tokens }: { tokens: Token[] }) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  const [revoking, setRevoking] = useState<Token | null>(null);
  const revoke = useMutation({
    mutationFn: (id: string) =>
      unwrap(api(project.id).DELETE("/api/v1/tokens/{id}", { params: { path: { id } } })),
    onSuccess: () => {
      toast(`${revoking?.name} is revoked.`);
      setRevoking(null);
      return queries.invalidateQueries({ queryKey: ["tokens", project.id] });
    },
  });
  const columns: Column<Token>[] = [
    { name: "name", head: "Name", cell: (it) => it.name },
    {
      name: "scopes",
      head: "Permissions",
      cell: (it) => <span title={it.scopes.join(", ")}>{describeScopes(it.scopes)}</span>,
    },
    {
      name: "maker",
      head: "Created by",
      cell: (it) => it.made_by?.name ?? <span className={styles.muted}>no account</span>,
    },
    { name: "created", head: "Created", cell: (it) => <Time at={it.created} />, wide: true },
    {
      name: "used",
      head: "Last used",
      cell: (it) => (it.used ? <Time at={it.used} /> : <span className={styles.muted}>never</span>),
      wide: true,
    },
    { name: "state", head: "Expires", cell: (it) => <TokenExpiry token={it} />, wide: true },
    {
      name: "revoke",
      head: <span className="visually-hidden">Revoke</span>,
      align: "end",
      cell: (it) =>
        !it.revoked && (
          <Button look="quiet" onClick={() => setRevoking(it)} aria-label={`Revoke ${it.name}`}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <>
      <Table caption="Tokens" columns={columns} rows={tokens} keyOf={(it) => it.id} />
      {revoking && (
        <Dialog title={`Revoke ${revoking.name}?`} onClose={() => setRevoking(null)}>
          <p>Programs that use this token are refused from now on. This cannot be undone.</p>
          {revoke.error && <ErrorNotice error={revoke.error} />}
          <div className={styles.line}>
            <Button look="danger" onClick={() => revoke.mutate(revoking.id)} disabled={revoke.isPending}>
              Revoke
            </Button>
            <Button onClick={() => setRevoking(null)}>Keep</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function TokenExpiry({ token }: { token: Token }) {
  if (token.revoked) return <Badge>revoked</Badge>;
  if (!token.expires) return <span className={styles.muted}>never</span>;
  return new Date(token.expires) < new Date() ? <Badge>expired</Badge> : day(token.expires);
}

const LIVES = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "one year" },
  { value: "", label: "never" },
];

function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const queries = useQueryClient();
  const [{ name, days }, bind] = useFields({ name: "", days: "90" });
  const [scopes, setScopes] = useState<Scope[]>(["ingest"]);
  const add = useMutation({
    mutationFn: () => {
      const body = { name, scopes, days: days ? Number(days) : undefined };
      return unwrap(api(project.id).POST("/api/v1/tokens", { body }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["tokens", project.id] }),
  });
  if (add.data) {
    return (
      <Dialog title={add.data.name} onClose={onClose}>
        <OneTimeSecret
          secret={add.data.secret}
          about="The token is shown only once. Store it in a safe place."
        />
        <div className={styles.line}>
          <CopyButton text={add.data.secret} />
          <Button onClick={onClose}>Done</Button>
        </div>
      </Dialog>
    );
  }
  const toggle = (scope: Scope) =>
    setScopes((it) => (it.includes(scope) ? it.filter((other) => other !== scope) : [...it, scope]));
  return (
    <Dialog title="New API token" onClose={onClose}>
      <Form asked={add} does="Create" isIncomplete={scopes.length === 0}>
        <Field
          label="Name"
          hint="The program that uses it, for example CI or a collector."
          required
          maxLength={100}
          {...bind("name")}
        />
        <fieldset className={styles.scopes}>
          <legend>Permissions</legend>
          {SCOPES.map((it) => (
            <label key={it.name}>
              <input type="checkbox" checked={scopes.includes(it.name)} onChange={() => toggle(it.name)} />
              {it.name} <span>{it.does}</span>
            </label>
          ))}
        </fieldset>
        <Select label="Expires after" options={LIVES} {...bind("days")} />
      </Form>
    </Dialog>
  );
}
