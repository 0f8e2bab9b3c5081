//! Items of OpenAI's Responses API.

use serde_json::Value;

use super::message::{image_address, join_content_text, parse_recorded_usage, push, role_of};
use super::{compact_value_text, first_text_field};
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep};

pub(super) fn is_responses_trace(value: &Value) -> bool {
    let is_item = |value: &Value| {
        let kind = value["type"].as_str().unwrap_or_default();
        (kind == "reasoning" && value.get("role").is_none())
            || kind.ends_with("_call")
            || kind.ends_with("_call_output")
            || is_responses_message(value)
    };
    let parts = [value, &value["input"], &value["output"], &value["response"]["output"]];
    value["object"] == "response"
        || parts.iter().any(|part| part.as_array().is_some_and(|items| items.iter().any(is_item)))
}

fn is_responses_message(item: &Value) -> bool {
    let part = |value: &Value| matches!(value["type"].as_str(), Some("output_text" | "input_text"));
    item["content"].as_array().is_some_and(|items| items.iter().any(part))
}

pub(super) fn read_responses_trace(value: &Value) -> Trace {
    let mut trace = Trace::default();
    let (request, response) = (value.get("request").unwrap_or(value), value.get("response").unwrap_or(value));
    // The reply repeats the instructions of its request.
    let instructions = [request, response]
        .iter()
        .map(|value| join_content_text(&value["instructions"], "\n"))
        .find(|text| !text.is_empty());
    trace.steps.extend(instructions.map(|instruction| TraceStep::new(StepRole::System, instruction)));
    match request.get("input") {
        Some(Value::String(text)) => trace.steps.push(TraceStep::new(StepRole::User, text)),
        Some(Value::Array(items)) => items.iter().for_each(|value| item(value, &mut trace.steps)),
        _ => {}
    }
    let output = response.get("output").unwrap_or(response);
    output.as_array().into_iter().flatten().for_each(|value| item(value, &mut trace.steps));
    if response["object"] == "response" {
        trace.id = first_text_field(response, &["id"]).map(str::to_owned);
    }
    trace.status = first_text_field(response, &["status"]).map(str::to_owned);
    trace.usage = parse_recorded_usage(&response["usage"]);
    trace
}

/// A step of the assistant grows as reasoning, then a message, then calls; what breaks that order opens the next.
fn item(item: &Value, steps: &mut Vec<TraceStep>) {
    let kind = item["type"].as_str().unwrap_or("message");
    match kind {
        "message" => add_message_item(item, steps),
        "reasoning" => {
            let mut text = join_content_text(&item["summary"], "\n");
            if text.is_empty() {
                text = join_content_text(&item["content"], "\n");
            }
            match steps.last_mut() {
                Some(last)
                    if last.role == StepRole::Assistant
                        && last.text.is_empty()
                        && last.tool_calls.is_empty() =>
                {
                    push(&mut last.reasoning, &text, "\n");
                }
                _ => steps.push(TraceStep { reasoning: text, ..TraceStep::default() }),
            }
        }
        "item_reference" | "compaction" => {}
        _ if kind.ends_with("_output") => {
            let text = output_text(&item["output"]);
            let result = ToolResult {
                // What a local shell printed points at its call by `id`.
                call: first_text_field(item, &["call_id", "id"]).map(str::to_owned),
                name: None,
                text,
                error: matches!(item["status"].as_str(), Some("incomplete" | "failed")),
            };
            steps.push(TraceStep { role: StepRole::Tool, results: vec![result], ..TraceStep::default() });
        }
        _ if kind.ends_with("_call") => add_call_item(item, kind, steps),
        _ => {}
    }
}

fn add_message_item(item: &Value, steps: &mut Vec<TraceStep>) {
    let role = role_of(item["role"].as_str().unwrap_or("assistant"));
    let between = if role == StepRole::Assistant { "" } else { "\n" };
    let text = join_content_text(&item["content"], between);
    let screenshot = item["content"].as_array().into_iter().flatten().find_map(image_address);
    match steps.last_mut() {
        Some(last)
            if role == StepRole::Assistant
                && last.role == role
                && last.text.is_empty()
                && last.tool_calls.is_empty() =>
        {
            last.text = text;
        }
        _ => steps.push(TraceStep { screenshot, ..TraceStep::new(role, text) }),
    }
}

fn add_call_item(item: &Value, kind: &str, steps: &mut Vec<TraceStep>) {
    let id = first_text_field(item, &["call_id", "id"]).map(str::to_owned);
    let name = item["name"].as_str().unwrap_or_else(|| kind.trim_end_matches("_call"));
    let named = |key: &str| item.get(key).map(|item| serde_json::json!({ key: item }));
    let arguments = ["arguments", "input", "action"].iter().find_map(|text| item.get(*text)).cloned();
    let arguments = arguments.or_else(|| named("code")).or_else(|| named("queries")).unwrap_or(Value::Null);
    let (mut arguments, sources) = (arguments, item["action"].get("sources").cloned());
    if let Some(map) = arguments.as_object_mut() {
        map.remove("sources");
    }
    let call = ToolCall::new(id.clone(), name, &arguments);
    match steps.last_mut() {
        Some(last) if last.role == StepRole::Assistant => last.tool_calls.push(call),
        _ => steps.push(TraceStep { tool_calls: vec![call], ..TraceStep::default() }),
    }
    // Tools that run at the provider carry their result with the call.
    let error = item.get("error").filter(|item| !item.is_null());
    let outputs =
        ["output", "outputs", "results"].iter().find_map(|text| item.get(*text)).filter(|map| !map.is_null());
    if let Some(result) = error.or(outputs).or(sources.as_ref()) {
        let result = ToolResult {
            call: id,
            name: Some(name.to_owned()),
            text: output_text(result),
            error: error.is_some(),
        };
        steps.push(TraceStep { role: StepRole::Tool, results: vec![result], ..TraceStep::default() });
    }
}

fn output_text(output: &Value) -> String {
    let one = |value: &Value| {
        let streams: Vec<&str> = ["logs", "stdout", "stderr", "message"]
            .iter()
            .filter_map(|key| value[*key].as_str())
            .filter(|text| !text.is_empty())
            .collect();
        if streams.is_empty() { join_content_text(value, "\n") } else { streams.join("\n") }
    };
    let text = match output {
        Value::Array(items) => items.iter().map(one).collect::<Vec<_>>().join("\n"),
        other => one(other),
    };
    if text.is_empty() { compact_value_text(output) } else { text }
}
