//! Missing and invalid answers in a draft, and the scores of its answers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::is_one_scale;
use super::condition::list_shown_schemes;
use super::verify::contradiction;
use super::{
    Answer, AnswerDraft, ErrorCategory, FormCriterion, Marked, Rated, Rating, Scheme, SchemeKind,
    SeverityLevel, Value, Verification, point_of, reached_claims,
};

/// What keeps a draft from being submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    pub scheme: String,
    /// A criterion, the number of a step, the id of a claim, or the scheme's own name.
    pub row: String,
    pub why: String,
}

/// The row of the whole.
const OVERALL: &str = "overall";

/// Everything that keeps a draft from being submitted; nothing if it may be.
pub fn gaps(schemes: &[Scheme], draft: &AnswerDraft) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for name in draft.keys().filter(|name| !schemes.iter().any(|scheme| scheme.name == **name)) {
        gaps.push(Gap { scheme: name.clone(), row: name.clone(), why: "there is no such scheme".to_owned() });
    }
    for scheme in list_shown_schemes(schemes, draft) {
        let mut gap = |row: &str, why: String| {
            gaps.push(Gap { scheme: scheme.name.clone(), row: row.to_owned(), why });
        };
        find_scheme_gaps(scheme, draft.get(&scheme.name), &mut gap);
    }
    gaps
}

fn find_scheme_gaps(scheme: &Scheme, answer: Option<&Answer>, gap: &mut impl FnMut(&str, String)) {
    let (name, required) = (scheme.name.as_str(), scheme.required);
    if answer.is_some_and(|answer| !matches_scheme_kind(&scheme.kind, answer)) {
        return gap(name, "the answer belongs to another kind of question".to_owned());
    }
    match (&scheme.kind, answer) {
        (SchemeKind::Rubric { criteria, overall, .. }, _) => {
            let no_rows = BTreeMap::new();
            let (rows, whole) = match answer {
                Some(Answer::Rubric { criteria, overall, .. }) => (criteria, overall.as_ref()),
                _ => (&no_rows, None),
            };
            for row in rows.keys().filter(|row| !criteria.iter().any(|criterion| criterion.name == **row)) {
                gap(row, "there is no such criterion".to_owned());
            }
            for criterion in criteria {
                let why = rating_gap(criterion, rows.get(&criterion.name), required);
                why.into_iter().for_each(|why| gap(&criterion.name, why));
            }
            match (overall, whole) {
                (Some(overall), whole) => {
                    rating_gap(overall, whole, false).into_iter().for_each(|why| gap(OVERALL, why));
                }
                (None, Some(_)) => gap(OVERALL, "this task has no overall rating".to_owned()),
                (None, None) => {}
            }
        }
        (SchemeKind::Trajectory { steps, marks, errors, severities, .. }, _) => {
            let nothing = BTreeMap::new();
            let marked = if let Some(Answer::Trajectory { steps }) = answer { steps } else { &nothing };
            for row in marked.keys().filter(|row| !steps.iter().any(|step| step.to_string() == **row)) {
                gap(row, "there is no such step".to_owned());
            }
            for step in steps {
                let row = step.to_string();
                let why = mark_gap(marks, errors, severities, marked.get(&row), required);
                why.into_iter().for_each(|why| gap(&row, why));
            }
        }
        (SchemeKind::Verify { claims }, _) => {
            let nothing = BTreeMap::new();
            let answers_of_claims =
                if let Some(Answer::Verify { claims }) = answer { claims } else { &nothing };
            for row in answers_of_claims.keys().filter(|row| !claims.iter().any(|claim| claim.id == **row)) {
                gap(row, "there is no such claim".to_owned());
            }
            let reached = reached_claims(claims, answers_of_claims);
            for claim in claims.iter().filter(|claim| reached.contains(claim.id.as_str())) {
                if let Some(why) = contradiction(claims, answers_of_claims, claim) {
                    gap(&claim.id, why);
                }
                match answers_of_claims
                    .get(&claim.id)
                    .and_then(|verified| verified.verdict.map(|verdict| (verdict, &verified.rating)))
                {
                    None if required && !claim.from_parts => gap(&claim.id, "not answered".to_owned()),
                    Some((Verification::Confirmed, _)) if claim.said.is_none() => {
                        gap(
                            &claim.id,
                            "the judge did not answer this question; enter the correct answer".to_owned(),
                        );
                    }
                    Some((Verification::Corrected, None)) => {
                        gap(&claim.id, "enter the correct answer".to_owned());
                    }
                    Some((Verification::Corrected, Some(Rating::Scored { value })))
                        if !claim.from_parts && point_of(&claim.points, value).is_none() =>
                    {
                        gap(&claim.id, off_scale_message(value));
                    }
                    _ => {}
                }
            }
        }
        (kind, answer) => simple_gap(kind, answer, required).into_iter().for_each(|why| gap(name, why)),
    }
}

