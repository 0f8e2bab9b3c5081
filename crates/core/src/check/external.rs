//! Checks that a program or a service decides: its input, and the meaning of its answer.
//!
//! Nothing is run here. `engine` starts the program or sends the request; this file knows the two contracts, that of
//! AgentV's script graders and that of promptfoo's assertions.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{BadCheck, CheckFinding, CompiledCheck, Params, read_call_list, read_check_method};
use crate::candidate::{JudgeInput, Measurements, StepRole, Trace, TraceStep};
use crate::catalogue::{ExternalCheckName, GradingMethod};

/// A program that is given no limit of its own ends after this.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Parts that are shown: a check may report thousands of them.
const MAX_PARTS: usize = 200;

/// A check that is decided outside of Jurist.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalCheck {
    pub name: &'static str,
    pub kind: ExternalKind,
    /// The score at which it passes.
    pub threshold: Option<f64>,
    /// Handed to the program as it is.
    pub config: Option<Value>,
    pub time_limit: Duration,
    /// Variables of the environment that the program gets in addition to harmless ones such as `PATH`.
    pub variables: Vec<String>,
    /// The names under which the code is given scores of other criteria instead of the output: for each the criteria
    /// and how much they weigh.
    pub scores: Option<BTreeMap<String, BTreeMap<String, f64>>>,
    /// The check that looks at what the code makes of the output, where the code does not decide itself.
    pub then: Option<GradingMethod>,
}

/// Who decides.
#[derive(Debug, Clone, PartialEq)]
pub enum ExternalKind {
    Script { command: ScriptCommand, cwd: Option<String> },
    JavaScript(CheckCode),
    Python(CheckCode),
    Webhook { url: String },
}

/// What is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptCommand {
    Words(Vec<String>),
    /// A line for the shell.
    Shell(String),
}

/// Where the code of a check is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckCode {
    /// An expression, or the body of a function with `return`.
    Inline(String),
    File {
        path: String,
        function: Option<String>,
    },
}

/// The input of an external check.
#[derive(Debug, Clone, Copy)]
pub struct ExternalInput<'a> {
    pub case: &'a str,
    pub material: &'a JudgeInput,
    /// What the rubric says above its criteria.
    pub criteria: Option<&'a str>,
    /// The criteria as promptfoo writes assertions, for code that reads those of its test.
    pub assertions: &'a [Value],
    /// Scores of other criteria, for a check that asks for them.
    pub scores: Option<&'a Map<String, Value>>,
}

/// What a program decided.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalVerdict {
    /// On 0..=1.
    pub score: f64,
    /// Whether it passes, where the program or its threshold says so.
    pub passed: Option<bool>,
    pub comment: String,
    pub parts: Vec<VerdictPart>,
    /// Scores that the program names in addition to its own.
    pub named_scores: Map<String, Value>,
}

/// One of several things that a program looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictPart {
    pub text: String,
    pub passed: bool,
}

/// Why an answer is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadAnswer {
    #[error("answered nothing; {WANTED}")]
    Nothing,
    #[error("answered something that is not JSON: `{0}`; {WANTED}")]
    NotJson(String),
    #[error("answered with {0}; {WANTED}")]
    Malformed(String),
    #[error("answered with the score {0}, which is not between 0 and 1")]
    OffRange(f64),
}

const WANTED: &str = "wanted is true or false, a number from 0 to 1, or an object with `pass` or `score`, and perhaps `reason`";

