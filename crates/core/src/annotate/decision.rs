//! A decision about a disputed question, checked against the answers that the question allows.

use serde_json::Value as Json;

use super::dispute::list_question_points;
use super::{Rating, Scheme, SchemeKind, Value, point_of};
use crate::grade::{NOTHING_TICKED, join_chosen_labels};

/// A decision that fits its question.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedRating {
    pub rating: Rating,
    /// Of a question of several labels: those that are ticked, in the order of the question.
    pub labels: Option<Vec<String>>,
}

/// Why a decision does not fit its question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDecision {
    #[error("there is no criterion `{criterion}` in `{scheme}`")]
    NotAsked { scheme: String, criterion: String },
    #[error(
        "`rating` must be {{\"kind\": \"scored\", \"value\": …}}, {{\"kind\": \"not_applicable\"}} or {{\"kind\": \"abstained\"}}"
    )]
    Shape,
    #[error("{0}")]
    Value(String),
}

/// Reads a decision about a question of these schemes.
pub fn parse_decided_rating(
    schemes: &[Scheme],
    scheme: &str,
    criterion: &str,
    rating: &Json,
) -> Result<DecidedRating, BadDecision> {
    let unknown_question =
        || BadDecision::NotAsked { scheme: scheme.to_owned(), criterion: criterion.to_owned() };
    let points = list_question_points(schemes, scheme, criterion).ok_or_else(unknown_question)?;
    let kind = &schemes.iter().find(|one| one.name == scheme).ok_or_else(unknown_question)?.kind;
    let map = rating.as_object().ok_or(BadDecision::Shape)?;
    if map.keys().any(|key| key != "kind" && key != "value") {
        return Err(BadDecision::Shape);
    }
    let value = match (map.get("kind").and_then(Json::as_str), map.get("value")) {
        (Some("not_applicable"), None) => {
            return Ok(DecidedRating { rating: Rating::NotApplicable, labels: None });
        }
        (Some("abstained"), None) => return Ok(DecidedRating { rating: Rating::Abstained, labels: None }),
        (Some("scored"), Some(value)) => value,
        _ => return Err(BadDecision::Shape),
    };
    match kind {
        SchemeKind::Choice { labels, many: true, .. } => {
            let chosen = parse_chosen_labels(value, labels)?;
            let rating = Rating::Scored { value: Value::Text(join_chosen_labels(&chosen)) };
            Ok(DecidedRating { rating, labels: Some(chosen) })
        }
        SchemeKind::Text { .. } => {
            Err(BadDecision::Value(format!("`{scheme}` is answered in free text and cannot be decided")))
        }
        _ => {
            let point = parse_point_value(value)
                .filter(|value| points.is_empty() || point_of(&points, value).is_some())
                .ok_or_else(|| BadDecision::Value(decision_off_scale_message(value, &points)))?;
            Ok(DecidedRating { rating: Rating::Scored { value: point }, labels: None })
        }
    }
}

