import type { Schemas } from "../api/client";
import { plural } from "../ui/format";
import styles from "./RunPage.module.css";

/** A case as results name it: the parts are absent if its name is as it is written. */
export type NamedCase = {
  case: string;
  trial?: number | null;
  parts?: { written: string; row?: number | null; variant?: string[] } | null;
};

/** A name as it is shown: row, prompt, target, model and trial are tags. */
export type TaggedName = { base: string; tags: string[] };

export function CaseName({ base, tags }: TaggedName) {
  return (
    <>
      {base}
      {tags.map((tag, at) => (
        <span key={at}>
          {" "}
          <span className={styles.tag}>{tag}</span>
        </span>
      ))}
    </>
  );
}

export const tagName = (named: NamedCase): TaggedName => addTags(named, named.parts?.variant ?? []);

/** The name without prompt, target and model, which cases of one row and trial share. */
export const tagTaskName = (named: NamedCase): TaggedName => addTags(named, []);

const TRIAL = / \[trial \d+ of \d+\]$/;

/** The name that all trials of a case share. Without a trial, what looks like one is written in the file. */
export const nameOfAllTrials = ({ case: name, trial }: NamedCase): string =>
  trial == null ? name : name.replace(TRIAL, "");

/** A case of a comparison, which has the number of the trial among the parts of the name. */
export const nameWithParts = (
  name: string,
  parts: Schemas["CaseNameView"] | null | undefined,
): NamedCase => ({ case: name, trial: parts?.trial, parts });

/** `4 cases`; `2 cases, 6 trials` where cases were repeated. */
export function countCases(named: NamedCase[]): string {
  const nCases = new Set(named.map(nameOfAllTrials)).size;
  const nTrials = named.some(({ trial }) => trial != null) ? `, ${plural(named.length, "trial")}` : "";
  return `${plural(nCases, "case")}${nTrials}`;
}

function addTags({ case: name, trial, parts }: NamedCase, variant: string[]): TaggedName {
  // Earlier versions of Jurist wrote the name alone.
  if (!parts) return { base: name, tags: [] };
  const row = parts.row == null ? [] : [`row ${parts.row}`];
  const ofTrial = trial == null ? [] : [`trial ${trial}`];
  return { base: parts.written, tags: [...row, ...variant, ...ofTrial] };
}
