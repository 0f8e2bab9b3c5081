//! Transcripts of the Model Context Protocol: JSON-RPC, one side asking, the other answering.

use std::collections::HashMap;

use serde_json::Value;

use super::first_text_field;
use super::message::join_content_text;
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep};

pub(super) fn is_mcp_transcript(value: &Value) -> bool {
    let all = flatten_rpc_batches(value);
    !all.is_empty() && all.iter().all(|value| value["jsonrpc"] == "2.0")
}

/// Batches are lists inside the list.
fn flatten_rpc_batches(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(flatten_rpc_batches).collect(),
        Value::Object(_) => vec![value],
        _ => Vec::new(),
    }
}

/// Requests without an answer so far, by their ids. Of several with one id, the latest is last.
type PendingMcpRequests = HashMap<Value, Vec<PendingMcpRequest>>;

struct PendingMcpRequest {
    method: String,
    /// The id of the call that a task was started for.
    call: String,
}

pub(super) fn read_mcp_transcript(value: &Value) -> Trace {
    let (mut trace, mut open) = (Trace::default(), PendingMcpRequests::new());
    for line in flatten_rpc_batches(value) {
        match line["method"].as_str() {
            Some(method) => add_mcp_request(line, method, &mut trace.steps, &mut open),
            None => {
                // Both sides count for themselves, so the latest unanswered request is meant.
                if let Some(asked) = open.get_mut(&line["id"]).and_then(Vec::pop) {
                    reply(line, &asked, &mut trace.steps);
                }
            }
        }
    }
    trace
}

fn add_mcp_request(line: &Value, method: &str, steps: &mut Vec<TraceStep>, open: &mut PendingMcpRequests) {
    let id = super::compact_value_text(&line["id"]);
    if let Some(own) = line.get("id") {
        let request = PendingMcpRequest { method: method.to_owned(), call: id.clone() };
        open.entry(own.clone()).or_default().push(request);
    }
    let params = &line["params"];
    if method == "tools/call" {
        let name = params["name"].as_str().unwrap_or_default();
        let call = ToolCall::new(Some(id), name, &params["arguments"]);
        steps.push(TraceStep { tool_calls: vec![call], ..TraceStep::default() });
        return;
    }
    let data = params["data"].as_str().filter(|_| method == "notifications/message");
    steps.push(TraceStep::new(StepRole::Other, data.unwrap_or(method)));
}

fn reply(line: &Value, asked: &PendingMcpRequest, steps: &mut Vec<TraceStep>) {
    let result = &line["result"];
    match asked.method.as_str() {
        "tools/call" | "tasks/result" => {
            let failed = first_text_field(&line["error"], &["message"]);
            let text = failed.map_or_else(|| mcp_result_text(result), str::to_owned);
            let error = failed.is_some() || result["isError"] == true;
            let answer = ToolResult { call: Some(asked.call.clone()), name: None, text, error };
            steps.push(TraceStep { role: StepRole::Tool, results: vec![answer], ..TraceStep::default() });
        }
        "initialize" => {
            steps.extend(
                result["instructions"].as_str().map(|result| TraceStep::new(StepRole::System, result)),
            );
        }
        "sampling/createMessage" => {
            steps.push(TraceStep::new(StepRole::Other, join_content_text(&result["content"], "\n")));
        }
        _ => {}
    }
}

fn mcp_result_text(result: &Value) -> String {
    let one = |value: &Value| match value["resource"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => join_content_text(value, "\n"),
    };
    let parts: Vec<String> =
        result["content"].as_array().into_iter().flatten().map(one).filter(|text| !text.is_empty()).collect();
    match result.get("structuredContent") {
        Some(structured) if parts.is_empty() => structured.to_string(),
        _ => parts.join("\n"),
    }
}
