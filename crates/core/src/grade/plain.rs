//! Answers to questions that no rubric asks, as annotation exports hold them: under the name of the question, next to
//! `questions`, which says of which kind each is.

use std::fmt;

use serde_json::{Map, Value as Json};

use super::lines::BadLine;
use super::{Outcome, Value};

/// What a plain question asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlainQuestion {
    /// One of several labels.
    Labels {
        word: &'static str,
    },
    SeveralLabels,
    /// A number between two ends.
    Number {
        word: &'static str,
        low: f64,
        high: f64,
    },
    Text,
}

/// Kinds of questions with one label.
const LABELS: [&str; 3] = ["radio", "select", "pairwise"];
const NUMBERS: [&str; 2] = ["likert", "slider"];
const SEVERAL_LABELS: &str = "multiselect";
const TEXT: &str = "text";

/// The answer to a question of several labels, of which none is ticked.
pub const NOTHING_TICKED: &str = "(none)";

/// The text between several labels in a cell of a table.
pub const LABEL_SEPARATOR: &str = "; ";

/// Several labels as one value: the same for the same labels, in whatever order they were ticked.
pub fn join_chosen_labels(labels: &[String]) -> String {
    if labels.is_empty() {
        return NOTHING_TICKED.to_owned();
    }
    let mut labels = labels.to_vec();
    labels.sort();
    labels.join(", ")
}

/// Such as `radio` and `likert 1 to 5`.
impl fmt::Display for PlainQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Labels { word } => f.write_str(word),
            Self::SeveralLabels => f.write_str(SEVERAL_LABELS),
            Self::Number { word, low, high } => write!(f, "{word} {low} to {high}"),
            Self::Text => f.write_str(TEXT),
        }
    }
}

impl PlainQuestion {
    /// Reads what [`Display`](fmt::Display) writes; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, ends) = text.split_once(' ').map_or((text, None), |(word, ends)| (word, Some(ends)));
        let known = |words: &'static [&'static str]| words.iter().copied().find(|known| *known == word);
        match ends {
            Some(ends) => {
                let (low, high) = ends.split_once(" to ")?;
                let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
                known(&NUMBERS).filter(|_| low < high).map(|word| Self::Number { word, low, high })
            }
            None if word == SEVERAL_LABELS => Some(Self::SeveralLabels),
            None if word == TEXT => Some(Self::Text),
            None => known(&LABELS).map(|word| Self::Labels { word }),
        }
    }

    /// What a column next to the answers says of them: the ends of the scale, or the kind of question.
    pub fn describe_scale(&self) -> String {
        match self {
            Self::Number { low, high, .. } => format!("{low} to {high}"),
            other => other.to_string(),
        }
    }

    /// Whether answers can be compared as grades.
    pub fn is_graded(&self) -> bool {
        *self != Self::Text
    }

    /// An answer as a grade says it.
    fn read_answer(&self, name: &str, answer: &Json) -> Result<Outcome, BadLine> {
        let shape = |expected: &str| BadLine::Shape(format!("the answer to `{name}` is not {expected}"));
        if answer.is_null() {
            return Ok(Outcome::Abstained { why: "not answered".to_owned() });
        }
        match self {
            Self::Number { low, high, .. } => {
                let number = answer.as_f64().ok_or_else(|| shape("a number"))?;
                let unit = Some((number - low) / (high - low)).filter(|unit| (0.0..=1.0).contains(unit));
                Ok(Outcome::Scored { value: Value::Number(number), unit })
            }
            Self::SeveralLabels => {
                let labels = answer.as_array().ok_or_else(|| shape("a list of labels"))?;
                let labels: Option<Vec<String>> =
                    labels.iter().map(|label| label.as_str().map(str::to_owned)).collect();
                let labels = labels.ok_or_else(|| shape("a list of labels"))?;
                Ok(Outcome::Scored { value: Value::Text(join_chosen_labels(&labels)), unit: None })
            }
            Self::Labels { .. } | Self::Text => {
                let text = answer.as_str().ok_or_else(|| shape("a label"))?;
                Ok(Outcome::Scored { value: Value::Text(text.to_owned()), unit: None })
            }
        }
    }
}

/// A question of a form whose answers are not read as grades.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UngradedQuestion {
    pub name: String,
    /// `None` where the form does not say.
    pub kind: Option<String>,
}

impl fmt::Display for UngradedQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Some(kind) => write!(f, "`{}` ({kind})", self.name),
            None => write!(f, "`{}` (no kind in `questions`)", self.name),
        }
    }
}

/// One answer of a form.
pub(super) struct PlainAnswer {
    pub(super) question: String,
    pub(super) outcome: Outcome,
}

/// Keys of a form that hold no answer.
const OF_FORM: [&str; 12] = [
    "trace_id",
    "candidate",
    "id",
    "instance_id",
    "annotator",
    "timestamp",
    "rubric",
    "metadata",
    "questions",
    "decided",
    "annotations",
    "seconds",
];

