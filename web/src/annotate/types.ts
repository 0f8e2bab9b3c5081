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
  | { kind: "text"; multiline: boolean; placeholder?: string };

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
  | { kind: "text"; text: string };

export type AnswerOf<Kind extends Answer["kind"]> = Extract<Answer, { kind: Kind }>;

/** Everything that was entered so far, by scheme; what is saved by itself, and what is submitted. */
export type Draft = Record<string, Answer>;

/** Whether what was entered is on the server. */
export type Saved = "saved" | "saving" | "waiting";
