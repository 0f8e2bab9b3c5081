//! Answers held against what is known to be right, and the time they took.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, AnswerDraft, Rating, Value};

/// An item with known answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemAnswerKey {
    /// The id that the data gives it.
    pub item: String,
    /// By scheme; answers that are not listed are ignored.
    pub answers: BTreeMap<String, ExpectedAnswer>,
    /// Tolerance for numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Shown after training items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Correct answers by criterion or step, or one answer if the scheme has one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ExpectedAnswer {
    One(Value),
    Many(Vec<String>),
    Rows(BTreeMap<String, Value>),
}

/// One answer and the expected answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerCheck {
    pub scheme: String,
    pub row: String,
    pub expected: String,
    pub given: String,
    pub ok: bool,
}

/// Every expected answer, with the answer that was given.
pub fn compare_expected_answers(expecting: &ItemAnswerKey, draft: &AnswerDraft) -> Vec<AnswerCheck> {
    let tolerance = expecting.tolerance.unwrap_or(0.0);
    let mut checks = Vec::new();
    for (scheme, expected) in &expecting.answers {
        let answer = draft.get(scheme);
        let mut add = |row: &str, expected: String, given: String, ok: bool| {
            checks.push(AnswerCheck { scheme: scheme.clone(), row: row.to_owned(), expected, given, ok });
        };
        match expected {
            ExpectedAnswer::Many(labels) => {
                let mut given =
                    if let Some(Answer::Choice { labels }) = answer { labels.clone() } else { Vec::new() };
                let mut labels = labels.clone();
                labels.sort();
                given.sort();
                add(scheme, labels.join(", "), given.join(", "), labels == given);
            }
            ExpectedAnswer::One(value) => {
                let given = answer.and_then(|answer| row_answer_value(answer, scheme));
                add(
                    scheme,
                    value.to_string(),
                    optional_value_text(given.as_ref()),
                    is_right(value, given.as_ref(), tolerance),
                );
            }
            ExpectedAnswer::Rows(rows) => {
                for (row, value) in rows {
                    let given = answer.and_then(|answer| row_answer_value(answer, row));
                    add(
                        row,
                        value.to_string(),
                        optional_value_text(given.as_ref()),
                        is_right(value, given.as_ref(), tolerance),
                    );
                }
            }
        }
    }
    checks
}

fn optional_value_text(value: Option<&Value>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}

/// What was answered in a row, as a value.
fn row_answer_value(answer: &Answer, row: &str) -> Option<Value> {
    let value = |rating: &Option<Rating>| match rating {
        Some(Rating::Scored { value }) => Some(value.clone()),
        Some(Rating::NotApplicable) => Some(Value::Text("not_applicable".to_owned())),
        Some(Rating::Abstained) | None => None,
    };
    match answer {
        Answer::Rubric { criteria, overall, .. } => match criteria.get(row) {
            Some(rated) => value(&rated.rating),
            None => overall.as_ref().filter(|_| row == "overall").and_then(|rated| value(&rated.rating)),
        },
        Answer::Trajectory { steps } => steps.get(row)?.mark.clone().map(Value::Text),
        Answer::Pairwise { label } => label.clone().map(Value::Text),
        Answer::Choice { labels } => labels.first().cloned().map(Value::Text),
        Answer::Likert { value } => value.map(|value| Value::Number(f64::from(value))),
        Answer::Slider { value } => value.map(|value| Value::Number(value as f64)),
        Answer::Text { text } => Some(Value::Text(text.trim().to_owned())),
        Answer::Verify { claims } => value(&claims.get(row)?.rating),
    }
}

fn is_right(expected: &Value, actual: Option<&Value>, tolerance: f64) -> bool {
    match (expected, actual) {
        (Value::Number(a), Some(Value::Number(b))) => (a - b).abs() <= tolerance + 1e-9,
        // Files may write a label as a number, or the other way round.
        (expected, Some(actual)) => expected.to_string() == actual.to_string(),
        (_, None) => false,
    }
}

/// How fast an annotator works.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnnotatorPace {
    pub n_too_fast: usize,
    pub median: Option<f64>,
}

/// The middle one; `None` of nothing.
pub fn compute_median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Answers that came faster than anybody reads: under the owner's limit, or else under a third of the middle
/// of everybody's, once there are enough to tell.
pub fn measure_annotator_pace(seconds: &[f64], everybody: &[f64], min_seconds: Option<f64>) -> AnnotatorPace {
    let limit = min_seconds
        .or_else(|| compute_median(everybody).filter(|_| 10 <= everybody.len()).map(|median| median / 3.0));
    let n_too_fast = limit.map_or(0, |limit| seconds.iter().filter(|second| **second < limit).count());
    AnnotatorPace { n_too_fast, median: compute_median(seconds) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::{Marked, Rated};

    #[test]
    fn numbers_may_be_off_by_the_tolerance_and_labels_may_not() {
        let rated = |value: f64| Rated::of(Value::Number(value));
        let criteria = BTreeMap::from([("a".to_owned(), rated(4.0)), ("b".to_owned(), rated(1.0))]);
        let steps = BTreeMap::from([(
            "2".to_owned(),
            Marked { mark: Some("incorrect".into()), ..Marked::default() },
        )]);
        let draft = AnswerDraft::from([
            ("r".to_owned(), Answer::Rubric { criteria, overall: None, notes: None }),
            ("s".to_owned(), Answer::Trajectory { steps }),
            ("c".to_owned(), Answer::Choice { labels: vec!["x".into(), "y".into()] }),
        ]);
        let expecting: ItemAnswerKey = serde_json::from_str(
            r#"{"item": "t", "tolerance": 1, "answers": {"r": {"a": 5, "b": 3, "z": 1}, "s": {"2": "incorrect"}, "c": ["y", "x"]}}"#,
        )
        .unwrap();
        let checks: Vec<(String, bool)> = compare_expected_answers(&expecting, &draft)
            .into_iter()
            .map(|answer_check| (answer_check.row, answer_check.ok))
            .collect();
        let expected = [("c", true), ("a", true), ("b", false), ("z", false), ("2", true)];
        assert_eq!(checks, expected.map(|expected| (expected.0.to_owned(), expected.1)));
    }

    #[test]
    fn too_fast_is_what_the_owner_says_or_far_from_everybody() {
        let everybody: Vec<f64> = (0..20).map(|n| 60.0 + f64::from(n)).collect();
        assert_eq!(measure_annotator_pace(&[5.0, 50.0], &everybody, None).n_too_fast, 1);
        assert_eq!(measure_annotator_pace(&[5.0, 50.0], &everybody, Some(55.0)).n_too_fast, 2);
        assert_eq!(measure_annotator_pace(&[5.0], &[5.0], None).n_too_fast, 0, "no one to compare with");
        assert_eq!(compute_median(&[3.0, 1.0, 2.0, 10.0]), Some(2.5));
    }
}
