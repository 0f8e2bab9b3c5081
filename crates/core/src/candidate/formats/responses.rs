//! Items of OpenAI's Responses API.

use serde_json::Value;

use super::message::{image_address, join_content_text, parse_recorded_usage, push, role_of};
use super::{compact_value_text, first_text_field};
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep};

pub(super) fn is_responses_trace(value: &Value) -> bool {
    let is_item = |it: &Value| {
        let kind = it["type"].as_str().unwrap_or_default();
        (kind == "reasoning" && it.get("role").is_none())
            || kind.ends_with("_call")
            || kind.ends_with("_call_output")
            || is_responses_message(it)
    };
    let parts = [value, &value["input"], &value["output"], &value["response"]["output"]];
    value["object"] == "response"
        || parts.iter().any(|it| it.as_array().is_some_and(|it| it.iter().any(is_item)))
}

fn is_responses_message(item: &Value) -> bool {
    let part = |it: &Value| matches!(it["type"].as_str(), Some("output_text" | "input_text"));
    item["content"].as_array().is_some_and(|it| it.iter().any(part))
}

pub(super) fn read_responses_trace(value: &Value) -> Trace {
    let mut trace = Trace::default();
    let (request, response) = (value.get("request").unwrap_or(value), value.get("response").unwrap_or(value));
    // The reply repeats the instructions of its request.
    let instructions = [request, response]
        .iter()
        .map(|it| join_content_text(&it["instructions"], "\n"))
        .find(|it| !it.is_empty());
    trace.steps.extend(instructions.map(|it| TraceStep::new(StepRole::System, it)));
    match request.get("input") {
        Some(Value::String(text)) => trace.steps.push(TraceStep::new(StepRole::User, text)),
        Some(Value::Array(items)) => items.iter().for_each(|it| item(it, &mut trace.steps)),
        _ => {}
    }
    let output = response.get("output").unwrap_or(response);
    output.as_array().into_iter().flatten().for_each(|it| item(it, &mut trace.steps));
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
    let named = |key: &str| item.get(key).map(|it| serde_json::json!({ key: it }));
    let arguments = ["arguments", "input", "action"].iter().find_map(|it| item.get(*it)).cloned();
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
    let error = item.get("error").filter(|it| !it.is_null());
    let outputs =
        ["output", "outputs", "results"].iter().find_map(|it| item.get(*it)).filter(|it| !it.is_null());
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
    let one = |it: &Value| {
        let streams: Vec<&str> = ["logs", "stdout", "stderr", "message"]
            .iter()
            .filter_map(|key| it[*key].as_str())
            .filter(|it| !it.is_empty())
            .collect();
        if streams.is_empty() { join_content_text(it, "\n") } else { streams.join("\n") }
    };
    let text = match output {
        Value::Array(items) => items.iter().map(one).collect::<Vec<_>>().join("\n"),
        other => one(other),
    };
    if text.is_empty() { compact_value_text(output) } else { text }
}
