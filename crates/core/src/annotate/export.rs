//! Answers as rows of files: an object for each form, and a table.
//!
//! A form with one rubric reads `{trace_id, annotator, timestamp, rubric: {criteria_ratings, overall, notes,
//! weighted_score}}`. Every other scheme stands beside it under its own name; `questions` says of which kind it is.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::build::is_one_scale;
use super::{
    Answer, AnswerDraft, Claim, FormCriterion, Marked, Quote, Rated, Rating, Scheme, SchemeKind, Value,
    Verification, Verified, find_numeric_ends, plain_question_kind, reached_claims, running_score,
    settled_rating, weighted_score,
};
use crate::grade::{EXCLUDED, LABEL_SEPARATOR, NOTHING_TICKED, PlainQuestion, SCALES};
use crate::quantity::Time;

/// One submitted form.
#[derive(Debug, Clone)]
pub struct ExportedForm<'a> {
    /// What the data calls the id of an item.
    pub id_key: &'a str,
    pub candidate: &'a str,
    /// The id as the data writes it, where it is no text.
    pub written_id: Option<Json>,
    pub annotator: &'a str,
    pub time: Time,
    pub schemes: &'a [Scheme],
    pub draft: &'a AnswerDraft,
    /// What was decided about the item, where people disagreed.
    pub decisions: &'a [ExportedDecision],
    /// Whether the answers of this annotator are not used.
    pub is_excluded: bool,
}

/// What was decided about one question of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedDecision {
    pub scheme: String,
    pub criterion: String,
    /// The answer, a list of labels, or why there is none: `not_applicable` or `abstained`.
    pub value: Json,
}

impl ExportedDecision {
    /// As it is stored: a rating, and the labels of a question of several.
    pub fn new(scheme: &str, criterion: &str, rating: &Rating, labels: Option<&[String]>) -> Self {
        let value = match (labels, why_unrated(rating)) {
            (_, Some(why)) => why.into(),
            (Some(labels), None) => json!(labels),
            (None, None) => rating_to_json(rating),
        };
        Self { scheme: scheme.to_owned(), criterion: criterion.to_owned(), value }
    }
}

/// The name of a question in tables: criteria of the first rubric by themselves, those of others after their scheme.
fn question_column(schemes: &[Scheme], scheme: &str, criterion: &str) -> String {
    let is_rubric = |scheme: &Scheme| matches!(scheme.kind, SchemeKind::Rubric { .. });
    let first = schemes.iter().find(|scheme| is_rubric(scheme)).map(|scheme| scheme.name.as_str());
    if first == Some(scheme) || scheme == criterion {
        criterion.to_owned()
    } else {
        format!("{scheme}.{criterion}")
    }
}

/// Keys that readers of exports look for.
const ID_KEYS: [&str; 4] = ["trace_id", "candidate", "id", "instance_id"];

/// The form as a JSON object; numbers are numbers, and whole ones have no point.
pub fn form_to_json(form: &ExportedForm<'_>) -> Map<String, Json> {
    let mut row = Map::new();
    row.insert(form.id_key.to_owned(), exported_item_id(form));
    if !ID_KEYS.contains(&form.id_key) {
        row.insert("candidate".to_owned(), form.candidate.into());
    }
    row.insert("annotator".to_owned(), form.annotator.into());
    row.insert("timestamp".to_owned(), to_the_second(form.time).into());
    let first = form.schemes.iter().position(|scheme| matches!(scheme.kind, SchemeKind::Rubric { .. }));
    for (at, scheme) in form.schemes.iter().enumerate() {
        let Some(mut answer) =
            form.draft.get(&scheme.name).and_then(|answer| answer_to_json(&scheme.kind, answer))
        else {
            continue;
        };
        if let Some(scales) = mixed_scales_to_json(&scheme.kind) {
            answer[SCALES] = scales;
        }
        let key = if Some(at) == first { "rubric" } else { scheme.name.as_str() };
        let key = if row.contains_key(key) { format!("{key}_answer") } else { key.to_owned() };
        row.insert(key, answer);
    }
    let kind = |scheme: &Scheme| {
        let kind = plain_question_kind(&scheme.kind)?;
        Some((scheme.name.clone(), Json::from(kind.to_string())))
    };
    let questions: Map<String, Json> =
        form.schemes.iter().filter(|scheme| form.draft.contains_key(&scheme.name)).filter_map(kind).collect();
    if !questions.is_empty() {
        row.entry(QUESTIONS).or_insert(Json::Object(questions));
    }
    let decided: Map<String, Json> = form
        .decisions
        .iter()
        .map(|decision| {
            (question_column(form.schemes, &decision.scheme, &decision.criterion), decision.value.clone())
        })
        .collect();
    if !decided.is_empty() {
        row.entry(DECIDED).or_insert(Json::Object(decided));
    }
    if form.is_excluded {
        row.entry(EXCLUDED).or_insert(true.into());
    }
    row
}

