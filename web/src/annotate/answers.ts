// Rules of answers: what is missing, what it scores. Pure functions.
import type {
  Answer,
  AnswerCondition,
  AnswerOf,
  Checked,
  Claim,
  Criterion,
  Draft,
  KindOf,
  Marked,
  Point,
  Rated,
  Rating,
  Scheme,
  Work,
} from "./types";

/** An empty answer. */
export function blank(scheme: Scheme): Answer {
  switch (scheme.kind) {
    case "rubric":
      return { kind: "rubric", criteria: {} };
    case "trajectory":
      return { kind: "trajectory", steps: {} };
    case "choice":
      return { kind: "choice", labels: [] };
    case "text":
      return { kind: "text", text: "" };
    case "verify":
      return { kind: "verify", claims: {} };
    default:
      return { kind: scheme.kind };
  }
}

/** The answer to a scheme, or a blank one: a draft of another kind is of an older task. */
export function answerOf<S extends Scheme>(scheme: S, draft: Draft): AnswerOf<S["kind"]> {
  const found = draft[scheme.name];
  return (found?.kind === scheme.kind ? found : blank(scheme)) as AnswerOf<S["kind"]>;
}

/** The name of the overall row. */
export const OVERALL = "overall quality of the whole";

/** What still has to be answered before this can be submitted: names of rows, numbers of steps, or the scheme. */
export function missing(scheme: Scheme, draft: Draft): string[] {
  switch (scheme.kind) {
    case "rubric": {
      if (!scheme.required) return [];
      const answer = answerOf(scheme, draft);
      // The overall rating is optional.
      return scheme.criteria.filter((it) => !answer.criteria[it.name]?.rating).map((it) => it.name);
    }
    case "trajectory": {
      if (!scheme.required) return [];
      const { steps } = answerOf(scheme, draft);
      return scheme.steps.filter((n) => !isMarked(scheme, steps[n])).map(String);
    }
    case "pairwise":
      return scheme.required && !answerOf(scheme, draft).label ? [scheme.name] : [];
    case "choice":
      return (scheme.required && answerOf(scheme, draft).labels.length === 0) || limitFault(scheme, draft)
        ? [scheme.name]
        : [];
    case "likert":
      return scheme.required && answerOf(scheme, draft).value === undefined ? [scheme.name] : [];
    case "slider":
      return scheme.required && answerOf(scheme, draft).value === undefined ? [scheme.name] : [];
    case "text":
      return (scheme.required && answerOf(scheme, draft).text.trim() === "") || limitFault(scheme, draft)
        ? [scheme.name]
        : [];
    case "verify": {
      if (!scheme.required) return [];
      const { claims } = answerOf(scheme, draft);
      const open = reachedClaims(scheme.claims, claims).filter(
        (claim) => !isChecked(claims[claim.id], claim),
      );
      return open.map((claim) => claim.id);
    }
  }
}

type Limits = NonNullable<KindOf<"text">["limits"]>;

/** Why an answer is outside of the limits of its question; undefined if it is within them. As `gaps` in core. */
export function limitFault(scheme: Scheme, draft: Draft): string | undefined {
  if (scheme.kind === "choice") {
    const n = answerOf(scheme, draft).labels.length;
    const isOpen = scheme.required && n === 0;
    const isWrong = !isOpen && !isWithin(scheme.limits, n);
    return isWrong ? `Choose ${limitWords(scheme.limits)}: ${n} chosen.` : undefined;
  }
  if (scheme.kind !== "text") return undefined;
  const n = countCharacters(answerOf(scheme, draft).text);
  const isWrong = n > 0 && !isWithin(scheme.limits, n);
  return isWrong ? `Write ${limitWords(scheme.limits)} characters: ${n} written.` : undefined;
}

const isWithin = ({ min = 0, max = Number.POSITIVE_INFINITY }: Limits = {}, n: number): boolean =>
  min <= n && n <= max;

/** Characters as the server counts them: code points, without white space at both ends. */
const countCharacters = (text: string): number => [...text.trim()].length;

function limitWords({ min, max }: Limits = {}): string {
  if (min === undefined) return `at most ${max}`;
  if (max === undefined) return `at least ${min}`;
  return min === max ? `exactly ${min}` : `${min} to ${max}`;
}

