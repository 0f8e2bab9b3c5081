//! How far people are apart on one question about one item, on the ratings themselves.

use std::borrow::Cow;

use super::{
    Answer, AnswerDraft, Quote, Rating, ScalePoint, Scheme, SchemeKind, Value, reached_claims, settled_rating,
};
use crate::grade::join_chosen_labels;

/// One person's answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionRating<'a> {
    pub scheme: &'a str,
    /// A criterion, the number of a step, or the scheme's own name.
    pub criterion: String,
    pub label: String,
    /// The answers that can be given, lowest first; of several labels each by itself.
    pub points: Cow<'a, [ScalePoint]>,
    pub rating: Rating,
    pub comment: Option<&'a str>,
    pub evidence: &'a [Quote],
}

/// Every rating in a draft, by question. Words are no ratings and are left out.
pub fn collect_question_ratings<'a>(
    schemes: &'a [Scheme],
    draft: &'a AnswerDraft,
) -> Vec<QuestionRating<'a>> {
    let mut collected = Vec::new();
    for scheme in schemes {
        let Some(answer) = draft.get(&scheme.name) else { continue };
        let title = question_title(scheme);
        let plain_points = || Cow::Owned(list_plain_points(&scheme.kind));
        let one = |criterion: &str, label: &str, rating: Rating| QuestionRating {
            scheme: &scheme.name,
            criterion: criterion.to_owned(),
            label: label.to_owned(),
            points: Cow::Borrowed(&[]),
            rating,
            comment: None,
            evidence: &[],
        };
        let text = |text: &str| Rating::Scored { value: Value::Text(text.to_owned()) };
        match (&scheme.kind, answer) {
            (
                SchemeKind::Rubric { criteria, overall, .. },
                Answer::Rubric { criteria: rated, overall: whole, .. },
            ) => {
                let rows =
                    criteria.iter().filter_map(|criterion| Some((criterion, rated.get(&criterion.name)?)));
                for (criterion, rated) in rows.chain(overall.as_ref().zip(whole.as_ref())) {
                    let Some(rating) = rated.rating.clone() else { continue };
                    collected.push(QuestionRating {
                        points: Cow::Borrowed(&criterion.points),
                        comment: rated.comment.as_deref(),
                        evidence: &rated.evidence,
                        ..one(&criterion.name, &criterion.label, rating)
                    });
                }
            }
            (SchemeKind::Trajectory { .. }, Answer::Trajectory { steps }) => {
                for (step, marked) in steps {
                    let Some(mark) = &marked.mark else { continue };
                    collected.push(QuestionRating {
                        points: plain_points(),
                        comment: marked.rationale.as_deref(),
                        ..one(step, &format!("Step {step}"), text(mark))
                    });
                }
            }
            (SchemeKind::Pairwise { .. }, Answer::Pairwise { label: Some(label) }) => {
                collected.push(QuestionRating {
                    points: plain_points(),
                    ..one(&scheme.name, &title, text(label))
                });
            }
            // Of several labels nothing may be ticked; of one, nothing is no answer.
            (SchemeKind::Choice { many, .. }, Answer::Choice { labels }) if *many || !labels.is_empty() => {
                collected.push(QuestionRating {
                    points: plain_points(),
                    ..one(&scheme.name, &title, text(&join_chosen_labels(labels)))
                });
            }
            (SchemeKind::Likert { .. }, Answer::Likert { value: Some(value) }) => {
                let rating = Rating::Scored { value: Value::Number(f64::from(*value)) };
                collected
                    .push(QuestionRating { points: plain_points(), ..one(&scheme.name, &title, rating) });
            }
            (SchemeKind::Slider { .. }, Answer::Slider { value: Some(value) }) => {
                let rating = Rating::Scored { value: Value::Number(*value as f64) };
                collected
                    .push(QuestionRating { points: plain_points(), ..one(&scheme.name, &title, rating) });
            }
            (SchemeKind::Verify { claims }, Answer::Verify { claims: verified }) => {
                let reached = reached_claims(claims, verified);
                for claim in claims.iter().filter(|claim| reached.contains(claim.id.as_str())) {
                    let Some(rating) = settled_rating(claims, verified, claim) else { continue };
                    collected.push(QuestionRating {
                        points: Cow::Borrowed(&claim.points),
                        comment: verified.get(&claim.id).and_then(|verified| verified.comment.as_deref()),
                        ..one(&claim.id, &claim.label, rating)
                    });
                }
            }
            _ => {}
        }
    }
    collected
}

/// A question in the words in which people read it.
fn question_title(scheme: &Scheme) -> String {
    scheme.description.clone().unwrap_or_else(|| scheme.name.replace('_', " "))
}

