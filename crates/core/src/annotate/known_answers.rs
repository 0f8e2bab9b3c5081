//! Known answers of training, gold and attention items, compared with what their question allows.

use serde_json::Value as Json;

use super::decision::decision_off_scale_message;
use super::{BadSettings, ItemAnswerKey, ScalePoint, Scheme, SchemeKind, point_of};
use crate::rubric::Value;

impl ItemAnswerKey {
    /// Fails if an answer is to a question that is not asked, or is one that no annotator can give.
    pub fn check(&self, schemes: &[Scheme]) -> Result<(), BadSettings> {
        for (name, expected) in &self.answers {
            let Some(scheme) = schemes.iter().find(|scheme| scheme.name == *name) else {
                let names: Vec<String> = schemes.iter().map(|scheme| format!("`{}`", scheme.name)).collect();
                return Err(BadSettings(format!(
                    "the item `{}` has an answer to `{name}`, and there is no such scheme; there are {}",
                    self.item,
                    names.join(", ")
                )));
            };
            let expected = serde_json::to_value(expected).expect("answers are plain data");
            if let Some(why) = find_impossible_answer(scheme, &expected) {
                return Err(BadSettings(format!(
                    "the item `{}` has an answer to `{name}` that no annotator can give: {why}",
                    self.item
                )));
            }
        }
        Ok(())
    }
}

/// Why no annotator can give this answer to a scheme; `None` if the answer is possible.
pub fn find_impossible_answer(scheme: &Scheme, expected: &Json) -> Option<String> {
    match expected {
        Json::Array(labels) => find_impossible_labels(&scheme.kind, labels),
        Json::Object(rows) => {
            rows.iter().find_map(|(row, value)| find_impossible_value(&scheme.kind, row, value))
        }
        value => find_impossible_value(&scheme.kind, &scheme.name, value),
    }
}

/// A list is the answer to a question of several labels.
fn find_impossible_labels(kind: &SchemeKind, expected: &[Json]) -> Option<String> {
    let SchemeKind::Choice { labels, many, limits, .. } = kind else {
        return Some("a list is the answer to a `multiselect` only".to_owned());
    };
    if !many && expected.len() != 1 {
        return Some(format!("one label is expected, and there are {}", expected.len()));
    }
    let unknown = expected.iter().find_map(|label| match label.as_str() {
        Some(text) => find_unknown_label(text, labels.iter()),
        None => Some(format!("{label} is not a label")),
    });
    unknown.or_else(|| limits.find_violation(expected.len(), "label"))
}

/// `row` is a criterion, the number of a step, or the name of a scheme that asks one thing.
fn find_impossible_value(kind: &SchemeKind, row: &str, expected: &Json) -> Option<String> {
    let Ok(value) = serde_json::from_value::<Value>(expected.clone()) else {
        return Some(format!("{expected} is not a label or a number"));
    };
    // Answers are compared as texts, so that a file may write a label as a number, or the other way round.
    let text = value.to_string();
    match kind {
        SchemeKind::Text { .. } => None,
        SchemeKind::Choice { labels, .. } => find_unknown_label(&text, labels.iter()),
        SchemeKind::Pairwise { labels, tie_label } => {
            find_unknown_label(&text, labels.iter().chain(tie_label))
        }
        SchemeKind::Likert { size, .. } => find_off_scale(&text, 1, i64::from(*size), 1),
        SchemeKind::Slider { min, max, step, .. } => find_off_scale(&text, *min, *max, *step),
        SchemeKind::Trajectory { steps, marks, .. } => match row.parse::<usize>() {
            // The steps are known only together with an item.
            Ok(step @ 1..) if steps.is_empty() || steps.contains(&step) => {
                find_unknown_label(&text, marks.iter())
            }
            Ok(1..) => Some(format!("there is no step {row}")),
            _ => Some(format!("`{row}` is not the number of a step, from 1 on")),
        },
        SchemeKind::Rubric { criteria, overall, .. } => {
            let Some(criterion) = criteria.iter().chain(overall).find(|criterion| criterion.name == row)
            else {
                let names: Vec<&str> =
                    criteria.iter().chain(overall).map(|criterion| criterion.name.as_str()).collect();
                return Some(format!("there is no criterion `{row}`; there are {}", names.join(", ")));
            };
            if criterion.may_skip && text == "not_applicable" {
                return None;
            }
            find_off_points(&text, expected, &criterion.points)
        }
        SchemeKind::Verify { claims } => {
            // The claims are known only together with an item.
            if claims.is_empty() {
                return None;
            }
            match claims.iter().find(|claim| claim.id == row) {
                Some(claim) => find_off_points(&text, expected, &claim.points),
                None => Some(format!("the judge gave no answer `{row}`")),
            }
        }
    }
}