/** The limits of a question in words, such as “Choose 1 to 3” and “12 of 200 characters”. */
export function limitHint(
  { kind, limits }: KindOf<"choice"> | KindOf<"text">,
  text = "",
): string | undefined {
  if (limits?.min === undefined && limits?.max === undefined) return undefined;
  if (kind === "choice") return `Choose ${limitWords(limits)}`;
  const n = countCharacters(text);
  const atLeast = limits.min === undefined ? "" : `, at least ${limits.min}`;
  return limits.max === undefined
    ? `${n} characters${atLeast}`
    : `${n} of ${limits.max} characters${atLeast}`;
}

/** A wrong step needs a kind of error and a severity, where the task has them. */
export function isMarked(scheme: KindOf<"trajectory">, marked: Marked | undefined): boolean {
  if (!marked?.mark) return false;
  if (marked.mark === scheme.marks[0]) return true;
  return (
    (scheme.errors.length === 0 || !!marked.error) && (scheme.severities.length === 0 || !!marked.severity)
  );
}

/** A correction needs a rating; a claim that its parts decide needs none. */
export const isChecked = (checked: Checked | undefined, claim?: Claim): boolean =>
  claim?.from_parts === true ||
  (checked?.verdict === "confirmed" && claim?.said !== undefined) ||
  (checked?.verdict === "corrected" && checked.rating !== undefined);

/** The annotator's rating of a claim, if any. */
const ownRating = (claim: Claim, checked: Checked | undefined): Rating | undefined =>
  checked?.verdict === "confirmed" ? claim.said : checked?.verdict && checked.rating;

/** Claims that are asked about: all, except questions of a tree that no answer leads to. As `reached_claims` in core. */
export function reachedClaims(claims: Claim[], checked: Record<string, Checked>): Claim[] {
  const targets = new Set(claims.flatMap((claim) => Object.values(claim.leads ?? {})));
  const toVisit = claims.filter((claim) => !targets.has(claim.id));
  const reached = new Set<string>();
  for (let claim = toVisit.pop(); claim; claim = toVisit.pop()) {
    if (reached.has(claim.id)) continue;
    reached.add(claim.id);
    const answer = ownRating(claim, checked[claim.id]) ?? claim.said;
    const id = answer?.kind === "scored" ? claim.leads?.[branchOf(answer.value)] : undefined;
    const next = claims.find((it) => it.id === id);
    if (next) toVisit.push(next);
  }
  return claims.filter((claim) => reached.has(claim.id));
}

function branchOf(value: Point["value"]): string {
  if (typeof value === "string") return value;
  return value === true || (typeof value === "number" && value >= 0.5) ? "yes" : "no";
}

/** The result of the parts of a claim: the share that holds. Undefined while one is open. */
export function totalOfParts(
  claim: Claim,
  claims: Claim[],
  checked: Record<string, Checked>,
): Rating | undefined {
  const parts = claims.filter((it) => it.criterion === claim.criterion && it.id !== claim.id);
  const ratings = parts.map((part) => ownRating(part, checked[part.id]));
  if (ratings.some((rating) => !rating)) return undefined;
  if (ratings.some((rating) => rating?.kind === "abstained")) return { kind: "abstained" };
  const scored = ratings.filter((rating) => rating?.kind === "scored");
  if (scored.length === 0) return { kind: "not_applicable" };
  const held = scored.filter((rating) => rating?.kind === "scored" && rating.value === true);
  return { kind: "scored", value: held.length / scored.length };
}

/** The weighted score in the scale's own units: Σ rating · weight / Σ weight over what was rated with a number. */
export function weighted(scheme: KindOf<"rubric">, criteria: Record<string, Rated>): number | undefined {
  let [sum, weights] = [0, 0];
  for (const it of scheme.criteria) {
    const rating = criteria[it.name]?.rating;
    if (rating?.kind !== "scored" || typeof rating.value !== "number") continue;
    sum += rating.value * it.weight;
    weights += it.weight;
  }
  return weights > 0 ? sum / weights : undefined;
}

/** The remaining score; hidden until every step is marked, so that it does not influence the rest. */
export function runningScore(
  scheme: KindOf<"trajectory">,
  steps: Record<string, Marked>,
): number | undefined {
  if (scheme.steps.some((n) => !isMarked(scheme, steps[n]))) return undefined;
  let score = scheme.initial;
  for (const n of scheme.steps) {
    const severity = steps[n]?.mark === scheme.marks[0] ? undefined : steps[n]?.severity;
    score -= Math.abs(scheme.severities.find((it) => it.name === severity)?.weight ?? 0);
  }
  return Math.max(0, score);
}

