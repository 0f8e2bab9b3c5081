import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrap } from "../api/client";
import { sessionQuery } from "../api/session";
import { Field } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { Notice } from "../ui/Notice";
import { AuthLayout } from "./AuthLayout";
import { JoinByName } from "./JoinTask";

/** Joins by an invitation. It is the part of the address after `#`, which browsers do not send to the server. */
export function JoinPage() {
  const [invitation] = useState(() => location.hash.replace(/^#/, ""));
  const byTask = /^task=([^&]+)(?:&name=(.*))?$/.exec(invitation);
  const session = useQuery({ ...sessionQuery, retry: false });
  if (byTask?.[1]) return <JoinByName by={{ token: byTask[1] }} task={decodeName(byTask[2])} />;
  const account = session.data?.account;
  if (invitation && account) return <AcceptInvitation invitation={invitation} name={account.name} />;
  return <JoinProject invitation={invitation} />;
}

/** The name of the task in the link; a link can be cut or changed on its way. */
function decodeName(encoded: string | undefined): string | undefined {
  try {
    return encoded ? decodeURIComponent(encoded).slice(0, 200) : undefined;
  } catch {
    return undefined;
  }
}

/** A person who is signed in joins another project with that account. */
function AcceptInvitation({ invitation, name }: { invitation: string; name: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const accept = useMutation({
    mutationFn: () => unwrap(api(null).POST("/api/v1/session/projects", { body: { invitation } })),
    onSuccess: async () => {
      await queries.resetQueries({ queryKey: ["session"] });
      await navigate({ to: "/", replace: true });
    },
  });
  return (
    <AuthLayout title="Join" after="An invitation works once. To join with another account, sign out first.">
      <Form asked={accept} does={`Join as ${name}`} doing="Joining…">
        <p>You are signed in as {name}. You join the project with this account.</p>
      </Form>
    </AuthLayout>
  );
}

function JoinProject({ invitation }: { invitation: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [entered, bind] = useFields({ name: "", email: "", password: "" });
  const join = useMutation({
    mutationFn: () => unwrap(api(null).POST("/api/v1/join", { body: { invitation, ...entered } })),
    onSuccess: async () => {
      await queries.resetQueries({ queryKey: ["session"] });
      await navigate({ to: "/", replace: true });
    },
  });
  if (!invitation) {
    return (
      <AuthLayout title="Join">
        <Notice title="The link is incomplete">
          <p>
            An invitation link ends in <code>/join#…</code> and a long code. Copy the complete link, or{" "}
            <Link to="/sign-in">sign in</Link> if you have an account.
          </p>
        </Notice>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="Join" after="An invitation works once.">
      <Form asked={join} does="Join" doing="Joining…">
        <Field
          label="Your name"
          autoComplete="name"
          hint="Shown to other members."
          required
          maxLength={100}
          autoFocus
          {...bind("name")}
        />
        <Field label="E-mail address" type="email" autoComplete="username" required {...bind("email")} />
        <Field
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="At least ten characters."
          required
          minLength={10}
          {...bind("password")}
        />
      </Form>
    </AuthLayout>
  );
}
