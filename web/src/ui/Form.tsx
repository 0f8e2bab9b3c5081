import type { UseMutationResult } from "@tanstack/react-query";
import { type ChangeEvent, type ReactNode, useState } from "react";
import { Problem, ServerGone } from "../api/client";
import { Button } from "./Button";
import { isLogged, ProblemDetails } from "./ErrorDetails";
import styles from "./Form.module.css";
import { capitalize } from "./format";

type FormProps = {
  /** The mutation that submitting the form starts. */
  asked: Pick<UseMutationResult<unknown, Error, void>, "mutate" | "error" | "isPending">;
  /** The label of the button, and its label while the request runs. */
  does: string;
  doing?: string;
  /** Whether a value is missing that the browser does not check. */
  isIncomplete?: boolean;
  children: ReactNode;
};

/** Fields and one button, with the error of the request between them. */
export function Form({ asked, does, doing = does, isIncomplete = false, children }: FormProps) {
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        asked.mutate();
      }}
    >
      {children}
      <FormError error={asked.error} />
      <Button type="submit" look="main" disabled={asked.isPending || isIncomplete}>
        {asked.isPending ? doing : does}
      </Button>
    </form>
  );
}

/** The error of a request in one line; below it the request id, if the server's log has the error. */
export function FormError({ error }: { error: Error | null }) {
  if (!error) return null;
  const text =
    error instanceof ServerGone ? "The server does not answer. Try again in a moment." : error.message;
  return (
    <div role="alert" className={styles.fault}>
      <p>{capitalize(text)}</p>
      {error instanceof Problem && isLogged(error) && <ProblemDetails problem={error} />}
    </div>
  );
}

type Entered = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The values of a form, and a function that binds a field to one of them. */
export function useFields<Values extends Record<string, string>>(blank: Values) {
  const [values, setValues] = useState(blank);
  const bind = (name: keyof Values & string) => ({
    name,
    value: values[name],
    onChange: (event: ChangeEvent<Entered>) => {
      const { value } = event.target;
      setValues((before) => ({ ...before, [name]: value }));
    },
  });
  return [values, bind] as const;
}
