//! OpenTelemetry's evaluation events as OTLP JSON: a log record for each grade, and one for each verdict.
//!
//! One line, as the collector's file receiver reads it. What the conventions have no name for is under `jurist.`.

use serde_json::{Value as Json, json};

use super::finding::hex;
use super::said::seconds;
use super::{grounds, status_word};
use crate::grade::{Grade, Outcome, Status, Time, Value};
use crate::run::{CaseResult, Run};

pub(super) fn render(run: &Run) -> String {
    logs(&run.results.iter().flat_map(|it| of_run(run, &it)).collect::<Vec<_>>())
}

/// A trace that was judged as it came in, and what came of it.
#[derive(Debug)]
pub struct Judged<'a> {
    pub result: &'a CaseResult,
    pub trace: &'a str,
    /// Its root, where it came as spans.
    pub span: Option<&'a str>,
    pub agent: Option<&'a str>,
    pub monitor: &'a str,
    pub rubric_version: &'a str,
    pub pass_mark: Option<f64>,
    /// With which it was looked at.
    pub probability: f64,
    pub time: Time,
}

/// The events of one.
pub fn otel_of_trace(judged: &Judged<'_>) -> String {
    let Judged { result, trace, rubric_version, .. } = judged;
    let about = About {
        uid: vec![trace, judged.monitor, rubric_version],
        shared: vec![
            ("jurist.monitor", Some(text(judged.monitor))),
            ("jurist.probability", Some(number(judged.probability))),
            ("gen_ai.agent.name", judged.agent.map(text)),
            ("jurist.candidate", Some(text(trace))),
            ("jurist.status", Some(text(status_word(result.verdict.status)))),
            ("jurist.pass_mark", judged.pass_mark.map(number)),
            ("jurist.rubric.version", Some(text(rubric_version))),
        ],
        observed: judged.time,
        trace: of_otel(trace, 32),
        span: judged.span.and_then(|it| of_otel(it, 16)),
    };
    let grades = result.grades.iter().enumerate().map(|(at, grade)| {
        about.record(grade.time.unwrap_or(judged.time), &format!("grade {at}"), of_grade(grade))
    });
    let verdict = about.record(judged.time, "verdict", of_verdict(result));
    logs(&grades.chain([verdict]).collect::<Vec<_>>())
}

fn logs(records: &[Json]) -> String {
    let resource = attributes([("service.name", text("jurist"))]);
    let scope = json!({ "name": "jurist", "version": env!("CARGO_PKG_VERSION") });
    let logs = json!({ "resourceLogs": [{
        "resource": { "attributes": resource },
        "scopeLogs": [{ "scope": scope, "logRecords": records }],
    }] });
    logs.to_string() + "\n"
}

fn of_run(run: &Run, result: &CaseResult) -> Vec<Json> {
    let id = run.id.to_string();
    let about = About {
        uid: vec![&id, &result.case],
        shared: vec![
            ("jurist.run.id", Some(text(&id))),
            ("jurist.run.seconds", seconds(run).map(number)),
            ("jurist.suite", run.suite.as_deref().map(text)),
            ("jurist.case", Some(text(&result.case))),
            ("jurist.candidate", Some(text(&result.candidate))),
            ("jurist.status", Some(text(status_word(result.verdict.status)))),
            ("jurist.pass_mark", run.pass_mark(&result.rubric).map(number)),
            ("jurist.rubric.version", Some(text(result.rubric.as_str()))),
        ],
        observed: run.ended.unwrap_or(run.started),
        trace: result.material.trace.as_ref().and_then(|it| of_otel(it.id.as_deref()?, 32)),
        span: None,
    };
    let grades = result.grades.iter().enumerate().map(|(at, grade)| {
        let time = grade.time.or(run.ended).unwrap_or(run.started);
        let mut found = of_grade(grade);
        found.push((
            "jurist.weight",
            weight(run, result, &grade.criterion).map(|it| json!({ "doubleValue": it })),
        ));
        about.record(time, &format!("grade {at}"), found)
    });
    let verdict = about.record(about.observed, "verdict", of_verdict(result));
    grades.chain([verdict]).collect()
}