/// The keys of a form that say what its questions are, and what was decided about its item.
const QUESTIONS: &str = "questions";
const DECIDED: &str = "decided";

/// The scale of something that a rubric rates.
struct RatedScale {
    name: String,
    /// The ends of numbers, `binary` for yes and no, or `radio` for choices.
    scale: String,
}

/// The scales of a rubric, by what is rated on them.
fn list_rated_scales(kind: &SchemeKind) -> Vec<RatedScale> {
    let SchemeKind::Rubric { criteria, overall, .. } = kind else { return Vec::new() };
    let of = |name: &str, criterion: &FormCriterion| {
        Some(RatedScale { name: name.to_owned(), scale: describe_criterion_scale(criterion)? })
    };
    let own = criteria.iter().filter_map(|criterion| of(&criterion.name, criterion));
    let overall = overall.iter().filter_map(|overall| of("overall", overall));
    let weighted =
        criteria.first().filter(|_| is_one_scale(criteria)).and_then(|first| of("weighted_score", first));
    own.chain(overall).chain(weighted).collect()
}

/// The scale of a criterion in words that [`PlainQuestion`] and readers of tables know; `None` for numbers without ends.
fn describe_criterion_scale(criterion: &FormCriterion) -> Option<String> {
    if let Some((low, high)) = find_numeric_ends(&criterion.points) {
        return Some(format!("{} to {}", number_to_json(low), number_to_json(high)));
    }
    let has_points = !criterion.points.is_empty();
    if has_points && criterion.points.iter().all(|point| matches!(point.value, Value::Bool(_))) {
        return Some(BINARY.to_owned());
    }
    // A choice may look like a number; a reader who knows that it is a label leaves it as it is.
    let has_text = criterion.points.iter().any(|point| matches!(point.value, Value::Text(_)));
    has_text.then(|| PlainQuestion::Labels { word: "radio" }.to_string())
}

/// The scale of a criterion that is answered with yes or no.
const BINARY: &str = "binary";

/// The scales of a rubric whose criteria differ in it. A rubric with one scale of numbers has the form that Potato
/// writes, which names none.
fn mixed_scales_to_json(kind: &SchemeKind) -> Option<Json> {
    let SchemeKind::Rubric { criteria, .. } = kind else { return None };
    let scales = list_rated_scales(kind).into_iter().map(|rated| (rated.name, Json::from(rated.scale)));
    (!is_one_scale(criteria)).then(|| Json::Object(scales.collect()))
}

/// The id as the data writes it.
fn exported_item_id(form: &ExportedForm<'_>) -> Json {
    form.written_id.clone().unwrap_or_else(|| form.candidate.into())
}

/// The form as a line of a file: in the order in which the form is read, without the end of the line.
pub fn form_to_json_line(form: &ExportedForm<'_>) -> String {
    let mut order = vec![form.id_key, "candidate", "annotator", "timestamp"];
    for scheme in form.schemes {
        order.push(if matches!(scheme.kind, SchemeKind::Rubric { .. }) { "rubric" } else { &scheme.name });
        order.push(&scheme.name);
        if let SchemeKind::Rubric { criteria, .. } = &scheme.kind {
            order.push("criteria_ratings");
            order.extend(criteria.iter().map(|criterion| criterion.name.as_str()));
        }
    }
    order.extend([
        "overall",
        "notes",
        "weighted_score",
        SCALES,
        "steps",
        "step_index",
        "correctness",
        "error_type",
    ]);
    order.extend([QUESTIONS, DECIDED, EXCLUDED]);
    let mut text = String::new();
    write_ordered_json(&Json::Object(form_to_json(form)), &order, &mut text);
    text
}

/// Keys in this order, and those that are not named after them.
fn write_ordered_json(value: &Json, order: &[&str], text: &mut String) {
    let (open, close, parts): (char, char, Vec<(Option<&String>, &Json)>) = match value {
        Json::Object(map) => {
            let mut parts: Vec<(Option<&String>, &Json)> = map.iter().map(|(a, b)| (Some(a), b)).collect();
            let place = |key: &Option<&String>| {
                order.iter().position(|order| Some(*order) == key.map(String::as_str))
            };
            parts.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
            ('{', '}', parts)
        }
        Json::Array(all) => ('[', ']', all.iter().map(|value| (None, value)).collect()),
        other => return text.push_str(&other.to_string()),
    };
    text.push(open);
    for (at, (key, value)) in parts.into_iter().enumerate() {
        if 0 < at {
            text.push_str(", ");
        }
        if let Some(key) = key {
            text.push_str(&Json::from(key.as_str()).to_string());
            text.push_str(": ");
        }
        write_ordered_json(value, order, text);
    }
    text.push(close);
}

