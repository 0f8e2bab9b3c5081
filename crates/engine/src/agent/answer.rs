//! What a program or an address answers: plain text, or JSON with everything that a run left behind.

use jurist_core::candidate::{GuardrailReport, Measurements, Trace, TraceFormat, read_trace_value};
use jurist_core::grade::{Failure, Spend};
use serde_json::{Map, Value as Json};

use super::{AgentOutput, AgentRunError};

/// Fields that hold the answer itself.
const OUTPUT: [&str; 3] = ["output", "text", "response"];

/// Keys of an answer that are read.
const KNOWN: [&str; 23] = [
    "output",
    "text",
    "response",
    "error",
    "messages",
    "trace",
    "context",
    "files",
    "diff",
    "file_changes",
    "usage",
    "token_usage",
    "tokenUsage",
    "cost",
    "cost_usd",
    "latency",
    "latency_ms",
    "latencyMs",
    "duration_ms",
    "metadata",
    "guardrails",
    "logProbs",
    // promptfoo's field for an answer from its cache.
    "cached",
];

/// Keys whose value is a number that is not negative.
const AMOUNTS: [&str; 6] = ["cost", "cost_usd", "latency", "latency_ms", "latencyMs", "duration_ms"];

/// Keys whose value has counts of tokens.
const USAGE: [&str; 3] = ["usage", "token_usage", "tokenUsage"];

/// A part of an answer that is ignored, or that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerWarning {
    UnknownKey(String),
    /// A known key with a value of another kind.
    BadValue(String),
    /// JSON that ends before it is complete.
    CutOff,
}

impl AnswerWarning {
    pub(super) fn describe(&self, target: &str) -> String {
        match self {
            Self::UnknownKey(key) => format!("`{key}` in the answer of `{target}` is not used"),
            Self::BadValue(key) => {
                let wanted = if USAGE.contains(&key.as_str()) {
                    "it has no counts such as {input: 10, output: 5}"
                } else {
                    "it is not a number of 0 or more"
                };
                format!("`{key}` in the answer of `{target}` is not used: {wanted}")
            }
            Self::CutOff => {
                format!("an answer of `{target}` begins as JSON and is cut off, so it is graded as text")
            }
        }
    }
}

/// Longest file, in bytes, in a diff. The 256 KiB are about 65,000 tokens; judges have no room for more.
const MAX_FILE: usize = 256 << 10;