/// The answers that a question can have, lowest first; `None` if the scheme does not ask it.
pub fn list_question_points(schemes: &[Scheme], scheme: &str, criterion: &str) -> Option<Vec<ScalePoint>> {
    let matching = schemes.iter().find(|one_scheme| one_scheme.name == scheme)?;
    match &matching.kind {
        SchemeKind::Rubric { criteria, overall, .. } => criteria
            .iter()
            .chain(overall)
            .find(|one_criterion| one_criterion.name == criterion)
            .map(|criterion| criterion.points.clone()),
        SchemeKind::Verify { claims } => {
            claims.iter().find(|claim| claim.id == criterion).map(|claim| claim.points.clone())
        }
        SchemeKind::Trajectory { steps, .. } => {
            steps.iter().any(|step| step.to_string() == criterion).then(|| list_plain_points(&matching.kind))
        }
        kind => (criterion == scheme).then(|| list_plain_points(kind)),
    }
}

/// The answers of a scheme that asks one thing: labels in their order, or numbers with their place on the scale.
fn list_plain_points(kind: &SchemeKind) -> Vec<ScalePoint> {
    let label =
        |text: &String| ScalePoint { value: Value::Text(text.clone()), label: None, text: None, unit: None };
    match kind {
        SchemeKind::Trajectory { marks, .. } => marks.iter().map(label).collect(),
        SchemeKind::Pairwise { labels, tie_label } => labels.iter().chain(tie_label).map(label).collect(),
        SchemeKind::Choice { labels, .. } => labels.iter().map(label).collect(),
        SchemeKind::Likert { size, min_label, max_label } => {
            list_numbers(1, i64::from(*size), 1, min_label.as_ref(), max_label.as_ref())
        }
        SchemeKind::Slider { min, max, step, min_label, max_label, .. } => {
            list_numbers(*min, *max, *step, min_label.as_ref(), max_label.as_ref())
        }
        SchemeKind::Text { .. } | SchemeKind::Rubric { .. } | SchemeKind::Verify { .. } => Vec::new(),
    }
}

fn list_numbers(
    min: i64,
    max: i64,
    step: u32,
    min_label: Option<&String>,
    max_label: Option<&String>,
) -> Vec<ScalePoint> {
    let point = |number: i64| ScalePoint {
        value: Value::Number(number as f64),
        label: if number == min { min_label.cloned() } else { max_label.filter(|_| number == max).cloned() },
        text: None,
        unit: (min < max).then(|| (number - min) as f64 / (max - min) as f64),
    };
    (min..=max).step_by(step.max(1) as usize).map(point).collect()
}

/// The mean distance of two people, on 0..=1: numbers by the length of their scale, everything else equal or not.
/// Abstentions are left out. `None` for fewer than two ratings.
pub fn disagreement(ratings: &[&Rating], points: &[ScalePoint]) -> Option<f64> {
    let ratings: Vec<&&Rating> = ratings.iter().filter(|rating| ***rating != Rating::Abstained).collect();
    if ratings.len() < 2 {
        return None;
    }
    let number = |rating: &Rating| match rating {
        Rating::Scored { value: Value::Number(rating) } => Some(*rating),
        _ => None,
    };
    let numbers = ratings.iter().filter_map(|rating| number(rating));
    let ends = points.iter().filter_map(|point| match point.value {
        Value::Number(point) => Some(point),
        _ => None,
    });
    let (low, high) =
        ends.chain(numbers).fold((f64::MAX, f64::MIN), |(a, b), value| (a.min(value), b.max(value)));
    let (mut sum, mut n) = (0.0, 0.0);
    for (at, a) in ratings.iter().enumerate() {
        for b in &ratings[..at] {
            sum += match (number(a), number(b)) {
                (Some(a), Some(b)) if low < high => (a - b).abs() / (high - low),
                (Some(_), Some(_)) => 0.0,
                _ => f64::from(u8::from(a != b)),
            };
            n += 1.0;
        }
    }
    Some(sum / n)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scored(value: f64) -> Rating {
        Rating::Scored { value: Value::Number(value) }
    }

    fn likert() -> Vec<ScalePoint> {
        let point =
            |n: i32| ScalePoint { value: Value::Number(f64::from(n)), label: None, text: None, unit: None };
        (1..=5).map(point).collect()
    }

    #[test]
    fn all_one_against_all_five_is_as_far_apart_as_can_be() {
        assert_eq!(disagreement(&[&scored(1.0), &scored(5.0)], &likert()), Some(1.0));
        assert_eq!(disagreement(&[&scored(4.0), &scored(5.0)], &likert()), Some(0.25));
        assert_eq!(disagreement(&[&scored(4.0), &scored(4.0)], &likert()), Some(0.0));
        assert_eq!(disagreement(&[&scored(4.0), &Rating::NotApplicable], &likert()), Some(1.0));
        assert_eq!(disagreement(&[&scored(4.0), &Rating::Abstained], &likert()), None);
    }

    proptest! {
        #[test]
        fn it_lies_on_0_to_1_and_is_0_only_for_those_who_agree(values in prop::collection::vec(1..=5_i32, 2..8)) {
            let ratings: Vec<Rating> = values.iter().map(|value| scored(f64::from(*value))).collect();
            let share = disagreement(&ratings.iter().collect::<Vec<_>>(), &likert()).unwrap();
            prop_assert!((0.0..=1.0).contains(&share));
            prop_assert_eq!(share == 0.0, values.iter().all(|value| *value == values[0]));
        }
    }
}
