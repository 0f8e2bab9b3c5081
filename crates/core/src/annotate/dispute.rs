//! How far people are apart on one question about one item, on the ratings themselves.

use super::{
    Answer, Draft, Quote, Rating, ScalePoint, Scheme, SchemeKind, Value, reached_claims, settled_rating,
};

/// What one person said to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionRating<'a> {
    pub scheme: &'a str,
    /// A criterion, the number of a step, or the scheme's own name.
    pub criterion: String,
    pub label: String,
    /// Empty where answers have no order.
    pub points: &'a [ScalePoint],
    pub rating: Rating,
    pub comment: Option<&'a str>,
    pub evidence: &'a [Quote],
}

/// Every rating in a draft, by question. Words are no ratings and are left out.
pub fn collect_question_ratings<'a>(schemes: &'a [Scheme], draft: &'a Draft) -> Vec<QuestionRating<'a>> {
    let mut found = Vec::new();
    for scheme in schemes {
        let Some(answer) = draft.get(&scheme.name) else { continue };
        let one = |criterion: &str, label: &str, rating: Rating| QuestionRating {
            scheme: &scheme.name,
            criterion: criterion.to_owned(),
            label: label.to_owned(),
            points: &[],
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
                    found.push(QuestionRating {
                        points: &criterion.points,
                        comment: rated.comment.as_deref(),
                        evidence: &rated.evidence,
                        ..one(&criterion.name, &criterion.label, rating)
                    });
                }
            }
            (SchemeKind::Trajectory { .. }, Answer::Trajectory { steps }) => {
                for (step, marked) in steps {
                    let Some(mark) = &marked.mark else { continue };
                    found.push(QuestionRating {
                        comment: marked.rationale.as_deref(),
                        ..one(step, &format!("Step {step}"), text(mark))
                    });
                }
            }
            (SchemeKind::Pairwise { .. }, Answer::Pairwise { label: Some(label) }) => {
                found.push(one(&scheme.name, &scheme.name, text(label)));
            }
            (SchemeKind::Choice { .. }, Answer::Choice { labels }) if !labels.is_empty() => {
                let mut labels = labels.clone();
                labels.sort();
                found.push(one(&scheme.name, &scheme.name, text(&labels.join(", "))));
            }
            (SchemeKind::Likert { .. }, Answer::Likert { value: Some(value) }) => {
                let value = Value::Number(f64::from(*value));
                found.push(one(&scheme.name, &scheme.name, Rating::Scored { value }));
            }
            (SchemeKind::Verify { claims }, Answer::Verify { claims: verified }) => {
                let reached = reached_claims(claims, verified);
                for claim in claims.iter().filter(|claim| reached.contains(claim.id.as_str())) {
                    let Some(rating) = settled_rating(claims, verified, claim) else { continue };
                    found.push(QuestionRating {
                        points: &claim.points,
                        comment: verified.get(&claim.id).and_then(|verified| verified.comment.as_deref()),
                        ..one(&claim.id, &claim.label, rating)
                    });
                }
            }
            _ => {}
        }
    }
    found
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
    let given = ratings.iter().filter_map(|rating| number(rating));
    let ends = points.iter().filter_map(|point| match point.value {
        Value::Number(point) => Some(point),
        _ => None,
    });
    let (low, high) =
        ends.chain(given).fold((f64::MAX, f64::MIN), |(a, b), value| (a.min(value), b.max(value)));
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
            let found = disagreement(&ratings.iter().collect::<Vec<_>>(), &likert()).unwrap();
            prop_assert!((0.0..=1.0).contains(&found));
            prop_assert_eq!(found == 0.0, values.iter().all(|value| *value == values[0]));
        }
    }
}
