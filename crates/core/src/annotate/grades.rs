//! What a person submitted, as grades.

use std::collections::BTreeMap;

use super::{
    Answer, AnswerDraft, QuestionRating, Quote, Rated, Rating, ScalePoint, Scheme, SchemeKind, Value,
    collect_question_ratings, point_of, reached_claims, settled_rating,
};
use crate::grade::{
    Evidence, FORMAT, Grade, Grader, GraderKind, Outcome, PlainQuestion, QuoteLocation, Reason, Spend, Time,
};
use crate::rubric::RubricHash;

/// Grades of everything that a rubric asks. `rubrics` are their versions, by scheme.
pub fn build_human_grades(
    schemes: &[Scheme],
    draft: &AnswerDraft,
    rubrics: &BTreeMap<String, RubricHash>,
    candidate: &str,
    person: &str,
    time: Time,
) -> Vec<Grade> {
    let mut grades = Vec::new();
    for scheme in schemes {
        let Some(version) = rubrics.get(&scheme.name) else { continue };
        let grade = |criterion: &str, outcome: Outcome, comment: Option<&str>, evidence: &[Quote]| Grade {
            reason: Reason::new(comment.unwrap_or_default()),
            evidence: evidence.iter().map(evidence_of).collect(),
            ..build_person_grade(person, Some(version), candidate, criterion, outcome, time)
        };
        match (&scheme.kind, draft.get(&scheme.name)) {
            (SchemeKind::Rubric { criteria, .. }, Some(Answer::Rubric { criteria: rated, .. })) => {
                for criterion in criteria {
                    let Some(Rated { rating: Some(rating), comment, evidence }) = rated.get(&criterion.name)
                    else {
                        continue;
                    };
                    let outcome = rating_outcome(rating, &criterion.points, comment.as_deref());
                    grades.push(grade(&criterion.name, outcome, comment.as_deref(), evidence));
                }
            }
            (SchemeKind::Verify { claims }, Some(Answer::Verify { claims: verified })) => {
                let reached = reached_claims(claims, verified);
                for claim in claims.iter().filter(|claim| reached.contains(claim.id.as_str())) {
                    let Some(rating) = settled_rating(claims, verified, claim) else { continue };
                    let comment = verified.get(&claim.id).and_then(|verified| verified.comment.as_deref());
                    let outcome = match &rating {
                        // The score of the parts may lie between the points of the scale.
                        Rating::Scored { value: Value::Number(score) } if claim.from_parts => {
                            Outcome::Scored { value: Value::Number(*score), unit: Some(*score) }
                        }
                        rating => rating_outcome(rating, &claim.points, comment),
                    };
                    grades.push(grade(&claim.id, outcome, comment, &[]));
                }
            }
            _ => {}
        }
    }
    grades
}

/// Grades of the questions that no rubric asks: one of several labels, several of them, or a number. They have no
/// rubric, and their criterion is the name of the question. Free text is no grade.
pub fn build_plain_grades(
    schemes: &[Scheme],
    draft: &AnswerDraft,
    candidate: &str,
    person: &str,
    time: Time,
) -> Vec<Grade> {
    let is_plain = |name: &str| {
        let kind = schemes.iter().find(|scheme| scheme.name == name).map(|scheme| &scheme.kind);
        kind.is_some_and(|kind| plain_question_kind(kind).is_some_and(|kind| kind.is_graded()))
    };
    let grade = |rating: QuestionRating<'_>| {
        let outcome = rating_outcome(&rating.rating, &rating.points, None);
        build_person_grade(person, None, candidate, &rating.criterion, outcome, time)
    };
    collect_question_ratings(schemes, draft)
        .into_iter()
        .filter(|rating| is_plain(rating.scheme))
        .map(grade)
        .collect()
}

/// A grade by a person, or by people together, without a reason and without quotes. The grader is named `person`.
pub fn build_person_grade(
    person: &str,
    rubric: Option<&RubricHash>,
    candidate: &str,
    criterion: &str,
    outcome: Outcome,
    time: Time,
) -> Grade {
    Grade {
        format: FORMAT,
        candidate: candidate.to_owned(),
        rubric: rubric.cloned(),
        criterion: criterion.to_owned(),
        grader: Grader { kind: GraderKind::Human, name: person.to_owned(), configuration: None },
        outcome,
        reason: Reason::default(),
        evidence: Vec::new(),
        points: Vec::new(),
        flags: Vec::new(),
        spend: Spend::default(),
        time: Some(time),
        attempts: Vec::new(),
    }
}

/// Which kind of plain question a scheme asks; `None` for rubrics, steps and verifications.
pub fn plain_question_kind(kind: &SchemeKind) -> Option<PlainQuestion> {
    Some(match kind {
        SchemeKind::Pairwise { .. } => PlainQuestion::Labels { word: "pairwise" },
        SchemeKind::Choice { many: true, .. } => PlainQuestion::SeveralLabels,
        SchemeKind::Choice { dropdown: true, .. } => PlainQuestion::Labels { word: "select" },
        SchemeKind::Choice { .. } => PlainQuestion::Labels { word: "radio" },
        SchemeKind::Likert { size, .. } => {
            PlainQuestion::Number { word: "likert", low: 1.0, high: f64::from(*size) }
        }
        SchemeKind::Slider { min, max, .. } => {
            PlainQuestion::Number { word: "slider", low: *min as f64, high: *max as f64 }
        }
        SchemeKind::Text { .. } => PlainQuestion::Text,
        SchemeKind::Rubric { .. } | SchemeKind::Trajectory { .. } | SchemeKind::Verify { .. } => return None,
    })
}

fn rating_outcome(rating: &Rating, points: &[ScalePoint], comment: Option<&str>) -> Outcome {
    match rating {
        Rating::Scored { value } => {
            Outcome::Scored { value: value.clone(), unit: rating_unit(points, rating) }
        }
        Rating::NotApplicable => Outcome::NotApplicable,
        Rating::Abstained => Outcome::Abstained { why: comment.unwrap_or("cannot tell").to_owned() },
    }
}

/// What a rating is worth on 0..=1.
pub fn rating_unit(points: &[ScalePoint], rating: &Rating) -> Option<f64> {
    let Rating::Scored { value } = rating else { return None };
    point_of(points, value).and_then(|scale_point| scale_point.unit)
}

fn evidence_of(quote: &Quote) -> Evidence {
    let place = quote.part.clone().zip(quote.start).zip(quote.end);
    Evidence {
        quote: quote.quote.clone(),
        found: place.map(|((part, start), end)| QuoteLocation { part, start, end }),
    }
}
