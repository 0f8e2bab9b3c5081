import type { ReactNode } from "react";
import { Button } from "../ui/Button";
import { count } from "../ui/format";
import styles from "./CaseFilter.module.css";

export type CaseChoice<Name extends string> = {
  name: Name;
  label: string;
  /** The number of cases that it leaves, where it is known. */
  n?: number;
};

type CaseFilterProps<Name extends string> = {
  label: string;
  find: string;
  onFind: (find: string | undefined) => void;
  choices: CaseChoice<Name>[];
  chosen: Name | undefined;
  onChoose: (name: Name | undefined) => void;
  children?: ReactNode;
};

/** Filters cases by a part of their name, and by one of several buttons. */
export function CaseFilter<Name extends string>(props: CaseFilterProps<Name>) {
  const { label, find, onFind, choices, chosen, onChoose, children } = props;
  return (
    <search className={styles.filter} aria-label={label}>
      <input
        type="search"
        aria-label="Find a case"
        placeholder="Find a case"
        value={find}
        onChange={(event) => onFind(event.target.value || undefined)}
      />
      {choices.map((choice) => (
        <Button
          key={choice.name}
          look="quiet"
          aria-pressed={chosen === choice.name}
          // A chosen button stays usable, so that it can be released.
          disabled={choice.n === 0 && chosen !== choice.name}
          onClick={() => onChoose(chosen === choice.name ? undefined : choice.name)}
        >
          {choice.label} {choice.n !== undefined && count(choice.n)}
        </Button>
      ))}
      {children}
    </search>
  );
}