fn to_the_second(time: Time) -> String {
    Time::from_micros(time.micros().div_euclid(1_000_000) * 1_000_000).to_string()
}

fn answer_to_json(kind: &SchemeKind, answer: &Answer) -> Option<Json> {
    Some(match (kind, answer) {
        (SchemeKind::Rubric { criteria, .. }, Answer::Rubric { criteria: rated, overall, notes }) => {
            rubric_answer_to_json(criteria, rated, overall.as_ref(), notes.as_deref())
        }
        (SchemeKind::Trajectory { steps, .. }, Answer::Trajectory { steps: marked }) => {
            let nothing = Marked::default();
            let step = |n: &usize| step_to_json(kind, *n, marked.get(&n.to_string()).unwrap_or(&nothing));
            let mut exported = json!({ "steps": steps.iter().map(step).collect::<Vec<_>>() });
            if let Some(score) = running_score(kind, marked) {
                exported["score"] = number_to_json(score);
            }
            exported
        }
        (SchemeKind::Pairwise { .. }, Answer::Pairwise { label }) => json!(label.as_ref()?),
        (SchemeKind::Choice { many: true, .. }, Answer::Choice { labels }) => json!(labels),
        (SchemeKind::Choice { .. }, Answer::Choice { labels }) => json!(labels.first()?),
        (SchemeKind::Likert { .. }, Answer::Likert { value }) => json!((*value)?),
        (SchemeKind::Slider { .. }, Answer::Slider { value }) => json!((*value)?),
        (SchemeKind::Text { .. }, Answer::Text { text }) => json!(text),
        (SchemeKind::Verify { claims }, Answer::Verify { claims: verified }) => {
            let reached = reached_claims(claims, verified);
            let of_claim = |claim: &Claim| {
                let rating = settled_rating(claims, verified, claim);
                let verification = verified.get(&claim.id);
                let is_open = rating.is_none() && verification.is_none();
                (!is_open && reached.contains(claim.id.as_str()))
                    .then(|| (claim.id.clone(), verification_to_json(claim, rating.as_ref(), verification)))
            };
            Json::Object(claims.iter().filter_map(of_claim).collect())
        }
        _ => return None,
    })
}

fn rubric_answer_to_json(
    criteria: &[FormCriterion],
    rated: &BTreeMap<String, Rated>,
    overall: Option<&Rated>,
    notes: Option<&str>,
) -> Json {
    let mut ratings = Map::new();
    let (mut comments, mut evidence, mut without) = (Map::new(), Map::new(), Map::new());
    for criterion in criteria {
        let Some(rating_of_criterion) = rated.get(&criterion.name) else { continue };
        let name = || criterion.name.clone();
        if let Some(rating) = &rating_of_criterion.rating {
            ratings.insert(name(), rating_to_json(rating));
            if let Some(why) = why_unrated(rating) {
                without.insert(name(), why.into());
            }
        }
        if let Some(comment) =
            rating_of_criterion.comment.as_ref().filter(|comment| !comment.trim().is_empty())
        {
            comments.insert(name(), json!(comment));
        }
        if !rating_of_criterion.evidence.is_empty() {
            let quotes: Vec<&Quote> = rating_of_criterion.evidence.iter().collect();
            evidence.insert(name(), json!(quotes));
        }
    }
    let mut exported = Map::new();
    exported.insert("criteria_ratings".to_owned(), Json::Object(ratings));
    if let Some(rating) = overall.and_then(|rated| rated.rating.as_ref()) {
        exported.insert("overall".to_owned(), rating_to_json(rating));
    }
    if let Some(notes) = notes.filter(|note| !note.trim().is_empty()) {
        exported.insert("notes".to_owned(), notes.into());
    }
    if let Some(score) = weighted_score(criteria, rated) {
        exported.insert("weighted_score".to_owned(), number_to_json((score * 100.0).round() / 100.0));
    }
    for (key, map) in [("unrated", without), ("comments", comments), ("evidence", evidence)] {
        if !map.is_empty() {
            exported.insert(key.to_owned(), Json::Object(map));
        }
    }
    Json::Object(exported)
}