pub(super) fn compile_external_check(
    check: ExternalCheckName,
    params: &Params<'_>,
) -> Result<ExternalCheck, BadCheck> {
    let kind = match check {
        ExternalCheckName::Script => {
            ExternalKind::Script { command: parse_script_command(params)?, cwd: params.text("cwd")? }
        }
        ExternalCheckName::JavaScript => ExternalKind::JavaScript(code(params, &["js", "mjs", "cjs", "ts"])?),
        ExternalCheckName::Python => ExternalKind::Python(code(params, &["py"])?),
        ExternalCheckName::Webhook => ExternalKind::Webhook { url: parse_webhook_url(params)? },
    };
    let threshold = params.number("threshold")?;
    if threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
        return Err(params.bad("threshold", "must be from 0 to 1, as scores are"));
    }
    let time_limit = match params.number("timeout_ms")? {
        Some(limit) if limit <= 0.0 => return Err(params.bad("timeout_ms", "must be above 0")),
        Some(limit) => Duration::from_secs_f64((limit / 1000.0).min(86_400.0)),
        None => TIME_LIMIT,
    };
    let variables = params.texts("env")?;
    let then = params.map("check")?.map(|check| read_inner_check(params, check)).transpose()?;
    let scores = params.map("scores")?.map(|names| read_score_names(params, names)).transpose()?;
    if scores.is_some() && then.is_some() {
        return Err(params.bad("scores", "cannot be combined with `check`"));
    }
    Ok(ExternalCheck {
        name: params.name(),
        kind,
        threshold,
        scores,
        config: params.get("config").cloned(),
        time_limit,
        variables,
        then,
    })
}

/// `{name: {criterion: weight}}`.
fn read_score_names(
    params: &Params<'_>,
    names: &Map<String, Value>,
) -> Result<BTreeMap<String, BTreeMap<String, f64>>, BadCheck> {
    let wanted =
        || params.bad("scores", "must be mappings of criteria to weights, such as `{tone: {tone: 1}}`");
    let weights = |criteria: &Value| -> Result<BTreeMap<String, f64>, BadCheck> {
        let criteria = criteria.as_object().ok_or_else(wanted)?;
        let weights = criteria.iter().map(|(id, weight)| {
            let weight = weight.as_f64().filter(|weight| (0.0..f64::MAX).contains(weight));
            Ok((id.clone(), weight.ok_or_else(wanted)?))
        });
        weights.collect()
    };
    names.iter().map(|(name, criteria)| Ok((name.clone(), weights(criteria)?))).collect()
}

/// A check of the catalogue that is decided in this process.
fn read_inner_check(params: &Params<'_>, check: &Map<String, Value>) -> Result<GradingMethod, BadCheck> {
    let mut rest = check.clone();
    let Some(Value::String(name)) = rest.remove("type") else {
        return Err(params.bad("check", "needs `type`, the name of a check"));
    };
    let inner = read_check_method(&name, &Value::Object(rest));
    let inner = inner.map_err(|error| params.bad("check", error.to_string()))?;
    match CompiledCheck::compile_literally(&inner) {
        Ok(CompiledCheck::Local(_)) => Ok(inner),
        Ok(_) => Err(params.bad("check", format!("`{name}` cannot look at what code makes of an output"))),
        Err(error) => Err(params.bad("check", error.to_string())),
    }
}

fn parse_script_command(params: &Params<'_>) -> Result<ScriptCommand, BadCheck> {
    let empty = || params.bad("command", "names no program");
    match params.get("command") {
        Some(Value::String(line)) if line.trim().is_empty() => Err(empty()),
        Some(Value::String(line)) => Ok(ScriptCommand::Shell(line.clone())),
        _ => match params.texts("command")? {
            words if words.first().is_none_or(|program| program.trim().is_empty()) => Err(empty()),
            words => Ok(ScriptCommand::Words(words)),
        },
    }
}

