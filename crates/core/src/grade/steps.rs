//! Marks on the steps of a trace, as people leave them in an annotation task (`trajectory_eval`).
//!
//! A form holds, under the name of its scheme, `{steps: [{step_index, correctness, error_type, error_subtype,
//! severity, rationale}]}`. Each step is graded by itself: the candidate is `trace#step`, and the criteria are
//! `scheme.mark`, and for steps that are wrong `scheme.error` and `scheme.severity`.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::lines::{BadLine, id_text, is_excluded_form, unnamed_grader};
use super::{FORMAT, Grade, Grader, GraderKind, Outcome, Reason, Spend, Time, Value};

/// One step as Potato writes it; keys that say nothing about it are left alone.
#[derive(Deserialize)]
struct MarkedStep {
    #[serde(alias = "step", alias = "index")]
    step_index: Option<usize>,
    correctness: Option<String>,
    error_type: Option<String>,
    error_subtype: Option<String>,
    severity: Option<String>,
    #[serde(alias = "notes")]
    rationale: Option<String>,
}

/// The grades of every step in a submitted form; none where it marks no steps.
pub fn step_grades(text: &str) -> Result<Vec<Grade>, BadLine> {
    let Ok(Json::Object(map)) = serde_json::from_str(text) else { return Ok(Vec::new()) };
    let mut grades = Vec::new();
    if is_excluded_form(&map) {
        return Ok(grades);
    }
    for (scheme, steps) in schemes(&map) {
        for (at, step) in steps.into_iter().enumerate() {
            let step: MarkedStep = serde_json::from_value(step)
                .map_err(|error| BadLine::Shape(format!("step {at} of `{scheme}`: {error}")))?;
            grades.extend(build_step_grades(&map, &scheme, at, &step)?);
        }
    }
    Ok(grades)
}

/// Whether a line is a form that marks steps.
pub(super) fn marks_steps(map: &Map<String, Json>) -> bool {
    !map.contains_key("criterion") && !schemes(map).is_empty()
}

/// Schemes by name with their steps, next to the other answers or under `annotations`, as JSON or as its text.
fn schemes(map: &Map<String, Json>) -> Vec<(String, Vec<Json>)> {
    let inner = map.get("annotations").and_then(Json::as_object);
    let lists = map.iter().chain(inner.into_iter().flatten()).filter_map(|(name, value)| {
        let parsed: Json =
            value.as_str().and_then(|value| serde_json::from_str(value).ok()).unwrap_or(Json::Null);
        let steps = value.get("steps").or_else(|| parsed.get("steps"))?.as_array()?;
        let is_marked = steps.iter().any(|step| step.get("correctness").is_some());
        is_marked.then(|| (name.clone(), steps.clone()))
    });
    lists.collect()
}

fn build_step_grades(
    map: &Map<String, Json>,
    scheme: &str,
    at: usize,
    step: &MarkedStep,
) -> Result<Vec<Grade>, BadLine> {
    let id = ["trace_id", "candidate", "id", "instance_id"].iter().find_map(|text| map.get(*text));
    let trace = id_text(id.ok_or(BadLine::Missing("trace_id"))?);
    let name = ["annotator", "user", "user_id"].iter().find_map(|text| map.get(*text)?.as_str());
    let human = |name: &str| Grader { kind: GraderKind::Human, name: name.to_owned(), configuration: None };
    let grader = name.map_or_else(unnamed_grader, human);
    let time = map.get("timestamp").and_then(Json::as_str).and_then(|text| Time::parse(text).ok());
    let text =
        |it: &Option<String>| it.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let error = text(&step.error_type).map(|kind| match text(&step.error_subtype) {
        Some(subtype) => format!("{kind}::{subtype}"),
        None => kind,
    });
    let scored = |text: String| Outcome::Scored { value: Value::Text(text), unit: None };
    let unjudged = || Outcome::Abstained { why: "not judged".to_owned() };
    let answers = [
        ("mark", Some(text(&step.correctness).map_or_else(unjudged, scored))),
        ("error", error.map(scored)),
        ("severity", text(&step.severity).map(scored)),
    ];
    let grade = |(part, outcome): (&str, Outcome)| Grade {
        format: FORMAT,
        candidate: format!("{trace}#{}", step.step_index.unwrap_or(at)),
        rubric: None,
        criterion: format!("{scheme}.{part}"),
        grader: grader.clone(),
        outcome,
        reason: Reason::new(step.rationale.as_deref().unwrap_or_default()),
        evidence: Vec::new(),
        points: Vec::new(),
        flags: Vec::new(),
        spend: Spend::default(),
        time,
        attempts: Vec::new(),
    };
    Ok(answers.into_iter().filter_map(|(part, outcome)| Some(grade((part, outcome?)))).collect())
}

#[cfg(test)]
mod tests {
    use super::super::GradesFileLine;
    use super::*;

    #[test]
    fn steps_are_graded_one_by_one_beside_the_ratings_of_the_form() {
        let line = r#"{"trace_id": "t1", "annotator": "ann", "rubric": {"criteria_ratings": {"a": 4}},
            "step_eval": {"steps": [{"step_index": 0, "correctness": "correct"},
              {"step_index": 1, "correctness": "incorrect", "error_type": "action", "error_subtype": "wrong_tool",
               "severity": "major", "rationale": "asks the wrong table"},
              {"step_index": 2, "correctness": null}], "score": 95}}"#;
        let grades = step_grades(line).unwrap();
        let read: Vec<String> =
            grades.iter().map(|grade| format!("{} {}", grade.candidate, grade.criterion)).collect();
        assert_eq!(
            read,
            [
                "t1#0 step_eval.mark",
                "t1#1 step_eval.mark",
                "t1#1 step_eval.error",
                "t1#1 step_eval.severity",
                "t1#2 step_eval.mark"
            ]
        );
        assert!(matches!(grades[4].outcome, Outcome::Abstained { .. }));
        assert_eq!(
            grades[2].outcome,
            Outcome::Scored { value: Value::Text("action::wrong_tool".into()), unit: None }
        );
        let GradesFileLine::Grades(ratings) = GradesFileLine::parse(line).unwrap() else {
            panic!("not grades")
        };
        assert_eq!(ratings.len(), 1);
    }

    #[test]
    fn a_form_of_steps_alone_may_hold_them_as_text() {
        let line = r#"{"id": "t1", "user": "bob", "annotations": {"s": "{\"steps\": [{\"correctness\": \"ok\"}]}"}}"#;
        assert_eq!(step_grades(line).unwrap()[0].candidate, "t1#0");
        assert_eq!(GradesFileLine::parse(line).unwrap(), GradesFileLine::Grades(vec![]));
        assert!(step_grades(r#"{"candidate": "a", "criterion": "b", "value": 1}"#).unwrap().is_empty());
        let odd = r#"{"id": "t1", "s": {"steps": [{"correctness": 7}]}}"#;
        assert!(step_grades(odd).unwrap_err().to_string().contains("step 0 of `s`"));
    }
}