/// Reads the output of an agent. JSON that has neither an answer nor a run in it is the answer itself.
pub(super) fn read_answer(text: &str) -> Result<AgentOutput, AgentRunError> {
    let plain = || AgentOutput { response: Some(text.trim_end().to_owned()), ..AgentOutput::default() };
    let fields = match serde_json::from_str::<Json>(text) {
        Ok(Json::Object(fields)) => fields,
        Err(error) if error.is_eof() && text.trim_start().starts_with('{') => {
            return Ok(AgentOutput { warnings: vec![AnswerWarning::CutOff], ..plain() });
        }
        Ok(_) | Err(_) => return Ok(plain()),
    };
    let field = |key: &str| fields.get(key).filter(|value| !value.is_null());
    // Many programs write an error that is empty where there is none.
    let is_error = |error: &&Json| error.as_str() != Some("") && error.as_bool() != Some(false);
    match field("error").filter(is_error) {
        None => {}
        Some(Json::String(error)) => return Err(AgentRunError::unavailable(error)),
        Some(error) => return Err(AgentRunError::unavailable(error.to_string())),
    }
    let output = OUTPUT.iter().find_map(|key| field(key));
    let run = ["trace", "messages"].iter().find_map(|key| Some((*key, field(key)?)));
    let is_silent = output.is_none() && run.is_none();
    if is_silent && !OUTPUT.iter().chain(&["error"]).any(|key| fields.contains_key(*key)) {
        return Ok(plain());
    }
    let diff = read_diff(&fields)?;
    if is_silent && diff.is_none() {
        let detail = "the target's answer has no output: neither `output` nor `messages` says anything";
        return Err(AgentRunError::Failed(Failure::Malformed, detail.to_owned()));
    }
    let mut measurements = Measurements::from_json(&Json::Object(fields.clone()));
    measurements.duration_ms =
        measurements.duration_ms.or_else(|| field("latency")?.as_f64().filter(|number| 0.0 <= *number));
    measurements.mean_log_probability = field("logProbs").and_then(read_mean_log_probability);
    let mut trace = match (run, output) {
        (Some((key, value)), _) => Some(read_run(key, value)?),
        // A conversation is a trace; its last message is the answer.
        (None, Some(output @ Json::Array(_))) => read_trace_value(output, None).ok().map(|(_, trace)| trace),
        (None, _) => None,
    };
    let is_conversation = run.is_none() && trace.is_some();
    let (response, value) = match output {
        Some(Json::String(text)) => (Some(text.clone()), None),
        Some(other) if !is_conversation => (Some(other.to_string()), Some(other.clone())),
        _ => (trace.as_ref().and_then(Trace::answer).map(str::to_owned), None),
    };
    if let Some(trace) = &mut trace {
        trace.usage = measurements.usage.unwrap_or(trace.usage);
        trace.cost = measurements.cost.or(trace.cost);
        measurements = measurements.or(Measurements::from_trace(trace));
    }
    let usage = measurements.usage.unwrap_or_default();
    let spend = Spend {
        tokens_in: usage.input,
        tokens_out: usage.output,
        tokens_cached: usage.cached,
        cost: measurements.cost,
        ..Spend::default()
    };
    Ok(AgentOutput {
        response,
        value,
        trace,
        diff,
        spend,
        measurements,
        guardrails: field("guardrails").map(read_guardrails).transpose()?,
        context: field("context").map(read_context).unwrap_or_default(),
        metadata: field("metadata").and_then(Json::as_object).cloned().unwrap_or_default(),
        warnings: fields.iter().filter_map(|(key, value)| find_answer_warning(key, value)).collect(),
    })
}

fn find_answer_warning(key: &str, value: &Json) -> Option<AnswerWarning> {
    let is_amount = || value.as_f64().is_some_and(|amount| amount.is_finite() && 0.0 <= amount);
    let has_usage = || {
        let usage = Json::Object([("usage".to_owned(), value.clone())].into_iter().collect());
        Measurements::from_json(&usage).usage.is_some()
    };
    let is_bad = (AMOUNTS.contains(&key) && !is_amount()) || (USAGE.contains(&key) && !has_usage());
    match KNOWN.contains(&key) {
        false => Some(AnswerWarning::UnknownKey(key.to_owned())),
        true => (is_bad && !value.is_null()).then(|| AnswerWarning::BadValue(key.to_owned())),
    }
}

/// The mean of the log-probabilities of all tokens, which a program lists.
fn read_mean_log_probability(value: &Json) -> Option<f64> {
    let tokens = value.as_array().filter(|tokens| !tokens.is_empty())?;
    let probabilities: Option<Vec<f64>> = tokens.iter().map(Json::as_f64).collect();
    Some(probabilities?.iter().sum::<f64>() / tokens.len() as f64)
}

/// Flags under the names that promptfoo's providers have for them.
fn read_guardrails(value: &Json) -> Result<GuardrailReport, AgentRunError> {
    let flags: Vec<&Json> =
        ["flagged", "flaggedInput", "flaggedOutput"].iter().filter_map(|key| value.get(*key)).collect();
    if flags.is_empty() || flags.iter().any(|flag| !flag.is_boolean()) {
        let detail = "the target's `guardrails` cannot be read: `flagged` is true or false";
        return Err(AgentRunError::Failed(Failure::Malformed, detail.to_owned()));
    }
    let reason = value.get("reason").and_then(Json::as_str).unwrap_or_default().to_owned();
    Ok(GuardrailReport { flagged: flags.iter().any(|flag| **flag == true), reason })
}

