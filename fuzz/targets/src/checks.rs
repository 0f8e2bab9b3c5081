//! Checks and the records that they look at: a check gives a score from 0 to 1, or says why there is none.

use jurist_core::candidate::{JudgeInput, RecordFields};
use jurist_core::check::{Check, CheckFinding, CheckSubject};
use jurist_core::judge::RecordKeys;
use serde_json::Value as Json;

use crate::sections;

/// The check's name, its parameters, the output and the reference.
pub fn run_check(input: &[u8]) {
    let Some(mut texts) = sections(input) else { return };
    let name = texts.next().unwrap_or_default();
    let params = serde_json::from_str(texts.next().unwrap_or_default()).unwrap_or(Json::Null);
    let (output, reference) = (texts.next().map(value_of), texts.next().map(value_of));
    let Ok(check) = Check::new(name, &params) else { return };
    let output = output.unwrap_or_default();
    let subject = CheckSubject::from_outputs(&output, reference.as_ref());
    let vector = |text: &str| Some(vec![text.len() as f32, 1.0]);
    check_finding(&check.run(&subject));
    check_finding(&check.run_with(&subject, &vector));
}

/// What is no JSON is text.
fn value_of(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::from(text))
}

fn check_finding(finding: &CheckFinding) {
    let is_score = |score: f64| (0.0..=1.0).contains(&score);
    assert!(finding.score.is_none_or(is_score), "{finding:?}");
    assert!(!finding.failed || finding.score.is_none(), "a check that failed has no score: {finding:?}");
    assert!(finding.score.is_some() || !finding.comment.is_empty(), "no score, and no reason: {finding:?}");
}

/// A line of `jurist grade`.
pub fn read_record(input: &[u8]) {
    let Ok(record) = serde_json::from_slice::<Json>(input) else { return };
    let fields = RecordFields::read(&record);
    if let Ok(subject) = CheckSubject::from_fields(&fields) {
        for (name, params) in [("contains", r#"{"value": "a"}"#), ("tool_use", "{}"), ("latency", "{}")] {
            let params = serde_json::from_str(params).expect("JSON");
            if let Ok(check) = Check::new(name, &params) {
                check_finding(&check.run(&subject));
            }
        }
    }
    if let Ok(material) = JudgeInput::from_record(&record, &RecordKeys::default()) {
        let _ = (material.text(), material.fingerprint());
        let subject = CheckSubject::from_material(&material);
        let check = Check::new("exact_match", &Json::Null).expect("it needs no parameters");
        check_finding(&check.run(&subject));
    }
}
