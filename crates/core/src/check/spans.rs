//! Checks on the spans of a trace by their names: how many, how long, how many failed; and on how a run ended.

use regex::Regex;
use serde_json::Value;

use super::{BadCheck, CheckFinding, CheckSubject, Params};
use crate::candidate::{Trace, TraceSpan};
use crate::catalogue::SpanCheckName;

#[derive(Debug)]
pub(super) enum SpanCheck {
    Count {
        name: Regex,
        min: Option<u64>,
        max: Option<u64>,
    },
    Duration {
        name: Regex,
        max_ms: f64,
        percentile: Option<f64>,
    },
    Errors {
        name: Regex,
        max_count: Option<u64>,
        max_percentage: Option<f64>,
    },
    /// Why a model stopped.
    Ending {
        wanted: String,
    },
}

/// Words of vendors for the same ending, the one of OpenAI first.
const ENDINGS: [&[&str]; 4] = [
    &["stop", "end_turn", "stop_sequence", "completed", "ok"],
    &["length", "max_tokens", "cut off"],
    &["tool_calls", "tool_use", "function_call"],
    &["content_filter", "refusal", "refused"],
];

pub(super) fn compile_span_check(check: SpanCheckName, params: &Params<'_>) -> Result<SpanCheck, BadCheck> {
    let value = params.get("value").cloned().unwrap_or(Value::Null);
    let name = || {
        let pattern = value["pattern"].as_str().unwrap_or("*");
        compile_glob(pattern).ok_or_else(|| params.bad("value", format!("`{pattern}` is too long")))
    };
    Ok(match check {
        SpanCheckName::Count => {
            SpanCheck::Count { name: name()?, min: value["min"].as_u64(), max: value["max"].as_u64() }
        }
        SpanCheckName::Duration => {
            let percentile = value["percentile"].as_f64();
            if percentile.is_some_and(|percentile| !(0.0..=100.0).contains(&percentile)) {
                return Err(params.bad("value", "`percentile` must be from 0 to 100"));
            }
            let max_ms = value["max"].as_f64().ok_or_else(|| params.bad("value", "`max` is missing"))?;
            SpanCheck::Duration { name: name()?, max_ms, percentile }
        }
        SpanCheckName::Errors => {
            let max_percentage = value["max_percentage"].as_f64();
            let max_count = value.as_u64().or_else(|| value["max_count"].as_u64());
            let max_count = max_count.or(if max_percentage.is_none() { Some(0) } else { None });
            SpanCheck::Errors { name: name()?, max_count, max_percentage }
        }
        SpanCheckName::FinishReason => {
            SpanCheck::Ending { wanted: params.text("value")?.unwrap_or_default() }
        }
    })
}

/// `*` matches any characters and `?` one character; upper and lower case are equal.
fn compile_glob(pattern: &str) -> Option<Regex> {
    let pattern: String = pattern
        .chars()
        .map(|letter| match letter {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            other => regex::escape(other.encode_utf8(&mut [0; 4])),
        })
        .collect();
    Regex::new(&format!("(?i)^{pattern}$")).ok()
}

fn same_ending(first: &str, second: &str) -> bool {
    let group = |word: &str| {
        let word = word.to_lowercase();
        ENDINGS.iter().position(|words| words.contains(&word.as_str())).ok_or(word)
    };
    group(first) == group(second)
}

/// In a trace of another kind, the calls of tools are its spans.
fn spans_of_calls(trace: &Trace) -> Vec<TraceSpan> {
    let results: Vec<_> = trace.steps.iter().flat_map(|step| &step.results).collect();
    let calls = trace.steps.iter().flat_map(|step| &step.tool_calls);
    calls
        .map(|call| {
            let result = results.iter().find(|result| result.call.is_some() && result.call == call.id);
            TraceSpan {
                name: call.name.clone(),
                duration_ms: call.duration_ms,
                failed: result.is_some_and(|result| result.error),
            }
        })
        .collect()
}

