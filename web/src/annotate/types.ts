// What an annotation task needs, as plain data: a proposal for what the API will deliver and take.
// Once the API has it, these come from its description like all others.
import type { Quote } from "../traces/view/marks";
import type { Trace } from "../traces/view/parts";

/** One thing to annotate, for one person. */
export type Item = {
  id: string;
  task?: string;
  /** Markup in it is text, like everything else of an item. */
  text?: string;
  trace?: Trace;
  /** For comparisons: as many as the scheme has labels, in the order they are shown in. */
  candidates?: Candidate[];
  /** Whether it teaches: what was expected is told once it is submitted. */
  training?: boolean;
};

export type Candidate = { label: string; text?: string; trace?: Trace };

/** One question, or several that belong together. */
export type Scheme = { name: string; description?: string; required: boolean } & SchemeKind;

export type SchemeKind =
  | {
      kind: "rubric";
      criteria: Criterion[];
      /** A rating of the whole; not part of the weighted score. */
      overall?: Criterion;
      notes?: { label: string; placeholder?: string };
      /** Whether the annotator sees the weighted score as it grows. */
      shows_score: boolean;
    }
  | {
      kind: "trajectory";
      /** Which steps are marked, from 1. */
      steps: number[];
      /** The first one means correct. */
      marks: string[];
      errors: { category: string; types: string[] }[];
      severities: { name: string; weight: number }[];
      /** What the running score starts at. */
      initial: number;
    }
  | { kind: "pairwise"; labels: string[]; tie_label?: string }
  | { kind: "choice"; labels: string[]; many: boolean; dropdown: boolean }
  | { kind: "likert"; size: number; min_label?: string; max_label?: string }
  | { kind: "text"; multiline: boolean; placeholder?: string }
  | { kind: "verify"; claims: Claim[] };

export type KindOf<Kind extends SchemeKind["kind"]> = Scheme & Extract<SchemeKind, { kind: Kind }>;

export type Criterion = {
  name: string;
  label: string;
  description?: string;
  weight: number;
  /** The scale, lowest first. */
  points: Point[];
  /** Whether it may be said not to apply, or not to be decidable. */
  may_skip: boolean;
};

export type Point = {
  value: number | boolean | string;
  /** What every criterion calls it, such as Good. */
  label?: string;
  /** What it means for this criterion. */
  text?: string;
};

/** What a judge said about one branch, one claim or one requirement; a person confirms or corrects it. */
export type Claim = {
  id: string;
  criterion: string;
  label: string;
  text?: string;
  said: Rating;
  reason?: string;
  evidence?: Quote[];
  /** The scale, lowest first. */
  points?: Point[];
};

/** What is said about one claim; a corrected one needs a rating. */
export type Checked = { verdict?: "confirmed" | "corrected"; rating?: Rating; comment?: string };

/** What is said about one criterion; without a rating it is not answered. */
export type Rated = { rating?: Rating; comment?: string; evidence?: Quote[] };
export type Rating =
  | { kind: "scored"; value: Point["value"] }
  | { kind: "not_applicable" }
  | { kind: "abstained" };

/** What is said about one step. */
export type Marked = { mark?: string; error?: string; severity?: string; rationale?: string };

export type Answer =
  | { kind: "rubric"; criteria: Record<string, Rated>; overall?: Rated; notes?: string }
  | { kind: "trajectory"; steps: Record<string, Marked> }
  | { kind: "pairwise"; label?: string }
  | { kind: "choice"; labels: string[] }
  | { kind: "likert"; value?: number }
  | { kind: "text"; text: string }
  | { kind: "verify"; claims: Record<string, Checked> };

export type AnswerOf<Kind extends Answer["kind"]> = Extract<Answer, { kind: Kind }>;

/** Everything that was entered so far, by scheme; what is saved by itself, and what is submitted. */
export type Draft = Record<string, Answer>;

/** A task as lists show it. */
export type Task = {
  id: string;
  name: string;
  description?: string;
  state: "open" | "closed";
  created: string;
  progress: { n_items: number; n_done: number; n_wanted: number; n_submitted: number };
  mine: { done: number; left: number | null };
  may: { annotate: boolean; manage: boolean };
};