fn code(params: &Params<'_>, extensions: &[&str]) -> Result<CheckCode, BadCheck> {
    let text = params.text("value")?.unwrap_or_default();
    let Some(path) = text.strip_prefix("file://") else {
        if text.trim().is_empty() {
            return Err(params.bad("value", "holds no code"));
        }
        return Ok(CheckCode::Inline(text));
    };
    let ends_well = |path: &str| extensions.iter().any(|extension| path.ends_with(&format!(".{extension}")));
    let (path, function) = match path.rsplit_once(':') {
        Some((path, function)) if ends_well(path) => (path, Some(function.to_owned())),
        _ => (path, None),
    };
    if !ends_well(path) {
        let known = extensions.join(", .");
        return Err(params.bad("value", format!("`{path}` cannot be run here; understood: .{known}")));
    }
    Ok(CheckCode::File { path: path.to_owned(), function: function.filter(|function| !function.is_empty()) })
}

fn parse_webhook_url(params: &Params<'_>) -> Result<String, BadCheck> {
    let url = params.text("value")?.unwrap_or_default();
    if url.starts_with("http://") || url.starts_with("https://") {
        return Ok(url);
    }
    Err(params.bad("value", format!("`{url}` is not an address such as https://example.org/grade")))
}

impl ExternalCheck {
    /// Whether a check of this name is one.
    pub fn is_named(name: &str) -> bool {
        matches!(name, "script" | "javascript" | "python" | "webhook")
    }

    /// The program or server that would be called, so that the user can allow it.
    pub fn describe(&self) -> String {
        let code = |language: &str, code: &CheckCode| match code {
            CheckCode::Inline(_) => format!("{language} code"),
            CheckCode::File { path, .. } => format!("the {language} file `{path}`"),
        };
        match &self.kind {
            ExternalKind::Script { command: ScriptCommand::Words(words), .. } => {
                format!("the program `{}`", words.join(" "))
            }
            ExternalKind::Script { command: ScriptCommand::Shell(line), .. } => {
                format!("the command `{}`", line.lines().next().unwrap_or_default())
            }
            ExternalKind::JavaScript(it) => code("JavaScript", it),
            ExternalKind::Python(it) => code("Python", it),
            ExternalKind::Webhook { url } => {
                // The rest may contain a key.
                format!("the address `{}`", url.split(['?', '#']).next().unwrap_or(url))
            }
        }
    }

    /// What the program reads, or what is sent.
    pub fn request(&self, input: &ExternalInput<'_>) -> Value {
        if let Some(scores) = input.scores {
            // The settings are what the function's second argument has; promptfoo puts `threshold` there.
            let config = self.config.clone().unwrap_or_else(|| json!({}));
            let mut context = config.clone();
            context["config"] = config;
            return json!({ "output": scores, "context": context, "evaluation": {} });
        }
        match &self.kind {
            ExternalKind::Script { .. } => script_request(input, self.config.as_ref()),
            ExternalKind::JavaScript(_) | ExternalKind::Python(_) | ExternalKind::Webhook { .. } => {
                let context = assertion_context(input, self.config.as_ref());
                let mut request = json!({ "output": assertion_output(input.material), "context": context });
                if matches!(self.kind, ExternalKind::Python(_)) {
                    request["evaluation"] = evaluation_arguments(input.material);
                }
                request
            }
        }
    }

    /// What an answer says.
    pub fn read(&self, answer: &str) -> Result<ExternalVerdict, BadAnswer> {
        let text = answer.trim().trim_start_matches('\u{feff}');
        if text.is_empty() {
            return Err(BadAnswer::Nothing);
        }
        let value: Value =
            serde_json::from_str(text).map_err(|_| BadAnswer::NotJson(answer_excerpt(text)))?;
        let mut verdict = read_external_verdict(&value, true)?;
        if let Some(threshold) = self.threshold {
            let reached = threshold <= verdict.score + 1e-9;
            verdict.passed = Some(reached && verdict.passed != Some(false));
            if !reached {
                let under = format!("the score {} is under the threshold {threshold}", verdict.score);
                verdict.comment = join_with_colon(&under, &verdict.comment);
            }
        }
        Ok(verdict)
    }
}