/// What is wrong with the answer to a scheme that asks one thing.
fn simple_gap(kind: &SchemeKind, answer: Option<&Answer>, required: bool) -> Option<String> {
    let unanswered = || required.then(|| "not answered".to_owned());
    let among = |labels: &[String]| Some(format!("not one of {}", labels.join(", ")));
    match (kind, answer) {
        (SchemeKind::Pairwise { labels, tie_label }, Some(Answer::Pairwise { label: Some(label) })) => {
            let is_known = labels.contains(label) || tie_label.as_ref() == Some(label);
            if is_known { None } else { among(labels) }
        }
        (SchemeKind::Choice { labels, many, limits, .. }, _) => {
            let nothing = Vec::new();
            let chosen = if let Some(Answer::Choice { labels }) = answer { labels } else { &nothing };
            // A label that is sent twice is one label.
            let n_chosen = labels.iter().filter(|label| chosen.contains(label)).count();
            match chosen.len() {
                0 if required => unanswered(),
                _ if chosen.iter().any(|chosen| !labels.contains(chosen)) => among(labels),
                2.. if !many => Some("only one may be chosen".to_owned()),
                _ => limits.find_violation(n_chosen, "label"),
            }
        }
        (SchemeKind::Likert { size, .. }, Some(Answer::Likert { value: Some(value) })) => {
            let is_on = (1..=*size).contains(value);
            (!is_on).then(|| format!("a whole number from 1 to {size}"))
        }
        (SchemeKind::Slider { min, max, step, .. }, Some(Answer::Slider { value: Some(value) })) => {
            let is_on = (*min..=*max).contains(value) && (value - min) % i64::from((*step).max(1)) == 0;
            let steps = if 1 < *step { format!(" in steps of {step}") } else { String::new() };
            (!is_on).then(|| format!("a whole number from {min} to {max}{steps}"))
        }
        (SchemeKind::Text { limits, .. }, Some(Answer::Text { text })) if !text.trim().is_empty() => {
            limits.find_violation(text.trim().chars().count(), "character")
        }
        _ => unanswered(),
    }
}

fn matches_scheme_kind(kind: &SchemeKind, answer: &Answer) -> bool {
    matches!(
        (kind, answer),
        (SchemeKind::Rubric { .. }, Answer::Rubric { .. })
            | (SchemeKind::Trajectory { .. }, Answer::Trajectory { .. })
            | (SchemeKind::Pairwise { .. }, Answer::Pairwise { .. })
            | (SchemeKind::Choice { .. }, Answer::Choice { .. })
            | (SchemeKind::Likert { .. }, Answer::Likert { .. })
            | (SchemeKind::Slider { .. }, Answer::Slider { .. })
            | (SchemeKind::Text { .. }, Answer::Text { .. })
            | (SchemeKind::Verify { .. }, Answer::Verify { .. })
    )
}

fn rating_gap(criterion: &FormCriterion, rated: Option<&Rated>, required: bool) -> Option<String> {
    match rated.and_then(|rated| rated.rating.as_ref()) {
        None => required.then(|| "not rated".to_owned()),
        Some(Rating::Scored { value }) => criterion.point(value).is_none().then(|| off_scale_message(value)),
        Some(Rating::NotApplicable | Rating::Abstained) => {
            (!criterion.may_skip).then(|| "has to be rated".to_owned())
        }
    }
}

fn off_scale_message(value: &Value) -> String {
    format!("{} is not on the scale", serde_json::json!(value))
}

fn mark_gap(
    marks: &[String],
    errors: &[ErrorCategory],
    severities: &[SeverityLevel],
    marked: Option<&Marked>,
    required: bool,
) -> Option<String> {
    let nothing = Marked::default();
    let marked = marked.unwrap_or(&nothing);
    let Some(mark) = &marked.mark else { return required.then(|| "not marked".to_owned()) };
    if !marks.contains(mark) {
        return Some(format!("not one of {}", marks.join(", ")));
    }
    if marks.first() == Some(mark) {
        return None;
    }
    match &marked.error {
        None if !errors.is_empty() && required => return Some("choose the kind of error".to_owned()),
        Some(error) if !errors.is_empty() && !is_error(errors, error) => {
            return Some(format!("`{error}` is not a kind of error of this task"));
        }
        _ => {}
    }
    match &marked.severity {
        None if !severities.is_empty() && required => Some("choose the severity".to_owned()),
        Some(severity) if !severities.iter().any(|severity_level| severity_level.name == *severity) => {
            Some(format!("`{severity}` is not a severity of this task"))
        }
        _ => None,
    }
}

/// A category, a type, or both as `category::type`.
fn is_error(errors: &[ErrorCategory], error: &str) -> bool {
    errors.iter().any(|error_category| {
        error_category.category == error
            || error_category
                .types
                .iter()
                .any(|kind| kind == error || format!("{}::{kind}", error_category.category) == error)
    })
}

/// The weighted mean of the ratings in the scale's own units; nothing where there is no number to weigh.
pub fn weighted_score(criteria: &[FormCriterion], rated: &BTreeMap<String, Rated>) -> Option<f64> {
    if !is_one_scale(criteria) {
        return None;
    }
    let (mut sum, mut weights) = (0.0, 0.0);
    for criterion in criteria {
        let rating = rated.get(&criterion.name).and_then(|rated| rated.rating.as_ref());
        if let Some(Rating::Scored { value: Value::Number(value) }) = rating {
            sum += value * criterion.weight;
            weights += criterion.weight;
        }
    }
    (0.0 < weights).then(|| sum / weights)
}

/// The remaining score. It is `None` until every step is marked, so that it does not bias the remaining marks.
pub fn running_score(kind: &SchemeKind, steps: &BTreeMap<String, Marked>) -> Option<f64> {
    let SchemeKind::Trajectory { steps: all, marks, errors, severities, initial } = kind else { return None };
    let mut score = *initial;
    for step in all {
        let marked = steps.get(&step.to_string());
        if mark_gap(marks, errors, severities, marked, true).is_some() {
            return None;
        }
        let marked = marked.filter(|marked| marked.mark.as_ref() != marks.first());
        let severity = marked.and_then(|marked| marked.severity.as_ref());
        let weight = severities
            .iter()
            .find(|severity_level| Some(&severity_level.name) == severity)
            .map_or(0.0, |severity_level| severity_level.weight);
        score -= weight.abs();
    }
    Some(score.max(0.0))
}