export type TaskInFull = Task & { schemes: Scheme[]; settings: Settings };

/** Answers that somebody knows beforehand. */
export type Known = { item: string; answers: Record<string, unknown>; why?: string; tolerance?: number };

export type Settings = {
  /** Absent: everybody answers everything. */
  annotators_per_item?: number;
  /** A share of the items that more people see. */
  overlap?: number;
  overlap_annotators?: number;
  /** Items for each person, at most. */
  quota?: number;
  stale_minutes: number;
  back_navigation: boolean;
  shows_score: boolean;
  shows_descriptions: boolean;
  training?: Known[];
  gold?: Known[];
  attention?: Known[];
  min_seconds?: number;
  completion_code?: string;
};

/** What one person has before them. */
export type Work = {
  assignment: string;
  task: { id: string; name: string; description?: string };
  item: Item;
  schemes: Scheme[];
  draft: Draft;
  revision: number;
  state: "assigned" | "submitted";
  progress: { done: number; left: number | null };
  before?: string;
  after?: string;
  settings: Pick<Settings, "back_navigation" | "shows_score" | "shows_descriptions">;
};

/** Nothing more to do, and why. */
export type Done = { done: true; why: "finished" | "quota" | "closed" | "nothing_now"; code?: string };

export type Feedback = {
  right: boolean;
  rows: { scheme: string; row: string; expected: string; given: string; ok: boolean }[];
  why?: string;
};

export type Submitted = { feedback?: Feedback | null; pace?: string | null; next: boolean };

export type Right = { right: number; all: number };

/** How somebody works. */
export type Person = {
  account: string;
  name: string;
  n_done: number;
  median_seconds?: number | null;
  too_fast: number;
  gold: Right;
  attention: Right;
  training: Right;
  last?: string | null;
  /** The mean of their ratings on 0 to 1, in the first and the second half of their work. */
  drift?: { first: number; second: number } | null;
  warnings: string[];
};

/** A criterion of an item that people answered differently. */
export type Dispute = {
  item: string;
  candidate: string;
  title: string;
  scheme: string;
  criterion: string;
  label: string;
  disagreement: number;
  ratings: Rate[];
  /** The scale, lowest first. */
  points: Point[];
  decided?: Decision | null;
};

export type Rate = { account: string; name: string } & Rated;

export const CAUSES = ["guideline", "mistake", "ambiguous", "other"] as const;
export type Cause = (typeof CAUSES)[number];

export type Decision = {
  scheme: string;
  criterion: string;
  rating: Rating;
  by?: string | null;
  time: string;
  why?: string | null;
  cause?: Cause | null;
};

export type Answers = {
  item: Item;
  schemes: Scheme[];
  answers: { account: string; name: string; draft: Draft; seconds?: number; time: string }[];
  decisions: Decision[];
};

/** How far people agree, and judges with them. */
export type Agreement = {
  criteria: Agreed[];
  /** Who agrees with whom, by name. */
  pairs: {
    a: string;
    b: string;
    criterion: string;
    value?: number | null;
    n: number;
    undefined?: string | null;
  }[];
  /** What α would be without somebody. */
  people: { name: string; criterion: string; leave_out?: number | null; undefined?: string | null }[];
  judge: AgainstJudge[];
};

export type Agreed = {
  scheme: string;
  criterion: string;
  label: string;
  value?: number | null;
  interval?: [number, number] | null;
  /** Why there is no number. */
  undefined?: string | null;
  n_items: number;
  n_pairs: number;
};

export type AgainstJudge = {
  criterion: string;
  judge: string;
  kappa?: number | null;
  interval?: [number, number] | null;
  undefined?: string | null;
  /** Rows are what most people say, columns what the judge says. */
  confusion?: { labels: string[]; counts: number[][] } | null;
  disagreements: {
    item: string;
    candidate: string;
    judge: string;
    people: string[];
    reason?: string | null;
  }[];
};