impl ExternalVerdict {
    /// What it counts where a score from `mark` on passes: its score, unless that would say the contrary of what
    /// was decided.
    pub fn unit(&self, mark: f64) -> f64 {
        match self.passed {
            Some(true) if self.score + 1e-9 < mark => 1.0,
            Some(false) if mark <= self.score + 1e-9 => 0.0,
            _ => self.score,
        }
    }

    /// What it counts where its contrary is wanted: a decision has one, and so has a score.
    pub fn decided_unit(&self) -> f64 {
        self.passed.map_or(self.score, |passed| f64::from(u8::from(passed)))
    }

    pub fn finding(&self) -> CheckFinding {
        let value = self.passed.map_or_else(|| self.score.into(), Value::Bool);
        let mut finding = CheckFinding::from_score(self.score, value, self.comment.clone());
        if !self.named_scores.is_empty() {
            finding = finding.with("named_scores", Value::Object(self.named_scores.clone()));
        }
        if !self.parts.is_empty() {
            let part = |verdict_part: &VerdictPart| json!({ "text": verdict_part.text, "passed": verdict_part.passed });
            finding = finding.with("parts", self.parts.iter().map(part).collect::<Vec<_>>());
        }
        finding
    }
}

fn join_with_colon(first: &str, second: &str) -> String {
    if second.is_empty() { first.to_owned() } else { format!("{first}: {second}") }
}

/// The beginning of an answer that cannot be read.
fn answer_excerpt(text: &str) -> String {
    let end = text.char_indices().nth(80).map_or(text.len(), |it| it.0);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text[..end].replace('\n', " "))
}

/// promptfoo's programs also answer with the text of a value, so that is looked into once.
fn read_external_verdict(value: &Value, texts: bool) -> Result<ExternalVerdict, BadAnswer> {
    let plain = |score: f64, passed: Option<bool>, comment: &str| ExternalVerdict {
        score,
        passed,
        comment: comment.to_owned(),
        parts: Vec::new(),
        named_scores: Map::new(),
    };
    match value {
        Value::Bool(passed) => Ok(plain(
            f64::from(u8::from(*passed)),
            Some(*passed),
            if *passed { "returned true" } else { "returned false" },
        )),
        Value::Number(_) => {
            let score = on_range(value.as_f64().unwrap_or(f64::NAN))?;
            Ok(plain(score, None, &format!("returned {score}")))
        }
        Value::String(text) if texts => {
            let lower = text.trim().to_lowercase();
            match serde_json::from_str::<Value>(if lower == "true" || lower == "false" {
                &lower
            } else {
                text.trim()
            }) {
                Ok(inner) if !inner.is_null() => read_external_verdict(&inner, false),
                _ => Err(BadAnswer::Malformed(format!("the text `{}`", answer_excerpt(text)))),
            }
        }
        Value::Object(map) => read_object(map),
        Value::Null => Err(BadAnswer::Malformed("null".to_owned())),
        Value::String(text) => Err(BadAnswer::Malformed(format!("the text `{}`", answer_excerpt(text)))),
        Value::Array(_) => Err(BadAnswer::Malformed("a list".to_owned())),
    }
}

fn on_range(score: f64) -> Result<f64, BadAnswer> {
    if (0.0..=1.0).contains(&score) { Ok(score) } else { Err(BadAnswer::OffRange(score)) }
}

