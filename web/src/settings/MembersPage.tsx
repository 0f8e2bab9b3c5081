import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { sessionQuery, useProject } from "../api/session";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { Select } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { ErrorNotice, Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import { type Column, Table } from "../ui/Table";
import { useToast } from "../ui/Toast";
import { membersQuery } from "./queries";
import { OneTimeSecret, SettingsLayout } from "./SettingsLayout";
import styles from "./SettingsLayout.module.css";

type Member = Schemas["MemberView"];

const ROLES = [
  { value: "annotator", label: "annotator: works on annotation tasks" },
  { value: "viewer", label: "viewer: sees everything, changes nothing" },
  { value: "member", label: "member: works with traces, rubrics and runs" },
  { value: "owner", label: "owner: also manages members, API tokens and the budget" },
];

export function MembersPage() {
  const project = useProject();
  const members = useQuery(membersQuery(project.id));
  const session = useQuery(sessionQuery);
  const [inviting, setInviting] = useState(false);
  return (
    <SettingsLayout>
      <div className={styles.line}>
        <h2>Members of {project.name}</h2>
        {session.data?.account && (
          <Button look="main" onClick={() => setInviting(true)}>
            Invite member
          </Button>
        )}
      </div>
      <Loaded query={members} what="members">
        {(all) => (all.length === 0 ? <NoMembers /> : <MemberTable members={all} />)}
      </Loaded>
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </SettingsLayout>
  );
}

function NoMembers() {
  return (
    <Notice title="No members">
      <p>
        This server runs without accounts. Start it with <code>jurist serve --auth</code> to use accounts and
        roles.
      </p>
    </Notice>
  );
}

function MemberTable({ members }: { members: Member[] }) {
  const project = useProject();
  const session = useQuery(sessionQuery);
  const queries = useQueryClient();
  const toast = useToast();
  const [removing, setRemoving] = useState<Member | null>(null);
  const again = () => queries.invalidateQueries({ queryKey: ["members", project.id] });
  const setRole = useMutation({
    mutationFn: ({ account, role }: { account: string; role: string }) =>
      unwrap(
        api(project.id).PUT("/api/v1/members/{account}", { params: { path: { account } }, body: { role } }),
      ),
    onSuccess: () => toast("Role changed."),
    onSettled: again,
  });
  const remove = useMutation({
    mutationFn: (account: string) =>
      unwrap(api(project.id).DELETE("/api/v1/members/{account}", { params: { path: { account } } })),
    onSuccess: () => {
      toast(`${removing?.name} removed from the project.`);
      setRemoving(null);
    },
    onSettled: again,
  });
  const me = session.data?.account?.id;
  const columns: Column<Member>[] = [
    { name: "name", head: "Name", cell: (it) => (it.account === me ? `${it.name} (you)` : it.name) },
    { name: "email", head: "E-mail address", cell: (it) => it.email, wide: true },
    {
      name: "role",
      head: "Role",
      cell: (it) => (
        <Select
          label={`Role of ${it.name}`}
          bare
          value={it.role}
          disabled={it.account === me}
          options={ROLES.map((role) => ({ value: role.value, label: role.value }))}
          onChange={(event) => setRole.mutate({ account: it.account, role: event.target.value })}
        />
      ),
    },
    {
      name: "remove",
      head: <span className="visually-hidden">Remove</span>,
      align: "end",
      cell: (it) =>
        it.account !== me && (
          <Button look="quiet" onClick={() => setRemoving(it)} aria-label={`Remove ${it.name}`}>
            Remove
          </Button>
        ),
    },
  ];
  return (
    <>
      {setRole.error && <ErrorNotice error={setRole.error} />}
      <Table caption="Members" columns={columns} rows={members} keyOf={(it) => it.account} />
      {removing && (
        <Dialog title={`Remove ${removing.name}?`} onClose={() => setRemoving(null)}>
          <p>This person loses access to the project. Grades by this person are kept.</p>
          {remove.error && <ErrorNotice error={remove.error} />}
          <div className={styles.line}>
            <Button look="danger" onClick={() => remove.mutate(removing.account)} disabled={remove.isPending}>
              Remove
            </Button>
            <Button onClick={() => setRemoving(null)}>Keep</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function InviteDialog({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const [entered, bind] = useFields({ role: "annotator" });
  const invite = useMutation({
    mutationFn: () => unwrap(api(project.id).POST("/api/v1/invitations", { body: entered })),
  });
  if (invite.data) {
    const link = `${location.origin}${invite.data.path}`;
    return (
      <Dialog title="Invitation" onClose={onClose}>
        <OneTimeSecret
          secret={link}
          about="Send this link to one person. It works once, expires after one day and is not shown again."
        />
        <div className={styles.line}>
          <CopyButton text={link} />
          <Button onClick={onClose}>Done</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Invite member" onClose={onClose}>
      <Form asked={invite} does="Create link">
        <Select label="Role" options={ROLES} {...bind("role")} />
      </Form>
    </Dialog>
  );
}