/** The options for kinds of error; names that occur in two categories get the category as a prefix. */
export function kindsOf(
  { category, types }: KindOf<"trajectory">["errors"][number],
  all: KindOf<"trajectory">["errors"],
) {
  if (types.length === 0) return [{ value: category, label: words(category) }];
  return types.map((it) => {
    const isTwice = all.filter((other) => other.types.includes(it)).length > 1;
    return { value: isTwice ? `${category}::${it}` : it, label: words(it) };
  });
}

/** An identifier as words. */
export const words = (name: string): string => name.replaceAll("_", " ");

/** The title of a question. */
export const titleOf = (scheme: Pick<Scheme, "name" | "description">): string =>
  scheme.description ?? words(scheme.name);

/** The label of a row: a criterion, a step, a claim, or the question itself. */
export function labelOf(scheme: Scheme, row: string): string {
  if (scheme.kind === "trajectory") return `step ${row}`;
  if (scheme.kind === "verify") return scheme.claims.find((it) => it.id === row)?.label ?? row;
  return criterionOf(scheme, row)?.label ?? `“${titleOf(scheme)}”`;
}

function criterionOf(scheme: Scheme, row: string): Criterion | undefined {
  if (scheme.kind !== "rubric") return undefined;
  const found = scheme.criteria.find((it) => it.name === row);
  return found ?? (row === OVERALL || row === "overall" ? scheme.overall : undefined);
}

/** A point of a scale as text. */
export function said(value: Point["value"]): string {
  if (value === true) return "yes";
  return value === false ? "no" : String(value);
}

/** A rating in words, with the label of its scale. */
export function inWords(rating: Rating | undefined, points: Point[] = []): string {
  if (!rating) return "not rated";
  if (rating.kind === "not_applicable") return "not applicable";
  if (rating.kind === "abstained") return "undecidable";
  const label = points.find((it) => it.value === rating.value)?.label;
  return label ? `${said(rating.value)} (${label})` : said(rating.value);
}

export const isSame = (a: Rating | undefined, b: Rating | undefined): boolean =>
  a?.kind === b?.kind && (a?.kind !== "scored" || b?.kind !== "scored" || a.value === b.value);

/** Points of a scale that are drawn as buttons; more of them are a range. */
export const MOST_BUTTONS = 11;

/** The point for a digit; where points are not numbers, the first is 1. */
export function pointOf(points: Point[], key: string): Point | undefined {
  if (!/^\d$/.test(key)) return undefined;
  const isNumbered = points.every((it) => typeof it.value === "number");
  // Of a long scale a digit names no point that anybody means.
  if (isNumbered && points.length > MOST_BUTTONS) return undefined;
  const typed = Number(key);
  if (!isNumbered) return points[typed - 1];
  return (
    points.find((it) => it.value === typed) ??
    (typed === 0 ? points.find((it) => it.value === 10) : undefined)
  );
}

/** The questions that are asked after these answers; as `list_shown_schemes` in core. */
export function shownSchemes(schemes: Scheme[], draft: Draft): Scheme[] {
  return schemes.filter((scheme) => isShown(scheme, schemes, draft, schemes.length));
}

/** The answer to a question that is not asked counts as none. `depth` ends conditions that lead to themselves. */
function isShown(scheme: Scheme, schemes: Scheme[], draft: Draft, depth: number): boolean {
  const { shown_when: when } = scheme;
  if (!when) return true;
  const holds = (condition: AnswerCondition): boolean => {
    const source = schemes.find((it) => it.name === condition.question);
    const isAsked = source !== undefined && depth > 0 && isShown(source, schemes, draft, depth - 1);
    if (!isAsked) return meetsTest(condition, [], false);
    return meetsTest(condition, textsOf(draft[condition.question]), source.kind === "choice" && source.many);
  };
  return when.any ? when.conditions.some(holds) : when.conditions.every(holds);
}