impl SpanCheck {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let trace = match subject.read_trace() {
            Ok(trace) => trace,
            Err(absent) => return absent,
        };
        if let Self::Ending { wanted } = self {
            return match &trace.status {
                Some(status) => {
                    let comment = format!("the model stopped with `{status}`");
                    CheckFinding::pass_or_fail(same_ending(status, wanted), comment)
                }
                None => CheckFinding::without_score("the trace does not say why the model stopped"),
            };
        }
        let spans = if trace.spans.is_empty() { spans_of_calls(&trace) } else { trace.spans.clone() };
        if spans.is_empty() {
            return CheckFinding::without_score(
                "the trace has no spans: neither of OpenTelemetry nor tool calls",
            );
        }
        let named = |name: &Regex| -> Vec<&TraceSpan> {
            spans.iter().filter(|span| name.is_match(&span.name)).collect()
        };
        match self {
            Self::Count { name, min, max } => {
                let n_spans = named(name).len() as u64;
                let holds = min.is_none_or(|min| min <= n_spans) && max.is_none_or(|max| n_spans <= max);
                CheckFinding::pass_or_fail(holds, format!("{n_spans} spans have such a name"))
            }
            Self::Duration { name, max_ms, percentile } => {
                let mut taken: Vec<f64> = named(name).iter().filter_map(|span| span.duration_ms).collect();
                taken.sort_by(f64::total_cmp);
                let at = match percentile {
                    Some(percentile) => (percentile / 100.0 * taken.len() as f64).ceil() as usize,
                    None => taken.len(),
                };
                match taken.get(at.saturating_sub(1)) {
                    None => CheckFinding::pass_or_fail(true, "no span of such a name says how long it took"),
                    Some(slowest) => CheckFinding::pass_or_fail(*slowest <= *max_ms, format!("{slowest} ms")),
                }
            }
            Self::Errors { name, max_count, max_percentage } => {
                let spans = named(name);
                let n_failed = spans.iter().filter(|span| span.failed).count();
                let share = 100.0 * n_failed as f64 / spans.len().max(1) as f64;
                let holds = max_count.is_none_or(|max| n_failed as u64 <= max)
                    && max_percentage.is_none_or(|max| share <= max);
                CheckFinding::pass_or_fail(holds, format!("{n_failed} of {} spans failed", spans.len()))
            }
            Self::Ending { .. } => unreachable!("it was answered above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Check;
    use super::*;

    #[test]
    fn spans_are_counted_by_their_names() {
        let span = |name: &str, start: u64, end: u64, code: u64| {
            let attribute = |key: &str, text: &str| json!({ "key": key, "value": { "stringValue": text } });
            let attributes =
                [attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", name)];
            json!({ "traceId": "t", "spanId": format!("{name}{start}"), "name": name, "status": { "code": code },
                "attributes": attributes, "startTimeUnixNano": (start * 1_000_000).to_string(), "endTimeUnixNano": (end * 1_000_000).to_string() })
        };
        let spans = [span("fetch_a", 0, 40, 1), span("fetch_b", 5, 205, 1), span("answer", 210, 220, 2)];
        let export = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] });
        let subject = CheckSubject::from_outputs(&export, None);
        let score = |name: &str, value: Value| {
            let finding = Check::new(name, &json!({ "value": value })).unwrap().run(&subject);
            assert!(finding.score.is_some(), "{}", finding.comment);
            finding.score
        };
        assert_eq!(score("trace-span-count", json!({ "pattern": "FETCH_*", "min": 2, "max": 2 })), Some(1.0));
        assert_eq!(score("trace-span-count", json!({ "pattern": "fetch_?", "max": 1 })), Some(0.0));
        assert_eq!(score("trace-span-duration", json!({ "max": 200 })), Some(1.0));
        assert_eq!(score("trace-span-duration", json!({ "max": 199 })), Some(0.0));
        assert_eq!(score("trace-span-duration", json!({ "max": 50, "percentile": 50 })), Some(1.0));
        assert_eq!(score("trace-error-spans", json!(0)), Some(0.0));
        assert_eq!(score("trace-error-spans", json!({ "max_percentage": 34 })), Some(1.0));
        assert_eq!(score("trace-error-spans", json!({ "pattern": "fetch*" })), Some(1.0));
    }

    #[test]
    fn words_of_vendors_for_an_ending_are_the_same() {
        for (ending, wanted, same) in [
            ("end_turn", "stop", true),
            ("tool_use", "tool_calls", true),
            ("length", "stop", false),
            ("odd", "ODD", true),
        ] {
            assert_eq!(same_ending(ending, wanted), same, "{ending} {wanted}");
        }
    }
}