/// A scale without points allows every answer.
fn find_off_points(text: &str, expected: &Json, points: &[ScalePoint]) -> Option<String> {
    let is_number = |number: f64| point_of(points, &Value::Number(number)).is_some();
    let is_possible = points.is_empty()
        || points.iter().any(|point| point.value.to_string() == text)
        || text.parse::<f64>().is_ok_and(is_number);
    if is_possible {
        return None;
    }
    // Settings hold a number such as 9 as 9.0.
    let parsed_number = text.parse::<Json>().ok().filter(|_| expected.is_number());
    Some(decision_off_scale_message(parsed_number.as_ref().unwrap_or(expected), points))
}

fn find_unknown_label<'a>(text: &str, labels: impl Iterator<Item = &'a String>) -> Option<String> {
    let labels: Vec<&str> = labels.map(String::as_str).collect();
    (!labels.contains(&text)).then(|| format!("`{text}` is not one of {}", labels.join(", ")))
}

fn find_off_scale(text: &str, min: i64, max: i64, step: u32) -> Option<String> {
    let is_point =
        |number: i64| (min..=max).contains(&number) && (number - min) % i64::from(step.max(1)) == 0;
    let steps = if 1 < step { format!(" in steps of {step}") } else { String::new() };
    let is_possible = text.parse::<i64>().is_ok_and(is_point);
    (!is_possible).then(|| format!("{text} is not a whole number from {min} to {max}{steps}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::annotate::{AnswerLimits, FormCriterion};

    fn find(kind: SchemeKind, expected: &Json) -> Option<String> {
        let scheme =
            Scheme { name: "asked".to_owned(), description: None, required: true, shown_when: None, kind };
        find_impossible_answer(&scheme, expected)
    }

    fn choice(many: bool) -> SchemeKind {
        let labels = vec!["rude".to_owned(), "1".to_owned()];
        SchemeKind::Choice { labels, dropdown: false, many, limits: AnswerLimits::default() }
    }

    #[test]
    fn labels_are_those_of_the_question() {
        assert_eq!(find(choice(false), &json!("rude")), None);
        assert_eq!(find(choice(false), &json!(1)), None, "a label may be written as a number");
        assert_eq!(find(choice(true), &json!([])), None, "nothing is ticked");
        assert_eq!(find(choice(true), &json!(["1", "rude"])), None);
        assert_eq!(find(choice(false), &json!("kind")).unwrap(), "`kind` is not one of rude, 1");
        assert_eq!(find(choice(true), &json!(["kind"])).unwrap(), "`kind` is not one of rude, 1");
        assert_eq!(
            find(choice(false), &json!(["rude", "1"])).unwrap(),
            "one label is expected, and there are 2"
        );
        assert_eq!(find(choice(true), &json!([1])).unwrap(), "1 is not a label");
        assert_eq!(find(choice(true), &json!({"rude": true})).unwrap(), "`true` is not one of rude, 1");
        assert_eq!(find(choice(true), &json!(null)).unwrap(), "null is not a label or a number");
        let pair = |tie_label: Option<&str>| SchemeKind::Pairwise {
            labels: vec!["A".to_owned(), "B".to_owned()],
            tie_label: tie_label.map(str::to_owned),
        };
        assert_eq!(find(pair(Some("equal")), &json!("equal")), None);
        assert_eq!(find(pair(None), &json!("equal")).unwrap(), "`equal` is not one of A, B");
    }

    #[test]
    fn numbers_are_on_the_scale() {
        let likert = || SchemeKind::Likert { size: 5, min_label: None, max_label: None };
        assert_eq!(find(likert(), &json!(5)), None);
        assert_eq!(find(likert(), &json!("5")), None, "a number may be written as text");
        for value in [json!(0), json!(6), json!(2.5), json!("five")] {
            let why = find(likert(), &value).unwrap();
            assert!(why.ends_with("is not a whole number from 1 to 5"), "{why}");
        }
        assert_eq!(find(likert(), &json!([3])).unwrap(), "a list is the answer to a `multiselect` only");
        let slider = || SchemeKind::Slider {
            min: 0,
            max: 100,
            step: 5,
            start: None,
            min_label: None,
            max_label: None,
        };
        assert_eq!(find(slider(), &json!(35)), None);
        let why = find(slider(), &json!(7)).unwrap();
        assert_eq!(why, "7 is not a whole number from 0 to 100 in steps of 5");
    }

    #[test]
    fn steps_are_marked_by_their_number() {
        let steps = || SchemeKind::Trajectory {
            steps: vec![1, 2],
            marks: vec!["correct".to_owned(), "wrong".to_owned()],
            errors: Vec::new(),
            severities: Vec::new(),
            initial: 100.0,
        };
        assert_eq!(find(steps(), &json!({"1": "correct", "2": "wrong"})), None);
        assert_eq!(find(steps(), &json!({"2": "bad"})).unwrap(), "`bad` is not one of correct, wrong");
        assert_eq!(find(steps(), &json!({"3": "wrong"})).unwrap(), "there is no step 3");
        assert!(find(steps(), &json!({"0": "wrong"})).unwrap().contains("is not the number of a step"));
        assert!(find(steps(), &json!("wrong")).unwrap().contains("`asked` is not the number of a step"));
        let words = SchemeKind::Text { multiline: true, placeholder: None, limits: AnswerLimits::default() };
        assert_eq!(find(words, &json!("Paris")), None);
    }

    #[test]
    fn criteria_have_the_points_of_their_scale() {
        let point = |value: Value| ScalePoint { value, label: None, text: None, unit: None };
        let criterion = |name: &str, points: Vec<Value>| FormCriterion {
            name: name.to_owned(),
            label: name.to_owned(),
            description: None,
            weight: 1.0,
            points: points.into_iter().map(point).collect(),
            may_skip: name == "tone",
        };
        let rubric = || SchemeKind::Rubric {
            criteria: vec![
                criterion("met", vec![Value::Bool(false), Value::Bool(true)]),
                criterion("tone", (1..=5).map(|number| Value::Number(f64::from(number))).collect()),
            ],
            overall: None,
            notes: None,
            shows_score: false,
        };
        assert_eq!(find(rubric(), &json!({"met": true, "tone": 5})), None);
        assert_eq!(find(rubric(), &json!({"tone": "4"})), None, "a number may be written as text");
        assert_eq!(find(rubric(), &json!({"tone": "not_applicable"})), None);
        assert_eq!(find(rubric(), &json!({"met": "yes"})).unwrap(), "\"yes\" is not one of false, true");
        assert_eq!(find(rubric(), &json!({"tone": 9})).unwrap(), "9 is not on the scale from 1 to 5");
        let unknown = find(rubric(), &json!({"clear": 1})).unwrap();
        assert_eq!(unknown, "there is no criterion `clear`; there are met, tone");
    }

    #[test]
    fn an_answer_key_names_its_item_and_scheme() {
        let kind = SchemeKind::Likert { size: 5, min_label: None, max_label: None };
        let scheme =
            Scheme { name: "tone".to_owned(), description: None, required: true, shown_when: None, kind };
        let check = |answers: &Json| {
            let key: ItemAnswerKey =
                serde_json::from_value(json!({"item": "a1", "answers": answers})).unwrap();
            key.check(std::slice::from_ref(&scheme)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&json!({"tone": 3})), Ok(()));
        let off_scale = "the item `a1` has an answer to `tone` that no annotator can give: \
            77 is not a whole number from 1 to 5";
        assert_eq!(check(&json!({"tone": 77})), Err(off_scale.to_owned()));
        assert!(check(&json!({"tone": 2.5})).unwrap_err().contains("2.5 is not a whole number"));
        let unknown = "the item `a1` has an answer to `tune`, and there is no such scheme; there are `tone`";
        assert_eq!(check(&json!({"tune": 3})), Err(unknown.to_owned()));
    }
}
