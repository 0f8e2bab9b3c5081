// Types of questions and answers; see schemas/annotation.schema.json.

import type { Schemas } from "../api/client";
import type { components } from "../api/contract";

type Told = components["schemas"];

/** Absent values are omitted, never null. */
type Present<T> = T extends (infer One)[]
  ? Present<One>[]
  : T extends object
    ? { [Name in keyof T]: Present<Exclude<T[Name], null>> }
    : T;

/** One item to annotate. */
export type Item = Present<Told["Item"]>;
/** A word that is marked in the texts of an item. */
export type Keyword = NonNullable<Item["keywords"]>[number];
/** Further input of a judge, beside the task and the candidate. */
export type Given = Present<Told["Given"]>;
/** One question, or several that belong together. */
export type Scheme = Present<Told["Scheme"]>;
export type KindOf<Kind extends Scheme["kind"]> = Extract<Scheme, { kind: Kind }>;
/** A condition on the answer to another question. */
export type AnswerCondition = NonNullable<Scheme["shown_when"]>["conditions"][number];
export type Criterion = Present<Told["Criterion"]>;
/** One answer of a scale. */
export type Point = Present<Told["ScalePoint"]>;
/** What a judge said about one branch, one claim or one requirement; a person confirms or corrects it. */
export type Claim = Present<Told["Claim"]>;
export type Rating = Present<Told["Rating"]>;
/** The answer to one criterion; without a rating it is open. */
export type Rated = Present<Told["Rated"]>;
/** The mark of one step. */
export type Marked = Present<Told["Marked"]>;
/** The verdict on one claim; a corrected one needs a rating. */
export type Checked = Present<Told["Verified"]>;

/** Settings with defaults may be omitted in requests; in answers they are present. */
export type Settings = Present<Told["AnnotationSettings"]> &
  Required<
    Pick<
      Told["AnnotationSettings"],
      "stale_minutes" | "back_navigation" | "shows_score" | "shows_descriptions"
    >
  >;

type Whole<T> = T extends unknown ? Omit<T, Filled> & Required<Pick<T, Filled & keyof T>> : never;
type Filled = "criteria" | "steps" | "labels" | "text" | "claims";

export type Answer = Whole<Present<Told["Answer"]>>;
export type AnswerOf<Kind extends Answer["kind"]> = Extract<Answer, { kind: Kind }>;

/** All answers of an item by scheme; saved automatically, and submitted. */
export type Draft = Record<string, Answer>;

/** A task as lists show it. */
export type Task = Schemas["TaskLine"];
export type TaskInFull = Task & { schemes: Scheme[]; settings: Settings };

/** An assignment with its item. */
export type Work = Omit<Schemas["WorkShown"], "item" | "schemes" | "draft"> & {
  item: Item;
  schemes: Scheme[];
  draft: Draft;
};

/** No more items, and why. */
export type Done = Schemas["NoWork"];

export type Feedback = Omit<Schemas["TrainingFeedback"], "rows"> & { rows: Compared[] };
/** One answer beside what was expected. */
type Compared = { scheme: string; row: string; expected: string; given: string; ok: boolean };
export type Submitted = Omit<Schemas["SubmitAnswer"], "feedback"> & { feedback?: Feedback | null };

export type Right = Schemas["CorrectCount"];
/** Activity of an annotator. */
export type Person = Schemas["AnnotatorActivity"];

/** A criterion of an item that people answered differently. */
export type Dispute = Omit<Schemas["Dispute"], "ratings" | "points" | "decided"> & {
  ratings: Rate[];
  /** The scale, lowest first. */
  points: Point[];
  decided?: Decision | null;
};

export type Rate = { account: string; name: string } & Rated;

export const CAUSES = ["guideline", "mistake", "ambiguous", "other"] as const;
export type Cause = (typeof CAUSES)[number];
export type Decision = Omit<Schemas["DisputeDecision"], "rating" | "cause"> & {
  rating: Rating;
  cause?: Cause | null;
};

export type Answers = Omit<Schemas["ItemAnswers"], "item" | "schemes" | "answers" | "decisions"> & {
  item: Item;
  schemes: Scheme[];
};

/** Agreement between annotators, and with judges. */
export type Agreement = Schemas["TaskAgreement"];
export type Agreed = Schemas["CriterionAgreement"];
export type AgainstJudge = Schemas["JudgeAgreement"];