fn parse_point_value(value: &Json) -> Option<Value> {
    match value {
        Json::Bool(is_true) => Some(Value::Bool(*is_true)),
        Json::Number(number) => number.as_f64().map(Value::Number),
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// A list of labels, or one of them as text.
fn parse_chosen_labels(value: &Json, labels: &[String]) -> Result<Vec<String>, BadDecision> {
    let wrong = |value: &Json| {
        BadDecision::Value(format!(
            "{value} is not a list of labels; choose among {}, such as {}",
            labels.join(", "),
            Json::from(labels.iter().take(1).cloned().collect::<Vec<_>>())
        ))
    };
    let chosen: Vec<String> = match value {
        Json::Array(all) => all
            .iter()
            .map(|one| one.as_str().map(str::to_owned).ok_or_else(|| wrong(value)))
            .collect::<Result<_, _>>()?,
        Json::String(text) if text == NOTHING_TICKED => Vec::new(),
        Json::String(text) if labels.contains(text) => vec![text.clone()],
        // In the same form as answers with several labels elsewhere.
        Json::String(text) => text.split(", ").map(str::to_owned).collect(),
        other => return Err(wrong(other)),
    };
    if let Some(unknown) = chosen.iter().find(|label| !labels.contains(label)) {
        return Err(BadDecision::Value(format!("`{unknown}` is not one of {}", labels.join(", "))));
    }
    Ok(labels.iter().filter(|label| chosen.contains(label)).cloned().collect())
}

/// Says which answers there are; of numbers the ends only.
pub(super) fn decision_off_scale_message(value: &Json, points: &[super::ScalePoint]) -> String {
    let are_numbers = points.iter().all(|point| matches!(point.value, Value::Number(_)));
    match (points.first(), points.last()) {
        (Some(first), Some(last)) if are_numbers => {
            format!("{value} is not on the scale from {} to {}", first.value, last.value)
        }
        (Some(_), Some(_)) => {
            let all: Vec<String> = points.iter().map(|point| point.value.to_string()).collect();
            format!("{value} is not one of {}", all.join(", "))
        }
        _ => format!("{value} is not on the scale"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::AnswerLimits;
    use super::*;

    fn schemes() -> Vec<Scheme> {
        let scheme = |name: &str, kind: SchemeKind| Scheme {
            name: name.into(),
            description: None,
            required: false,
            shown_when: None,
            kind,
        };
        let labels = vec!["yes".to_owned(), "no".to_owned()];
        let limits = AnswerLimits::default();
        vec![
            scheme(
                "radio",
                SchemeKind::Choice { labels: labels.clone(), many: false, dropdown: false, limits },
            ),
            scheme("tags", SchemeKind::Choice { labels, many: true, dropdown: false, limits }),
            scheme("likert", SchemeKind::Likert { size: 5, min_label: None, max_label: None }),
            scheme("words", SchemeKind::Text { multiline: true, placeholder: None, limits }),
        ]
    }

    fn decide(scheme: &str, value: impl Into<Json>) -> Result<DecidedRating, String> {
        let rating = json!({"kind": "scored", "value": value.into()});
        parse_decided_rating(&schemes(), scheme, scheme, &rating).map_err(|error| error.to_string())
    }

    #[test]
    fn a_decision_is_an_answer_of_its_question() {
        let text = |text: &str| Rating::Scored { value: Value::Text(text.into()) };
        assert_eq!(decide("radio", json!("no")).unwrap().rating, text("no"));
        assert_eq!(decide("radio", json!(1)).unwrap_err(), "1 is not one of yes, no");
        assert_eq!(decide("likert", json!(5)).unwrap().rating, Rating::Scored { value: Value::Number(5.0) });
        assert_eq!(decide("likert", json!(99)).unwrap_err(), "99 is not on the scale from 1 to 5");
        assert_eq!(decide("likert", json!(1.5)).unwrap_err(), "1.5 is not on the scale from 1 to 5");
        assert_eq!(decide("tags", json!("xx")).unwrap_err(), "`xx` is not one of yes, no");
        assert!(decide("tags", json!(3)).unwrap_err().starts_with("3 is not a list of labels"));
        let both = decide("tags", json!(["no", "yes"])).unwrap();
        assert_eq!(both.labels, Some(vec!["yes".to_owned(), "no".to_owned()]));
        assert_eq!(both.rating, text("no, yes"), "as answers are compared");
        assert_eq!(decide("tags", json!([])).unwrap().rating, text("(none)"));
        assert_eq!(decide("tags", json!("no, yes")).unwrap(), both);
        assert!(decide("words", json!("x")).unwrap_err().contains("free text"));
        assert!(decide("other", json!(1)).unwrap_err().contains("there is no criterion"));
        let skipped = parse_decided_rating(&schemes(), "radio", "radio", &json!({"kind": "not_applicable"}));
        assert_eq!(skipped.unwrap().rating, Rating::NotApplicable);
        let wrong = parse_decided_rating(&schemes(), "radio", "radio", &json!({"value": "yes"}));
        assert_eq!(wrong, Err(BadDecision::Shape));
    }
}