/// promptfoo's `GradingResult` in either spelling, and the results of AgentV's script graders of every generation.
fn read_object(map: &Map<String, Value>) -> Result<ExternalVerdict, BadAnswer> {
    let field = |names: &[&str]| names.iter().find_map(|name| map.get(*name)).filter(|map| !map.is_null());
    let malformed = |what: &str| BadAnswer::Malformed(what.to_owned());
    let passed = match field(&["pass", "pass_", "passed"]) {
        None => None,
        Some(Value::Bool(passed)) => Some(*passed),
        Some(_) => return Err(malformed("a `pass` that is neither true nor false")),
    };
    let score = match field(&["score"]) {
        None => None,
        Some(Value::Number(score)) => Some(on_range(score.as_f64().unwrap_or(f64::NAN))?),
        Some(_) => return Err(malformed("a `score` that is no number")),
    };
    let mut parts = read_verdict_parts(map)?;
    let share = || {
        let n_passed = parts.iter().filter(|part| part.passed).count();
        (!parts.is_empty()).then(|| n_passed as f64 / parts.len() as f64)
    };
    let by_decision = passed.map(|passed| f64::from(u8::from(passed)));
    let score = score.or(by_decision).or_else(share);
    let score = score.ok_or_else(|| malformed("an object without `pass` and `score`"))?;
    // All parts count, also those that are not shown.
    parts.truncate(MAX_PARTS);
    let named = field(&["namedScores", "named_scores"]).and_then(Value::as_object).cloned();
    let reason = field(&["reason", "reasoning", "comment"]).and_then(Value::as_str).unwrap_or_default();
    let comment = match (reason, passed) {
        ("", Some(passed)) => format!("returned pass: {passed}, score {score}"),
        ("", None) => format!("returned {score}"),
        (reason, _) => reason.to_owned(),
    };
    Ok(ExternalVerdict { score, passed, comment, parts, named_scores: named.unwrap_or_default() })
}

fn read_verdict_parts(map: &Map<String, Value>) -> Result<Vec<VerdictPart>, BadAnswer> {
    let mut parts = Vec::new();
    for key in ["componentResults", "component_results", "checks", "assertions"] {
        for entry in map.get(key).and_then(Value::as_array).into_iter().flatten() {
            let passed = ["pass", "pass_", "passed"].iter().find_map(|text| entry.get(*text)?.as_bool());
            let passed = passed.or_else(|| Some(1.0 <= entry.get("score")?.as_f64()?));
            let passed = passed.ok_or_else(|| {
                BadAnswer::Malformed(format!("an entry of `{key}` that has neither `pass` nor `score`"))
            })?;
            let text_at = |names: &[&str]| names.iter().find_map(|name| entry.get(*name)?.as_str());
            let text = match (text_at(&["text", "name"]), text_at(&["reason", "evidence", "reasoning"])) {
                (Some(text), Some(reason)) => format!("{text}: {reason}"),
                (Some(text), None) | (None, Some(text)) => text.to_owned(),
                (None, None) => format!("{key} {}", parts.len() + 1),
            };
            parts.push(VerdictPart { text, passed });
        }
    }
    for (key, passed) in [("hits", true), ("misses", false)] {
        for text in map.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            parts.push(VerdictPart { text: text.to_owned(), passed });
        }
    }
    Ok(parts)
}

/// What promptfoo hands to its assertions: values as they are, conversations as their last words.
fn assertion_output(material: &JudgeInput) -> Value {
    match &material.raw_output {
        Some(value @ (Value::Object(_) | Value::Array(_) | Value::Number(_) | Value::Bool(_)))
            if material.response.is_some() =>
        {
            value.clone()
        }
        _ => read_call_list(material.answer()).unwrap_or_else(|| material.answer().into()),
    }
}

fn assertion_context(input: &ExternalInput<'_>, config: Option<&Value>) -> Value {
    let ExternalInput { case, material, .. } = input;
    let data = &material.case_data;
    let mut response = json!({ "output": assertion_output(material) });
    let measured = material_measurements(material);
    if let Some(usage) = measured.usage {
        let total = usage.input + usage.output;
        response["tokenUsage"] = json!({ "total": total, "prompt": usage.input, "completion": usage.output });
    }
    if let Some(cost) = measured.cost {
        response["cost"] = (cost.nanos() as f64 / 1e9).into();
    }
    if let Some(duration) = measured.duration_ms {
        response["latencyMs"] = duration.into();
    }
    // The metadata of a recorded answer is that of its case.
    if data.provider.is_some() && !data.metadata.is_empty() {
        response["metadata"] = data.metadata.clone().into();
    }
    let mut context = json!({
        "prompt": material.task,
        "vars": data.vars,
        "test": {
            "description": case,
            "vars": data.vars,
            "metadata": data.metadata,
        },
        "config": config.cloned().unwrap_or_else(|| json!({})),
        "metadata": data.metadata,
        "providerResponse": response,
    });
    if !input.assertions.is_empty() {
        context["test"]["assert"] = input.assertions.into();
    }
    if let Some(provider) = &data.provider {
        context["provider"] = provider.clone();
    }
    if let Some(trace) = &material.trace {
        context["messages"] = trace_to_messages(trace).into();
    }
    if let Some(diff) = &material.diff {
        context["diff"] = diff.as_str().into();
    }
    context
}

