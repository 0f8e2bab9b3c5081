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

const TRIAL = / \[trial (\d+) of \d+\]$/;

/** The name of the case that a trial belongs to. */
export const withoutTrial = (name: string): string => name.replace(TRIAL, "");

/** The name that all trials of a case share. Without a trial, what looks like one is written in the file. */
export const nameOfAllTrials = ({ case: name, trial }: NamedCase): string =>
  trial == null ? name : withoutTrial(name);

/** What the server adds to a name: always a row or a prompt before the brackets of targets and models. */
const VARIANT = / \[(?:row|prompt) \d+\](?: \[[^[\]]+\])*$/;

/** A name without its parts, as comparisons have it. Brackets that may be written in the file stay in the name. */
export function tagWrittenName(name: string): TaggedName {
  const trial = TRIAL.exec(name)?.[1];
  const whole = withoutTrial(name);
  const variant = VARIANT.exec(whole)?.[0] ?? "";
  const tags = [...variant.matchAll(/\[([^[\]]+)\]/g)].map((match) => match[1] ?? "");
  return {
    base: whole.slice(0, whole.length - variant.length),
    tags: trial === undefined ? tags : [...tags, `trial ${trial}`],
  };
}

/** `4 cases`; `2 cases, 6 trials` where cases were repeated. */
export function countCases(names: string[]): string {
  const nCases = new Set(names.map(withoutTrial)).size;
  const nTrials = names.some((name) => TRIAL.test(name)) ? `, ${plural(names.length, "trial")}` : "";
  return `${plural(nCases, "case")}${nTrials}`;
}

function addTags({ case: name, trial, parts }: NamedCase, variant: string[]): TaggedName {
  // Earlier versions of Jurist wrote the name alone.
  if (!parts) return { base: name, tags: [] };
  const row = parts.row == null ? [] : [`row ${parts.row}`];
  const ofTrial = trial == null ? [] : [`trial ${trial}`];
  return { base: parts.written, tags: [...row, ...variant, ...ofTrial] };
}