/// The answer of an annotator about a claim; a total that follows from its parts has no answer.
fn verification_to_json(claim: &Claim, rating: Option<&Rating>, verified: Option<&Verified>) -> Json {
    let verdict = match (claim.from_parts, rating) {
        (true, rating) if rating == claim.said.as_ref() => Some(Verification::Confirmed),
        (true, Some(_)) => Some(Verification::Corrected),
        _ => verified.and_then(|verified| verified.verdict),
    };
    let mut exported = json!({ "verdict": verdict });
    if let Some(rating) = rating.filter(|_| verdict == Some(Verification::Corrected)) {
        exported["rating"] = rating_to_json(rating);
        if let Some(why) = why_unrated(rating) {
            exported["unrated"] = why.into();
        }
    }
    if let Some(comment) = verified.and_then(|verified| verified.comment.as_ref()) {
        exported["comment"] = json!(comment);
    }
    exported
}

/// Why there is no rating, in one word; `None` if there is one.
fn why_unrated(rating: &Rating) -> Option<&'static str> {
    match rating {
        Rating::Scored { .. } => None,
        Rating::NotApplicable => Some("not_applicable"),
        Rating::Abstained => Some("abstained"),
    }
}

/// A step as readers of `trajectory_eval` know it, by the number under which it was shown.
fn step_to_json(kind: &SchemeKind, number: usize, marked: &Marked) -> Json {
    let mut step = Map::new();
    step.insert("step_index".to_owned(), number.into());
    step.insert("correctness".to_owned(), json!(marked.mark));
    let SchemeKind::Trajectory { errors, marks, .. } = kind else { return Json::Object(step) };
    if marked.mark.is_some() && marked.mark.as_ref() != marks.first() {
        if let Some(error) = &marked.error {
            let (category, subtype) = match error.split_once("::") {
                Some((category, subtype)) => (category, Some(subtype)),
                None => match errors.iter().find(|error_category| error_category.types.contains(error)) {
                    Some(it) => (it.category.as_str(), Some(error.as_str())),
                    None => (error.as_str(), None),
                },
            };
            step.insert("error_type".to_owned(), category.into());
            subtype
                .into_iter()
                .for_each(|subtype| drop(step.insert("error_subtype".to_owned(), subtype.into())));
        }
        if let Some(severity) = &marked.severity {
            step.insert("severity".to_owned(), severity.as_str().into());
        }
    }
    if let Some(rationale) = marked.rationale.as_ref().filter(|rationale| !rationale.trim().is_empty()) {
        step.insert("rationale".to_owned(), rationale.as_str().into());
    }
    Json::Object(step)
}

fn rating_to_json(rating: &Rating) -> Json {
    match rating {
        Rating::Scored { value: Value::Number(it) } => number_to_json(*it),
        Rating::Scored { value } => json!(value),
        Rating::NotApplicable | Rating::Abstained => Json::Null,
    }
}

fn number_to_json(number: f64) -> Json {
    let whole = number as i64;
    if (whole as f64).to_bits() == number.to_bits() { whole.into() } else { number.into() }
}

/// Columns next to the rating of a criterion: why there is none, the comment, the quotes.
const COLUMNS_OF_A_CRITERION: [&str; 3] = ["unrated", "comment", "quotes"];

/// The columns of a table, in the order of the schemes; those of decisions only where there are any.
pub fn export_columns(id_key: &str, schemes: &[Scheme], has_decisions: bool) -> Vec<String> {
    let mut columns: Vec<String> = [id_key, "annotator", "timestamp"].map(str::to_owned).to_vec();
    let first = schemes.iter().position(|scheme| matches!(scheme.kind, SchemeKind::Rubric { .. }));
    for (at, scheme) in schemes.iter().enumerate() {
        let named =
            |text: &str| if Some(at) == first { text.to_owned() } else { format!("{}.{text}", scheme.name) };
        match &scheme.kind {
            SchemeKind::Rubric { criteria, overall, notes, .. } => {
                columns.extend(criteria.iter().map(|criterion| named(&criterion.name)));
                columns.extend(overall.iter().map(|_| named("overall")));
                columns.extend(notes.iter().map(|_| named("notes")));
                columns.push(named("weighted_score"));
                let detail_columns = |criterion: &FormCriterion| {
                    COLUMNS_OF_A_CRITERION.map(|column| named(&format!("{}.{column}", criterion.name)))
                };
                columns.extend(criteria.iter().flat_map(detail_columns));
                let scales = list_rated_scales(&scheme.kind);
                columns.extend(scales.iter().map(|rated| named(&format!("{}.scale", rated.name))));
            }
            SchemeKind::Trajectory { .. } => {
                columns.push(named("n_wrong"));
                columns.push(named("score"));
                columns.push(named("steps"));
            }
            _ => {
                columns.push(scheme.name.clone());
                columns.extend(plain_question_kind(&scheme.kind).map(|_| format!("{}.scale", scheme.name)));
            }
        }
    }
    if has_decisions {
        columns.extend(list_decided_columns(schemes));
    }
    columns
}

