import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { answered, api } from "../api/client";
import { sessionQuery } from "../api/session";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { Door, Fault } from "./Door";

export function SignIn() {
  const { next } = useSearch({ from: "/sign-in" });
  const session = useQuery(sessionQuery);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useMutation({
    mutationFn: () => answered(api(null).POST("/api/v1/session", { body: { email, password } })),
    onSuccess: async () => {
      await queries.resetQueries({ queryKey: ["session"] });
      await navigate({ href: within(next), replace: true });
    },
  });
  const isIn = session.data !== undefined && signIn.isIdle;
  useEffect(() => {
    if (isIn) navigate({ href: within(next), replace: true });
  }, [isIn, next, navigate]);
  return (
    <Door
      title="Sign in"
      onSubmit={() => signIn.mutate()}
      after="No account? Whoever runs this server can send you a link by which you join."
    >
      <Fault error={signIn.error} />
      <Field
        label="E-mail address"
        type="email"
        name="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        onChange={(it) => setEmail(it.target.value)}
      />
      <Field
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(it) => setPassword(it.target.value)}
      />
      <Button type="submit" look="main" disabled={signIn.isPending}>
        {signIn.isPending ? "Signing in…" : "Sign in"}
      </Button>
    </Door>
  );
}

/** An address on this server, whatever the link said. */
export function within(next: string | undefined): string {
  return next?.startsWith("/") && !next.startsWith("//") && !next.startsWith("/\\") ? next : "/";
}
