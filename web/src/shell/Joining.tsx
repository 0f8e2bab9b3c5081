import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answered, api } from "../api/client";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { State } from "../ui/State";
import { Door, Fault } from "./Door";

/** By an invitation, which stands after `#` and so is never sent to the server as an address. */
export function Joining() {
  const invitation = location.hash.replace(/^#/, "");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const join = useMutation({
    mutationFn: () =>
      answered(api(null).POST("/api/v1/join", { body: { invitation, email, name, password } })),
    onSuccess: async () => {
      await queries.resetQueries({ queryKey: ["session"] });
      await navigate({ to: "/", replace: true });
    },
  });
  if (!invitation) {
    return (
      <Door title="Join">
        <State title="The link is not whole">
          <p>
            An invitation ends in <code>/join#…</code> with a long word. Copy all of it, or{" "}
            <Link to="/sign-in">sign in</Link> if you have an account.
          </p>
        </State>
      </Door>
    );
  }
  return (
    <Door title="Join" onSubmit={() => join.mutate()} after="Your invitation works once.">
      <Fault error={join.error} />
      <Field
        label="Your name"
        name="name"
        autoComplete="name"
        hint="As others will see it."
        required
        maxLength={100}
        autoFocus
        value={name}
        onChange={(it) => setName(it.target.value)}
      />
      <Field
        label="E-mail address"
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onChange={(it) => setEmail(it.target.value)}
      />
      <Field
        label="Password"
        type="password"
        name="password"
        autoComplete="new-password"
        hint="At least ten letters."
        required
        minLength={10}
        value={password}
        onChange={(it) => setPassword(it.target.value)}
      />
      <Button type="submit" look="main" disabled={join.isPending}>
        {join.isPending ? "Joining…" : "Join"}
      </Button>
    </Door>
  );
}