/// The case as the arguments of `evaluate`, for Python code that has the contract of an evaluator.
fn evaluation_arguments(material: &JudgeInput) -> Value {
    let answer = || Value::from(material.answer());
    let messages = |trace: &Trace| Value::from(trace_to_messages(trace));
    let outputs = material.trace.as_ref().map_or_else(answer, messages);
    let mut arguments = json!({ "outputs": outputs });
    let reference = material.reference.as_ref().map(|text| Value::from(text.as_str()));
    if let Some(reference) = material.reference_calls.clone().or(reference) {
        arguments["reference_outputs"] = reference;
    }
    if !material.task.is_empty() {
        arguments["inputs"] = material.task.as_str().into();
    }
    if !material.context.is_empty() {
        arguments["context"] = json!(material.context);
    }
    arguments
}

/// What AgentV writes to a script's standard input, together with the names of its earlier generations.
fn script_request(input: &ExternalInput<'_>, config: Option<&Value>) -> Value {
    let ExternalInput { case, material, criteria, .. } = input;
    let data = &material.case_data;
    let answer = material.answer();
    let mut request = json!({
        "id": case,
        "criteria": criteria.unwrap_or_default(),
        "expected_outcome": criteria.unwrap_or_default(),
        "input": [{ "role": "user", "content": material.task }],
        "input_text": material.task,
        "question": material.task,
        "input_files": [],
        "context": material.context,
        "output": answer,
        "output_text": answer,
        "candidate_answer": answer,
        "expected_output": [],
        "messages": [{ "role": "assistant", "content": answer }],
        "file_changes": material.diff,
        "workspace_path": null,
        "vars": data.vars,
        "metadata": data.metadata,
        "config": config.cloned().unwrap_or_else(|| json!({})),
    });
    if let Some(reference) = &material.reference {
        request["expected_output"] = json!([{ "role": "assistant", "content": reference }]);
        request["expected_output_text"] = reference.as_str().into();
        request["reference_answer"] = reference.as_str().into();
    }
    if let Some(trace) = &material.trace {
        request["messages"] = trace_to_messages(trace).into();
        request["trace"] = serde_json::to_value(trace).unwrap_or_default();
        request["trace_summary"] = trace_summary(trace);
    }
    let measured = material_measurements(material);
    if let Some(usage) = measured.usage {
        request["token_usage"] = json!(usage);
    }
    if let Some(cost) = measured.cost {
        request["cost_usd"] = (cost.nanos() as f64 / 1e9).into();
    }
    if let Some(duration) = measured.duration_ms {
        request["duration_ms"] = duration.into();
    }
    request
}

fn material_measurements(material: &JudgeInput) -> Measurements {
    let of_trace = material.trace.as_ref().map(Measurements::from_trace).unwrap_or_default();
    material.measurements.or(of_trace)
}

/// The steps as messages of a chat, which every script can read.
fn trace_to_messages(trace: &Trace) -> Vec<Value> {
    let mut messages = Vec::new();
    for step in &trace.steps {
        messages.extend(step_to_message(step));
        for result in &step.results {
            let mut message = json!({ "role": "tool", "content": result.text });
            if let Some(call) = &result.call {
                message["tool_call_id"] = call.as_str().into();
            }
            messages.push(message);
        }
    }
    messages
}