/// An unreadable trace is an error, not an empty trace: a check of the steps would otherwise find none and pass.
fn read_run(key: &str, value: &Json) -> Result<Trace, AgentRunError> {
    let malformed = |why: String| {
        AgentRunError::Failed(Failure::Malformed, format!("the target's `{key}` cannot be read: {why}"))
    };
    match read_trace_value(value, None) {
        Ok((TraceFormat::Text, _)) => Err(malformed("it is plain text, not the steps of a run".to_owned())),
        Ok((_, trace)) => Ok(trace),
        Err(error) => Err(malformed(error.to_string())),
    }
}

fn read_context(value: &Json) -> Vec<String> {
    let one = |value: &Json| match value {
        Json::String(text) => text.clone(),
        other => ["text", "content", "page_content"]
            .iter()
            .find_map(|key| other.get(*key)?.as_str())
            .map_or_else(|| other.to_string(), str::to_owned),
    };
    match value {
        Json::Array(items) => items.iter().map(one).collect(),
        other => vec![one(other)],
    }
}

/// `diff` as it is, and `files` as files that were added: a mapping of paths to contents, or a list of
/// `{path, content}` or `{path, diff}`.
fn read_diff(fields: &Map<String, Json>) -> Result<Option<String>, AgentRunError> {
    let malformed = || {
        let wanted = "wanted is a mapping of paths to contents, or a list of {path, content} or {path, diff}";
        AgentRunError::Failed(Failure::Malformed, format!("the target's `files` cannot be read; {wanted}"))
    };
    let mut diff = String::new();
    for key in ["diff", "file_changes"] {
        diff.push_str(fields.get(key).and_then(Json::as_str).unwrap_or_default());
    }
    match fields.get("files") {
        None | Some(Json::Null) => {}
        Some(Json::Object(files)) => {
            for (path, content) in files {
                diff.push_str(&added_file(path, content.as_str().ok_or_else(malformed)?));
            }
        }
        Some(Json::Array(files)) => {
            for file in files {
                let text = |keys: &[&str]| keys.iter().find_map(|key| file.get(*key)?.as_str());
                let path = text(&["path", "name"]).ok_or_else(malformed)?;
                match (text(&["diff", "patch"]), text(&["content", "contents", "text"])) {
                    (Some(own), _) => diff.push_str(&format!("{}\n", own.trim_end())),
                    (None, Some(content)) => diff.push_str(&added_file(path, content)),
                    (None, None) => return Err(malformed()),
                }
            }
        }
        Some(_) => return Err(malformed()),
    }
    Ok(Some(diff).filter(|text| !text.is_empty()))
}

/// A file as the diff that adds it.
fn added_file(path: &str, content: &str) -> String {
    let content = super::truncate_text(content, MAX_FILE);
    let lines: Vec<&str> = content.lines().collect();
    let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    let path = path.replace(['\n', '\r'], " ");
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{body}",
        lines.len()
    )
}

#[cfg(test)]
mod tests {
    use jurist_core::grade::Usd;
    use serde_json::json;

    use super::*;

