//! What a person submitted, as grades.

use std::collections::BTreeMap;

use super::{
    Answer, Draft, Quote, Rated, Rating, ScalePoint, Scheme, SchemeKind, Value, point_of, reached_claims,
    settled_rating,
};
use crate::grade::{
    Evidence, FORMAT, Grade, Grader, GraderKind, Outcome, QuoteLocation, Reason, Spend, Time,
};
use crate::rubric::RubricHash;

/// Grades of everything that a rubric asks. `rubrics` are their versions, by scheme.
pub fn build_human_grades(
    schemes: &[Scheme],
    draft: &Draft,
    rubrics: &BTreeMap<String, RubricHash>,
    candidate: &str,
    person: &str,
    time: Time,
) -> Vec<Grade> {
    let mut found = Vec::new();
    for scheme in schemes {
        let Some(version) = rubrics.get(&scheme.name) else { continue };
        let grade = |criterion: &str, outcome: Outcome, comment: Option<&str>, evidence: &[Quote]| Grade {
            format: FORMAT,
            candidate: candidate.to_owned(),
            rubric: Some(version.clone()),
            criterion: criterion.to_owned(),
            grader: Grader { kind: GraderKind::Human, name: person.to_owned(), configuration: None },
            outcome,
            reason: Reason::new(comment.unwrap_or_default()),
            evidence: evidence.iter().map(evidence_of).collect(),
            points: Vec::new(),
            flags: Vec::new(),
            spend: Spend::default(),
            time: Some(time),
            attempts: Vec::new(),
        };
        match (&scheme.kind, draft.get(&scheme.name)) {
            (SchemeKind::Rubric { criteria, .. }, Some(Answer::Rubric { criteria: rated, .. })) => {
                for criterion in criteria {
                    let Some(Rated { rating: Some(rating), comment, evidence }) = rated.get(&criterion.name)
                    else {
                        continue;
                    };
                    let outcome = rating_outcome(rating, &criterion.points, comment.as_deref());
                    found.push(grade(&criterion.name, outcome, comment.as_deref(), evidence));
                }
            }
            (SchemeKind::Verify { claims }, Some(Answer::Verify { claims: verified })) => {
                let reached = reached_claims(claims, verified);
                for claim in claims.iter().filter(|claim| reached.contains(claim.id.as_str())) {
                    let Some(rating) = settled_rating(claims, verified, claim) else { continue };
                    let comment = verified.get(&claim.id).and_then(|verified| verified.comment.as_deref());
                    let outcome = match &rating {
                        // What parts come to may lie between the points that people are shown.
                        Rating::Scored { value: Value::Number(score) } if claim.from_parts => {
                            Outcome::Scored { value: Value::Number(*score), unit: Some(*score) }
                        }
                        rating => rating_outcome(rating, &claim.points, comment),
                    };
                    found.push(grade(&claim.id, outcome, comment, &[]));
                }
            }
            _ => {}
        }
    }
    found
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