fn step_to_message(step: &TraceStep) -> Option<Value> {
    if step.text.is_empty() && step.tool_calls.is_empty() {
        return None;
    }
    let role = serde_json::to_value(step.role).unwrap_or_default();
    let mut message = json!({ "role": role, "content": step.text });
    if !step.tool_calls.is_empty() {
        let call = |call: &crate::candidate::ToolCall| {
            let arguments = Value::Object(call.arguments.clone());
            json!({
                "id": call.id,
                "type": "function",
                "tool": call.name,
                "input": arguments,
                "function": { "name": call.name, "arguments": arguments.to_string() },
            })
        };
        message["tool_calls"] = step.tool_calls.iter().map(call).collect::<Vec<_>>().into();
    }
    Some(message)
}

fn trace_summary(trace: &Trace) -> Value {
    let mut calls: Map<String, Value> = Map::new();
    for call in trace.tool_calls() {
        let count = calls.get(&call.name).and_then(Value::as_u64).unwrap_or(0);
        calls.insert(call.name.clone(), (count + 1).into());
    }
    let n_errors = trace.steps.iter().flat_map(|step| &step.results).filter(|result| result.error).count();
    let n_model_calls = trace.steps.iter().filter(|step| step.role == StepRole::Assistant).count();
    json!({
        "event_count": trace.tool_calls().count(),
        "tool_calls": calls,
        "error_count": n_errors,
        "llm_call_count": n_model_calls,
    })
}

#[cfg(test)]
mod tests {
    use super::super::CompiledCheck;
    use super::*;

