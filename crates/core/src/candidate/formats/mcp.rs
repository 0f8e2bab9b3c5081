//! Transcripts of the Model Context Protocol: JSON-RPC, one side asking, the other answering.

use serde_json::Value;

use super::message::joined;
use super::text_of;
use crate::candidate::trace::{Role, Step, ToolCall, ToolResult, Trace};

pub(super) fn fits(value: &Value) -> bool {
    let all = flat(value);
    !all.is_empty() && all.iter().all(|it| it["jsonrpc"] == "2.0")
}

/// Batches are lists inside the list.
fn flat(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::Object(_) => vec![value],
        _ => Vec::new(),
    }
}

struct Open {
    id: Value,
    method: String,
    /// The id of the call that a task was started for.
    call: String,
}

pub(super) fn read(value: &Value) -> Trace {
    let (mut trace, mut open) = (Trace::default(), Vec::<Open>::new());
    for line in flat(value) {
        match line["method"].as_str() {
            Some(method) => request(line, method, &mut trace.steps, &mut open),
            None => {
                // Both sides count for themselves, so the latest unanswered request is meant.
                let Some(at) = open.iter().rposition(|it| it.id == line["id"]) else { continue };
                let asked = open.remove(at);
                reply(line, &asked, &mut trace.steps);
            }
        }
    }
    trace
}

fn request(line: &Value, method: &str, steps: &mut Vec<Step>, open: &mut Vec<Open>) {
    let id = super::shown(&line["id"]);
    if line.get("id").is_some() {
        open.push(Open { id: line["id"].clone(), method: method.to_owned(), call: id.clone() });
    }
    let params = &line["params"];
    if method == "tools/call" {
        let name = params["name"].as_str().unwrap_or_default();
        let call = ToolCall::new(Some(id), name, &params["arguments"]);
        steps.push(Step { tool_calls: vec![call], ..Step::default() });
        return;
    }
    let data = params["data"].as_str().filter(|_| method == "notifications/message");
    steps.push(Step::new(Role::Other, data.unwrap_or(method)));
}

fn reply(line: &Value, asked: &Open, steps: &mut Vec<Step>) {
    let result = &line["result"];
    match asked.method.as_str() {
        "tools/call" | "tasks/result" => {
            let failed = text_of(&line["error"], &["message"]);
            let text = failed.map_or_else(|| content(result), str::to_owned);
            let error = failed.is_some() || result["isError"] == true;
            let answer = ToolResult { call: Some(asked.call.clone()), name: None, text, error };
            steps.push(Step { role: Role::Tool, results: vec![answer], ..Step::default() });
        }
        "initialize" => {
            steps.extend(result["instructions"].as_str().map(|it| Step::new(Role::System, it)));
        }
        "sampling/createMessage" => steps.push(Step::new(Role::Other, joined(&result["content"], "\n"))),
        _ => {}
    }
}

fn content(result: &Value) -> String {
    let one = |it: &Value| match it["resource"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => joined(it, "\n"),
    };
    let parts: Vec<String> =
        result["content"].as_array().into_iter().flatten().map(one).filter(|it| !it.is_empty()).collect();
    match result.get("structuredContent") {
        Some(structured) if parts.is_empty() => structured.to_string(),
        _ => parts.join("\n"),
    }
}