/// Whether a line is a form of an annotation task.
pub(super) fn is_form(map: &Map<String, Json>) -> bool {
    map.get("rubric").is_some_and(|rubric| rubric.get("criteria_ratings").is_some())
        || (map.get("questions").is_some_and(Json::is_object) && map.contains_key("annotator"))
}

/// The answers of a form that no rubric asks.
pub(super) fn read_plain_answers(map: &Map<String, Json>) -> Result<Vec<PlainAnswer>, BadLine> {
    let mut answers = Vec::new();
    for (name, kind) in map.get("questions").and_then(Json::as_object).into_iter().flatten() {
        let kind = kind.as_str().and_then(PlainQuestion::parse);
        let kind = kind.ok_or_else(|| {
            BadLine::Shape(format!(
                "`questions` names no known kind for `{name}`, such as radio or likert 1 to 5"
            ))
        })?;
        // If the form has another field of that name, the answer has the suffix `_answer`.
        let answer_key = format!("{name}_answer");
        let answer = map.get(&answer_key).or_else(|| map.get(name)).filter(|_| kind.is_graded());
        if let Some(answer) = answer {
            let outcome = kind.read_answer(name, answer)?;
            answers.push(PlainAnswer { question: name.clone(), outcome });
        }
    }
    Ok(answers)
}

/// The questions of a form, on one line, whose answers are not read as grades. Nothing for any other line.
pub fn list_ungraded_questions(line: &str) -> Vec<UngradedQuestion> {
    let Ok(Json::Object(map)) = serde_json::from_str(line) else { return Vec::new() };
    if !is_form(&map) {
        return Vec::new();
    }
    let questions = map.get("questions").and_then(Json::as_object);
    let kind_of = |name: &str| questions.and_then(|questions| questions.get(name)?.as_str());
    let ungraded = |(name, answer): (&String, &Json)| {
        let is_answer = answer.is_string() || answer.is_number() || answer.is_array();
        let kind = kind_of(name);
        let is_graded = kind.and_then(PlainQuestion::parse).is_some_and(|kind| kind.is_graded());
        (is_answer && !is_graded && !OF_FORM.contains(&name.as_str()))
            .then(|| UngradedQuestion { name: name.clone(), kind: kind.map(str::to_owned) })
    };
    map.iter().filter_map(ungraded).collect()
}

#[cfg(test)]
mod tests {
    use super::super::GradesFileLine;
    use super::*;

    const LINE: &str = r#"{"trace_id": "t1", "annotator": "ana", "timestamp": "2026-03-20T10:15:32Z",
        "grounded": "yes", "tags": ["b", "a"], "clarity": 4, "effort": 50, "why": "so",
        "questions": {"grounded": "radio", "tags": "multiselect", "clarity": "likert 1 to 5",
            "effort": "slider 0 to 100", "why": "text"}, "decided": {"grounded": "no"}}"#;

    #[test]
    fn plain_answers_of_a_form_are_grades() {
        let (GradesFileLine::Grades(grades), _) = GradesFileLine::with_fields(LINE).unwrap() else {
            panic!()
        };
        let answers: Vec<(&str, &Outcome)> =
            grades.iter().map(|grade| (grade.criterion.as_str(), &grade.outcome)).collect();
        let text = |text: &str| Outcome::Scored { value: Value::Text(text.into()), unit: None };
        let number =
            |value: f64, unit: f64| Outcome::Scored { value: Value::Number(value), unit: Some(unit) };
        let (yes, tags, clarity, effort) = (text("yes"), text("a, b"), number(4.0, 0.75), number(50.0, 0.5));
        let expected = [("clarity", &clarity), ("effort", &effort), ("grounded", &yes), ("tags", &tags)];
        assert_eq!(answers, expected);
        assert_eq!(grades[0].grader.name, "ana");
        // A rubric scores criteria of its own only.
        let GradesFileLine::Grades(of_rubric) = GradesFileLine::parse(LINE).unwrap() else { panic!() };
        assert!(of_rubric.is_empty());
    }

    #[test]
    fn what_is_no_grade_is_named() {
        let ungraded =
            |line: &str| list_ungraded_questions(line).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(ungraded(&LINE.replace('\n', " ")), ["`why` (text)"]);
        let old =
            r#"{"id": 1, "annotator": "a", "grounded": "yes", "rubric": {"criteria_ratings": {"a": 1}}}"#;
        assert_eq!(ungraded(old), ["`grounded` (no kind in `questions`)"]);
        assert!(ungraded(r#"{"candidate": "a", "criterion": "b", "value": 1}"#).is_empty());
    }

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for text in
            ["radio", "select", "pairwise", "multiselect", "text", "likert 1 to 5", "slider -10 to 10"]
        {
            assert_eq!(PlainQuestion::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "likert", "likert 5 to 1", "radio 1 to 5", "span"] {
            assert_eq!(PlainQuestion::parse(text), None);
        }
    }
}