/// A column for what was decided about each question that can be decided; steps are many, and have none.
fn list_decided_columns(schemes: &[Scheme]) -> Vec<String> {
    let of_scheme = |scheme: &Scheme| -> Vec<String> {
        match &scheme.kind {
            SchemeKind::Rubric { criteria, overall, .. } => criteria
                .iter()
                .chain(overall)
                .map(|criterion| question_column(schemes, &scheme.name, &criterion.name))
                .collect(),
            SchemeKind::Text { .. } | SchemeKind::Trajectory { .. } | SchemeKind::Verify { .. } => Vec::new(),
            _ => vec![scheme.name.clone()],
        }
    };
    schemes.iter().flat_map(of_scheme).map(|name| format!("{name}.{DECIDED}")).collect()
}

/// The cells of a form, one for each column; empty where there is no answer.
pub fn export_cells(form: &ExportedForm<'_>) -> Vec<Json> {
    let row = form_to_json(form);
    let mut cells = vec![
        exported_item_id(form),
        json!(form.annotator),
        row.get("timestamp").cloned().unwrap_or_default(),
    ];
    let first = form.schemes.iter().position(|scheme| matches!(scheme.kind, SchemeKind::Rubric { .. }));
    for (at, scheme) in form.schemes.iter().enumerate() {
        let key = if Some(at) == first { "rubric" } else { scheme.name.as_str() };
        let answer = row.get(key).cloned().unwrap_or_default();
        match &scheme.kind {
            SchemeKind::Rubric { criteria, overall, notes, .. } => {
                cells.extend(
                    criteria.iter().map(|criterion| answer["criteria_ratings"][&criterion.name].clone()),
                );
                cells.extend(overall.iter().map(|_| answer["overall"].clone()));
                cells.extend(notes.iter().map(|_| answer["notes"].clone()));
                cells.push(answer["weighted_score"].clone());
                for criterion in criteria {
                    cells.push(answer["unrated"][&criterion.name].clone());
                    cells.push(answer["comments"][&criterion.name].clone());
                    cells.push(quotes_cell(&answer["evidence"][&criterion.name]));
                }
                cells.extend(list_rated_scales(&scheme.kind).into_iter().map(|rated| json!(rated.scale)));
            }
            SchemeKind::Trajectory { marks, .. } => {
                let right = marks.first().map(String::as_str);
                let steps = answer["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
                let is_wrong =
                    |value: &&Json| value["correctness"].as_str().is_some_and(|text| Some(text) != right);
                let n_wrong = (!answer.is_null()).then(|| steps.iter().filter(is_wrong).count());
                cells.push(json!(n_wrong));
                cells.push(answer["score"].clone());
                cells.push(if steps.is_empty() { Json::Null } else { answer["steps"].to_string().into() });
            }
            _ => {
                cells.push(value_to_cell(answer));
                cells.extend(plain_question_kind(&scheme.kind).map(|kind| json!(kind.describe_scale())));
            }
        }
    }
    if !form.decisions.is_empty() {
        let decided = &row[DECIDED];
        let column = |name: String| {
            value_to_cell(decided[name.trim_end_matches(DECIDED).trim_end_matches('.')].clone())
        };
        cells.extend(list_decided_columns(form.schemes).into_iter().map(column));
    }
    cells
}

/// Several labels in one cell; none of them is an answer too.
fn value_to_cell(value: Json) -> Json {
    match value {
        Json::Array(labels) if labels.is_empty() => NOTHING_TICKED.into(),
        Json::Array(labels) => {
            labels.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(LABEL_SEPARATOR).into()
        }
        Json::Object(_) => value.to_string().into(),
        other => other,
    }
}

/// The words of quotes, one in a line.
fn quotes_cell(evidence: &Json) -> Json {
    let quotes = evidence.as_array().map(Vec::as_slice).unwrap_or_default();
    let words: Vec<&str> = quotes.iter().filter_map(|quote| quote["quote"].as_str()).collect();
    if words.is_empty() { Json::Null } else { words.join("\n").into() }
}
