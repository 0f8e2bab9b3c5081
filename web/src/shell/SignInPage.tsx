import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, unwrap } from "../api/client";
import { sessionQuery } from "../api/session";
import { Field } from "../ui/Field";
import { Form, useFields } from "../ui/Form";
import { AuthLayout } from "./AuthLayout";

export function SignInPage() {
  const { next } = useSearch({ from: "/sign-in" });
  const session = useQuery(sessionQuery);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [entered, bind] = useFields({ email: "", password: "" });
  const signIn = useMutation({
    mutationFn: () => unwrap(api(null).POST("/api/v1/session", { body: entered })),
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
    <AuthLayout title="Sign in" after="No account? Ask an owner of a project for an invitation link.">
      <Form asked={signIn} does="Sign in" doing="Signing in…">
        <Field
          label="E-mail address"
          type="email"
          autoComplete="username"
          required
          autoFocus
          {...bind("email")}
        />
        <Field
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          {...bind("password")}
        />
      </Form>
    </AuthLayout>
  );
}

/** Only addresses on this server; a link may contain any text. */
export function within(next: string | undefined): string {
  return next?.startsWith("/") && !next.startsWith("//") && !next.startsWith("/\\") ? next : "/";
}