/// Attributes, some of which are not there.
type Found = Vec<(&'static str, Option<Json>)>;

fn of_grade(grade: &Grade) -> Found {
    let label = match &grade.outcome {
        // A number is no label: there would be too many of them.
        Outcome::Scored { value: Value::Number(_), .. } | Outcome::Failed { .. } => None,
        Outcome::Scored { value, .. } => Some(value.to_string()),
        Outcome::NotApplicable => Some("not_applicable".to_owned()),
        Outcome::Abstained { .. } => Some("abstained".to_owned()),
        Outcome::Deferred { .. } => Some("deferred".to_owned()),
    };
    let (value, why, failure) = match &grade.outcome {
        Outcome::Scored { value, .. } => (Some(value.to_string()), None, None),
        Outcome::Abstained { why } => (None, Some(why.clone()), None),
        Outcome::Failed { failure, detail } => (None, Some(detail.clone()), Some(failure)),
        Outcome::Deferred { why } => (None, Some(super::word(why)), None),
        Outcome::NotApplicable => (None, None, None),
    };
    let reason = Some(grade.reason.as_str()).filter(|it| !it.is_empty()).map(str::to_owned);
    let quotes: Vec<Json> = grade.evidence.iter().map(|it| text(&it.quote)).collect();
    vec![
        ("gen_ai.evaluation.name", Some(text(&grade.criterion))),
        ("gen_ai.evaluation.score.value", grade.outcome.unit().map(number)),
        ("gen_ai.evaluation.score.label", label.map(|it| text(&it))),
        ("gen_ai.evaluation.explanation", reason.or(why).filter(|it| !it.is_empty()).map(|it| text(&it))),
        ("error.type", failure.map(|it| json!({ "stringValue": it }))),
        ("jurist.judge", Some(text(&grade.grader.name))),
        ("jurist.grader.kind", Some(json!({ "stringValue": grade.grader.kind }))),
        ("jurist.value", value.map(|it| text(&it))),
        ("jurist.evidence", (!quotes.is_empty()).then(|| json!({ "arrayValue": { "values": quotes } }))),
        ("jurist.cost", grade.spend.cost.map(|it| json!({ "doubleValue": it }))),
    ]
}

fn of_verdict(result: &CaseResult) -> Found {
    let verdict = &result.verdict;
    let broke = result.grades.iter().find_map(|it| match &it.outcome {
        Outcome::Failed { failure, .. } => Some(json!({ "stringValue": failure })),
        _ => None,
    });
    // Without a verdict there is no score to go by, even where some of it could be added up.
    let (score, error) = match verdict.status {
        Status::Pass | Status::Fail => (verdict.score, None),
        Status::Error => (None, broke.or_else(|| Some(text("_OTHER")))),
        Status::Deferred => (None, None),
    };
    let label = (verdict.status != Status::Error).then(|| text(status_word(verdict.status)));
    let grounds = grounds(result).join("; ");
    vec![
        ("gen_ai.evaluation.name", Some(text("verdict"))),
        ("gen_ai.evaluation.score.value", score.map(number)),
        ("gen_ai.evaluation.score.label", label),
        ("gen_ai.evaluation.explanation", (!grounds.is_empty()).then(|| text(&grounds))),
        ("error.type", error),
        ("jurist.judge", Some(text(&super::judges(result)))),
        ("jurist.cost", result.spend.cost.map(|it| json!({ "doubleValue": it }))),
    ]
}

/// What all records of one result share.
struct About<'a> {
    /// What makes it the same one.
    uid: Vec<&'a str>,
    shared: Found,
    observed: Time,
    trace: Option<String>,
    span: Option<String>,
}

impl About<'_> {
    fn record(&self, time: Time, what: &str, found: Found) -> Json {
        let uid: Vec<&str> = self.uid.iter().copied().chain([what]).collect();
        // Sent twice, it is still one record.
        let uid = ("log.record.uid", Some(text(&hex(&uid))));
        let found = found.into_iter().chain([uid]).chain(self.shared.iter().cloned());
        let found = found.filter_map(|(key, value)| Some((key, value?)));
        let mut record = json!({
            "timeUnixNano": nanos(time),
            "observedTimeUnixNano": nanos(self.observed),
            "severityNumber": 9,
            "severityText": "INFO",
            "eventName": "gen_ai.evaluation.result",
            "attributes": attributes(found),
        });
        for (name, id) in [("traceId", &self.trace), ("spanId", &self.span)] {
            if let Some(id) = id {
                record[name] = json!(id);
            }
        }
        record
    }
}

/// An id, where it is one of OpenTelemetry's. None is made up: it would lead nowhere.
fn of_otel(id: &str, n_digits: usize) -> Option<String> {
    let is_one = id.len() == n_digits
        && id.bytes().all(|it| it.is_ascii_hexdigit())
        && id.bytes().any(|it| it != b'0');
    is_one.then(|| id.to_ascii_lowercase())
}

fn weight(run: &Run, result: &CaseResult, id: &str) -> Option<f64> {
    fn find(rubric: &Json, id: &str) -> Option<f64> {
        rubric["criteria"].as_array()?.iter().find_map(|it| {
            if it["name"] == id { Some(it["weight"].as_f64().unwrap_or(1.0)) } else { find(it, id) }
        })
    }
    find(run.rubrics.get(&result.rubric)?, id)
}

fn attributes<'a>(found: impl IntoIterator<Item = (&'a str, Json)>) -> Vec<Json> {
    found.into_iter().map(|(key, value)| json!({ "key": key, "value": value })).collect()
}

fn text(text: &str) -> Json {
    json!({ "stringValue": text })
}

fn number(number: f64) -> Json {
    json!({ "doubleValue": number })
}

/// 64-bit numbers are texts in OTLP's JSON.
fn nanos(time: Time) -> String {
    (i128::from(time.micros().max(0)) * 1000).to_string()
}