    #[test]
    fn output_may_be_text_or_an_account_of_it() {
        assert_eq!(read_answer("Hello\n").unwrap().response.as_deref(), Some("Hello"));
        let output =
            read_answer(r#"{"text": "Hi", "token_usage": {"input": 3, "output": 4}, "cost_usd": 0.25}"#)
                .unwrap();
        assert_eq!((output.response.as_deref(), output.spend.tokens_in), (Some("Hi"), 3));
        assert_eq!(output.spend.cost, Some(Usd::from_nanos(250_000_000)));
        let talked =
            r#"{"output": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]}"#;
        let talked = read_answer(talked).unwrap();
        assert_eq!(
            (talked.response.as_deref(), talked.trace.map(|trace| trace.steps.len())),
            (Some("A"), Some(2))
        );
        assert!(matches!(read_answer(r#"{"error": "no"}"#), Err(AgentRunError::Failed(..))));
        assert_eq!(read_answer(r#"{"a": 1}"#).unwrap().response.as_deref(), Some(r#"{"a": 1}"#));
        let untroubled = read_answer(r#"{"output": "Hi", "error": ""}"#).unwrap();
        assert_eq!(untroubled.response.as_deref(), Some("Hi"));
        // An empty output is not a text to grade.
        for silent in [r#"{"output": null}"#, r#"{"text": null, "cost": 1}"#, r#"{"error": ""}"#] {
            assert!(
                matches!(read_answer(silent), Err(AgentRunError::Failed(Failure::Malformed, _))),
                "{silent}"
            );
        }
        let worked = read_answer(r#"{"output": null, "files": {"a.txt": "one"}}"#).unwrap();
        assert!(worked.response.is_none() && worked.diff.is_some());
    }

    #[test]
    fn everything_that_a_run_left_behind_is_read() {
        let answer = json!({
            "output": "4.90",
            "messages": [
                { "role": "assistant", "content": null,
                  "tool_calls": [{ "id": "1", "function": { "name": "price", "arguments": "{}" } }] },
                { "role": "assistant", "content": "4.90" },
            ],
            "context": ["A menu.", { "text": "A list." }],
            "tokenUsage": { "total": 7, "prompt": 5, "completion": 2 },
            "cost": 0.5,
            "latencyMs": 120,
            "files": { "a.txt": "one\ntwo\n" },
            "confidence": 1,
        });
        let produced = read_answer(&answer.to_string()).unwrap();
        assert_eq!(produced.trace.unwrap().tool_calls().count(), 1);
        assert_eq!(produced.context, ["A menu.", "A list."]);
        assert_eq!(produced.measurements.duration_ms, Some(120.0));
        assert_eq!((produced.spend.tokens_in, produced.spend.tokens_out), (5, 2));
        let diff = produced.diff.unwrap();
        let changes = jurist_core::candidate::diff::parse_unified_diff(&diff);
        assert_eq!((changes.len(), changes[0].path.as_str(), changes[0].added), (1, "a.txt", 2));
        assert_eq!(produced.warnings, [AnswerWarning::UnknownKey("confidence".to_owned())]);
    }

    #[test]
    fn what_is_ignored_of_an_answer_gets_a_warning() {
        let check = |text: &str, expected: &[&str]| {
            let warnings = read_answer(text).unwrap().warnings;
            let descriptions: Vec<String> = warnings.iter().map(|warning| warning.describe("cli")).collect();
            assert_eq!(descriptions, expected, "{text}");
        };
        check(r#"{"output": "x", "cost": 0, "usage": {"input": 1}, "latency": null}"#, &[]);
        for cost in ["\"cheap\"", "-1"] {
            let text = format!(r#"{{"output": "x", "cost": {cost}}}"#);
            check(&text, &["`cost` in the answer of `cli` is not used: it is not a number of 0 or more"]);
        }
        check(
            r#"{"output": "x", "usage": 7}"#,
            &["`usage` in the answer of `cli` is not used: it has no counts such as {input: 10, output: 5}"],
        );
        let cut = "an answer of `cli` begins as JSON and is cut off, so it is graded as text";
        check(r#"{"output": "x", "messages": ["#, &[cut]);
        check("{not JSON}", &[]);
        check("plain", &[]);
    }

    #[test]
    fn a_run_that_cannot_be_read_is_an_error_that_says_so() {
        for (answer, part) in [
            (json!({ "output": "x", "trace": "done" }), "`trace` cannot be read"),
            (json!({ "output": "x", "messages": [1, 2] }), "`messages` cannot be read"),
            (json!({ "output": "x", "files": [1] }), "`files` cannot be read"),
        ] {
            match read_answer(&answer.to_string()) {
                Err(AgentRunError::Failed(Failure::Malformed, detail)) => {
                    assert!(detail.contains(part), "{detail}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