    fn external(name: &str, params: &Value) -> ExternalCheck {
        match CompiledCheck::new(name, params).unwrap() {
            CompiledCheck::External(check) => check,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_of_both_contracts_are_understood() {
        let check = |answer: &str, score: f64, passed: Option<bool>, n_parts: usize| {
            let verdict = external("script", &json!({ "command": ["x"] })).read(answer).unwrap();
            assert_eq!(
                (verdict.score, verdict.passed, verdict.parts.len()),
                (score, passed, n_parts),
                "{answer}"
            );
        };
        check("true", 1.0, Some(true), 0);
        check(" false\n", 0.0, Some(false), 0);
        check("0.25", 0.25, None, 0);
        check("\"True\"", 1.0, Some(true), 0);
        check("\"{\\\"pass\\\": false}\"", 0.0, Some(false), 0);
        check(r#"{"pass": true}"#, 1.0, Some(true), 0);
        check(r#"{"pass_": true, "score": 0.6, "named_scores": {"a": 1}}"#, 0.6, Some(true), 0);
        check(r#"{"score": 0.5, "hits": ["a"], "misses": ["b", "c"], "reasoning": "r"}"#, 0.5, None, 3);
        check(
            r#"{"assertions": [{"text": "a", "passed": true}, {"text": "b", "passed": false}]}"#,
            0.5,
            None,
            2,
        );
        check(
            r#"{"pass": false, "score": 0.5, "checks": [{"text": "a", "pass": true, "reason": "r"}]}"#,
            0.5,
            Some(false),
            1,
        );
        check(
            r#"{"pass": true, "score": 1, "componentResults": [{"pass": true, "score": 0.5}]}"#,
            1.0,
            Some(true),
            1,
        );
    }

    #[test]
    fn what_is_no_answer_is_no_score() {
        let check = |answer: &str, part: &str| {
            let error = external("script", &json!({ "command": "x" })).read(answer).unwrap_err().to_string();
            assert!(error.contains(part), "{answer}: {error}");
        };
        check("", "nothing");
        check("looks good", "`looks good`");
        check("null", "null");
        check("[1]", "a list");
        check("1.5", "score 1.5");
        check("-0.1", "between 0 and 1");
        check(r#"{"score": 46}"#, "score 46");
        check(r#"{"score": "high"}"#, "no number");
        check(r#"{"pass": "yes"}"#, "neither true nor false");
        check(r#"{"reason": "because"}"#, "without `pass` and `score`");
        check(r#""fine""#, "the text `fine`");
        check(r#"{"checks": [{"text": "a"}]}"#, "an entry of `checks`");
    }

    #[test]
    fn a_decision_beats_a_score_that_says_the_contrary() {
        let unit = |answer: &str, threshold: Option<f64>| {
            let check = external("python", &json!({ "value": "x", "threshold": threshold }));
            Some(check.read(answer).unwrap().unit(0.8))
        };
        assert_eq!(unit(r#"{"pass": false, "score": 0.9}"#, None), Some(0.0));
        assert_eq!(unit(r#"{"pass": false, "score": 0.5}"#, None), Some(0.5));
        assert_eq!(unit(r#"{"pass": true, "score": 0.6}"#, None), Some(1.0));
        assert_eq!(unit(r#"{"pass": true, "score": 0.9}"#, None), Some(0.9));
        assert_eq!(unit("0.6", None), Some(0.6));
        assert_eq!(unit("0.6", Some(0.5)), Some(1.0));
        assert_eq!(unit("0.4", Some(0.5)), Some(0.4));
        assert_eq!(unit("0.85", Some(0.9)), Some(0.0));
        assert_eq!(unit(r#"{"pass": false, "score": 0.9}"#, Some(0.5)), Some(0.0));
    }

    #[test]
    fn parameters_that_cannot_work_are_refused() {
        let check = |name: &str, params: Value, part: &str| {
            let error = CompiledCheck::new(name, &params).unwrap_err().to_string();
            assert!(error.contains(part), "{name}: {error}");
        };
        check("script", json!({ "command": [] }), "names no program");
        check("script", json!({ "command": " " }), "names no program");
        check("script", json!({ "command": "x", "timeout_ms": 0 }), "above 0");
        check("javascript", json!({ "value": "file://a.rb" }), "understood: .js");
        check("python", json!({ "value": "file://a.rb:f" }), "understood: .py");
        check("python", json!({ "value": "x", "threshold": 10 }), "from 0 to 1");
        check("webhook", json!({ "value": "file:///etc/passwd" }), "is not an address");
    }

    #[test]
    fn a_share_is_that_of_all_parts_however_many_are_shown() {
        let check = external("script", &json!({ "command": ["true"] }));
        let texts = |n: usize| vec!["it"; n];
        let answer = json!({ "hits": texts(200), "misses": texts(300) });
        let verdict = check.read(&answer.to_string()).unwrap();
        assert_eq!((verdict.score, verdict.parts.len()), (0.4, MAX_PARTS));
        let passes = |n: usize, pass: bool| vec![json!({ "pass": pass, "text": "it" }); n];
        let all = [passes(200, true), passes(50, false)].concat();
        let answer = json!({ "checks": all });
        let verdict = check.read(&answer.to_string()).unwrap();
        assert_eq!((verdict.score, verdict.parts.len()), (0.8, MAX_PARTS));
    }

    #[test]
    fn files_may_name_a_function() {
        let kind = |value: &str| external("python", &json!({ "value": value })).kind;
        let file = |path: &str, function: Option<&str>| {
            ExternalKind::Python(CheckCode::File {
                path: path.to_owned(),
                function: function.map(str::to_owned),
            })
        };
        assert_eq!(kind("file://a/b.py"), file("a/b.py", None));
        assert_eq!(kind("file://a/b.py:is_good"), file("a/b.py", Some("is_good")));
        assert_eq!(
            kind("output == 'a:b'"),
            ExternalKind::Python(CheckCode::Inline("output == 'a:b'".to_owned()))
        );
    }
}