/** Of check boxes, nothing ticked is an answer; elsewhere the question is open. */
function meetsTest(condition: AnswerCondition, given: string[], hasCheckBoxes: boolean): boolean {
  const isWithin = (min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY) =>
    given[0] !== undefined && min <= Number(given[0]) && Number(given[0]) <= max;
  switch (condition.test) {
    case "is":
      return isAmong(given, condition.values, condition.case_sensitive);
    case "is_not":
      return (
        (hasCheckBoxes || given.length > 0) && !isAmong(given, condition.values, condition.case_sensitive)
      );
    case "between":
      return isWithin(condition.min, condition.max);
    case "outside":
      return given.length > 0 && !isWithin(condition.min, condition.max);
    case "answered":
      return given.length > 0;
    case "unanswered":
      return given.length === 0;
  }
}

function isAmong(given: string[], values: string[], isCaseSensitive = false): boolean {
  const plain = (text: string) => (isCaseSensitive ? text : text.toLowerCase());
  return given.some((text) => values.some((value) => plain(value) === plain(text)));
}

/** An answer as texts; several where several labels are ticked. */
function textsOf(answer: Answer | undefined): string[] {
  switch (answer?.kind) {
    case "choice":
      return answer.labels;
    case "pairwise":
      return answer.label === undefined ? [] : [answer.label];
    case "likert":
    case "slider":
      return answer.value === undefined ? [] : [String(answer.value)];
    case "text":
      return answer.text.trim() === "" ? [] : [answer.text.trim()];
    default:
      return [];
  }
}

/** The questions of an item with the display settings of the task. */
export function asShown({ schemes, settings }: Pick<Work, "schemes" | "settings">): Scheme[] {
  return schemes.map((scheme) => {
    if (scheme.kind !== "rubric") return scheme;
    const shows_score = scheme.shows_score && settings.shows_score;
    if (settings.shows_descriptions) return { ...scheme, shows_score };
    const criteria = scheme.criteria.map((it) => ({ ...it, description: undefined }));
    return { ...scheme, shows_score, criteria };
  });
}

export type Difference = { label: string; mine: string; theirs: string };

/** The differences of two drafts, row by row. */
export function differences(schemes: Scheme[], mine: Draft, theirs: Draft): Difference[] {
  return schemes.flatMap((scheme) => {
    const [a, b] = [linesOf(scheme, mine), linesOf(scheme, theirs)];
    return [...new Set([...a.keys(), ...b.keys()])]
      .map((label) => ({ label, mine: a.get(label) ?? "–", theirs: b.get(label) ?? "–" }))
      .filter((it) => it.mine !== it.theirs);
  });
}

/** An answer as lines of text by label. */
function linesOf(scheme: Scheme, draft: Draft): Map<string, string> {
  const lines = new Map<string, string>();
  const add = (label: string, ...parts: (string | undefined)[]) => {
    const text = parts.filter(Boolean).join(" · ");
    if (text) lines.set(label, text);
  };
  const rated = (label: string, points: Point[], it: Rated | undefined) =>
    add(
      label,
      it?.rating && inWords(it.rating, points),
      it?.comment,
      ...(it?.evidence ?? []).map((one) => one.quote),
    );
  switch (scheme.kind) {
    case "rubric": {
      const { criteria, overall, notes } = answerOf(scheme, draft);
      for (const it of scheme.criteria) rated(it.label, it.points, criteria[it.name]);
      if (scheme.overall) rated(scheme.overall.label, scheme.overall.points, overall);
      add(scheme.notes?.label ?? "Notes", notes);
      break;
    }
    case "trajectory": {
      const { steps } = answerOf(scheme, draft);
      for (const n of scheme.steps) {
        const it = steps[n];
        add(`Step ${n}`, it?.mark, it?.error && words(it.error), it?.severity, it?.rationale);
      }
      break;
    }
    case "verify": {
      const { claims } = answerOf(scheme, draft);
      for (const it of scheme.claims) {
        const checked = claims[it.id];
        add(
          it.label,
          checked?.verdict,
          checked?.rating && inWords(checked.rating, it.points),
          checked?.comment,
        );
      }
      break;
    }
    case "pairwise":
      add(titleOf(scheme), answerOf(scheme, draft).label);
      break;
    case "choice":
      add(titleOf(scheme), answerOf(scheme, draft).labels.join(", "));
      break;
    case "likert":
      add(titleOf(scheme), answerOf(scheme, draft).value?.toString());
      break;
    case "slider":
      add(titleOf(scheme), answerOf(scheme, draft).value?.toString());
      break;
    case "text":
      add(titleOf(scheme), answerOf(scheme, draft).text);
      break;
  }
  return lines;
}
