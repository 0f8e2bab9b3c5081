//! OpenTelemetry's evaluation events as OTLP JSON: a log record for each grade, and one for each verdict.
//!
//! One line, as the collector's file receiver reads it. What the conventions have no name for is under `jurist.`.

use serde_json::{Value as Json, json};

use super::finding::hash_texts_hex;
use super::outcome_text::run_duration_seconds;
use super::verdict_grounds;
use crate::grade::{Grade, Outcome, Time, Value, VerdictStatus};
use crate::run::{CaseResult, Run};

pub(super) fn render_otel_report(run: &Run) -> String {
    render_otel_logs(
        &run.results.iter().flat_map(|result| build_case_log_records(run, &result)).collect::<Vec<_>>(),
    )
}

/// An evaluated trace and its result.
#[derive(Debug)]
pub struct TraceEvaluation<'a> {
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
pub fn render_trace_otel_logs(judged: &TraceEvaluation<'_>) -> String {
    let TraceEvaluation { result, trace, rubric_version, .. } = judged;
    let about = OtelRecordContext {
        uid: vec![trace, judged.monitor, rubric_version],
        shared: vec![
            ("jurist.monitor", Some(otel_string(judged.monitor))),
            ("jurist.probability", Some(otel_double(judged.probability))),
            ("gen_ai.agent.name", judged.agent.map(otel_string)),
            ("jurist.candidate", Some(otel_string(trace))),
            ("jurist.status", Some(otel_string(result.verdict.status.as_str()))),
            ("jurist.pass_mark", judged.pass_mark.map(otel_double)),
            ("jurist.rubric.version", Some(otel_string(rubric_version))),
        ],
        observed: judged.time,
        trace: parse_otel_id(trace, 32),
        span: judged.span.and_then(|span| parse_otel_id(span, 16)),
    };
    let grades = result.grades.iter().enumerate().map(|(at, grade)| {
        about.record(grade.time.unwrap_or(judged.time), &format!("grade {at}"), grade_attributes(grade))
    });
    let verdict = about.record(judged.time, "verdict", verdict_attributes(None, result));
    render_otel_logs(&grades.chain([verdict]).collect::<Vec<_>>())
}

fn render_otel_logs(records: &[Json]) -> String {
    let resource = encode_otel_attributes([("service.name", otel_string("jurist"))]);
    let scope = json!({ "name": "jurist", "version": env!("CARGO_PKG_VERSION") });
    let logs = json!({ "resourceLogs": [{
        "resource": { "attributes": resource },
        "scopeLogs": [{ "scope": scope, "logRecords": records }],
    }] });
    logs.to_string() + "\n"
}

fn build_case_log_records(run: &Run, result: &CaseResult) -> Vec<Json> {
    let id = run.id.to_string();
    let about = OtelRecordContext {
        uid: vec![&id, &result.case],
        shared: vec![
            ("jurist.run.id", Some(otel_string(&id))),
            ("jurist.run.seconds", run_duration_seconds(run).map(otel_double)),
            ("jurist.suite", run.suite.as_deref().map(otel_string)),
            // The names that OpenTelemetry has for version control.
            ("vcs.ref.head.name", run.provenance.branch.as_deref().map(otel_string)),
            ("vcs.ref.head.revision", run.provenance.commit.as_deref().map(otel_string)),
            ("jurist.case", Some(otel_string(&result.case))),
            ("jurist.candidate", Some(otel_string(&result.candidate))),
            ("jurist.status", Some(otel_string(result.verdict.status.as_str()))),
            ("jurist.pass_mark", run.pass_mark(&result.rubric).map(otel_double)),
            ("jurist.rubric.version", Some(otel_string(result.rubric.as_str()))),
        ],
        observed: run.ended.unwrap_or(run.started),
        trace: result.material.trace.as_ref().and_then(|trace| parse_otel_id(trace.id.as_deref()?, 32)),
        span: None,
    };
    let grades = result.grades.iter().enumerate().map(|(at, grade)| {
        let time = grade.time.or(run.ended).unwrap_or(run.started);
        let mut attributes = grade_attributes(grade);
        attributes.push((
            "jurist.weight",
            find_criterion_weight(run, result, &grade.criterion)
                .map(|criterion_weight| json!({ "doubleValue": criterion_weight })),
        ));
        about.record(time, &format!("grade {at}"), attributes)
    });
    let verdict = about.record(about.observed, "verdict", verdict_attributes(Some(run), result));
    grades.chain([verdict]).collect()
}

/// Attributes, some of which are not there.
type OtelAttributes = Vec<(&'static str, Option<Json>)>;

fn grade_attributes(grade: &Grade) -> OtelAttributes {
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
        Outcome::Deferred { why } => (None, Some(super::variant_in_words(why)), None),
        Outcome::NotApplicable => (None, None, None),
    };
    let reason = Some(grade.reason.as_str()).filter(|text| !text.is_empty()).map(str::to_owned);
    let quotes: Vec<Json> = grade.evidence.iter().map(|evidence| otel_string(&evidence.quote)).collect();
    let flags: Vec<Json> = grade.flags.iter().map(|flag| json!({ "stringValue": flag })).collect();
    vec![
        ("gen_ai.evaluation.name", Some(otel_string(&grade.criterion))),
        ("gen_ai.evaluation.score.value", grade.outcome.unit().map(otel_double)),
        ("gen_ai.evaluation.score.label", label.map(|label| otel_string(&label))),
        (
            "gen_ai.evaluation.explanation",
            reason.or(why).filter(|reason| !reason.is_empty()).map(|reason| otel_string(&reason)),
        ),
        ("error.type", failure.map(|failure| json!({ "stringValue": failure }))),
        ("jurist.judge", Some(otel_string(&grade.grader.name))),
        ("jurist.grader.kind", Some(json!({ "stringValue": grade.grader.kind }))),
        ("jurist.value", value.map(|value| otel_string(&value))),
        ("jurist.evidence", (!quotes.is_empty()).then(|| json!({ "arrayValue": { "values": quotes } }))),
        ("jurist.flags", (!flags.is_empty()).then(|| json!({ "arrayValue": { "values": flags } }))),
        ("jurist.cost", grade.spend.cost.map(|cost| json!({ "doubleValue": cost }))),
    ]
}

fn verdict_attributes(run: Option<&Run>, result: &CaseResult) -> OtelAttributes {
    let verdict = &result.verdict;
    let broke = result.grades.iter().find_map(|grade| match &grade.outcome {
        Outcome::Failed { failure, .. } => Some(json!({ "stringValue": failure })),
        _ => None,
    });
    // Without a verdict there is no score to go by, even where some of it could be added up.
    let (score, error) = match verdict.status {
        VerdictStatus::Pass | VerdictStatus::Fail => (verdict.score, None),
        VerdictStatus::Error => (None, broke.or_else(|| Some(otel_string("_OTHER")))),
        VerdictStatus::Deferred => (None, None),
    };
    let label = (verdict.status != VerdictStatus::Error).then(|| otel_string(verdict.status.as_str()));
    let grounds = verdict_grounds(run, result).join("; ");
    vec![
        ("gen_ai.evaluation.name", Some(otel_string("verdict"))),
        ("gen_ai.evaluation.score.value", score.map(otel_double)),
        ("gen_ai.evaluation.score.label", label),
        ("gen_ai.evaluation.explanation", (!grounds.is_empty()).then(|| otel_string(&grounds))),
        ("error.type", error),
        ("jurist.judge", Some(otel_string(&super::join_grader_names(result)))),
        ("jurist.cost", result.spend.cost.map(|cost| json!({ "doubleValue": cost }))),
    ]
}

/// What all records of one result share.
struct OtelRecordContext<'a> {
    /// What makes it the same one.
    uid: Vec<&'a str>,
    shared: OtelAttributes,
    observed: Time,
    trace: Option<String>,
    span: Option<String>,
}

impl OtelRecordContext<'_> {
    fn record(&self, time: Time, what: &str, attributes: OtelAttributes) -> Json {
        let uid: Vec<&str> = self.uid.iter().copied().chain([what]).collect();
        // Sent twice, it is still one record.
        let uid = ("log.record.uid", Some(otel_string(&hash_texts_hex(&uid))));
        let attributes = attributes.into_iter().chain([uid]).chain(self.shared.iter().cloned());
        let attributes = attributes.filter_map(|(key, value)| Some((key, value?)));
        let mut record = json!({
            "timeUnixNano": nanos(time),
            "observedTimeUnixNano": nanos(self.observed),
            "severityNumber": 9,
            "severityText": "INFO",
            "eventName": "gen_ai.evaluation.result",
            "attributes": encode_otel_attributes(attributes),
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
fn parse_otel_id(id: &str, n_digits: usize) -> Option<String> {
    let is_one = id.len() == n_digits
        && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        && id.bytes().any(|byte| byte != b'0');
    is_one.then(|| id.to_ascii_lowercase())
}

fn find_criterion_weight(run: &Run, result: &CaseResult, id: &str) -> Option<f64> {
    fn find(rubric: &Json, id: &str) -> Option<f64> {
        rubric["criteria"].as_array()?.iter().find_map(|item| {
            if item["name"] == id { Some(item["weight"].as_f64().unwrap_or(1.0)) } else { find(item, id) }
        })
    }
    find(run.rubrics.get(&result.rubric)?, id)
}

fn encode_otel_attributes<'a>(attributes: impl IntoIterator<Item = (&'a str, Json)>) -> Vec<Json> {
    attributes.into_iter().map(|(key, value)| json!({ "key": key, "value": value })).collect()
}

fn otel_string(text: &str) -> Json {
    json!({ "stringValue": text })
}

fn otel_double(number: f64) -> Json {
    json!({ "doubleValue": number })
}

/// 64-bit numbers are texts in OTLP's JSON.
fn nanos(time: Time) -> String {
    (i128::from(time.micros().max(0)) * 1000).to_string()
}
