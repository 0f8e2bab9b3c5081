//! Items of OpenAI's Responses API.

use serde_json::Value;

use super::message::{joined, picture, push, role_of, usage};
use super::{shown, text_of};
use crate::candidate::trace::{Role, Step, ToolCall, ToolResult, Trace};

pub(super) fn fits(value: &Value) -> bool {
    let is_item = |it: &Value| {
        let kind = it["type"].as_str().unwrap_or_default();
        (kind == "reasoning" && it.get("role").is_none())
            || kind.ends_with("_call")
            || kind.ends_with("_call_output")
            || is_message(it)
    };
    let parts = [value, &value["input"], &value["output"], &value["response"]["output"]];
    value["object"] == "response"
        || parts.iter().any(|it| it.as_array().is_some_and(|it| it.iter().any(is_item)))
}

fn is_message(item: &Value) -> bool {
    let part = |it: &Value| matches!(it["type"].as_str(), Some("output_text" | "input_text"));
    item["content"].as_array().is_some_and(|it| it.iter().any(part))
}

pub(super) fn read(value: &Value) -> Trace {
    let mut trace = Trace::default();
    let (request, response) = (value.get("request").unwrap_or(value), value.get("response").unwrap_or(value));
    // The reply repeats the instructions of its request.
    let instructions =
        [request, response].iter().map(|it| joined(&it["instructions"], "\n")).find(|it| !it.is_empty());
    trace.steps.extend(instructions.map(|it| Step::new(Role::System, it)));
    match request.get("input") {
        Some(Value::String(text)) => trace.steps.push(Step::new(Role::User, text)),
        Some(Value::Array(items)) => items.iter().for_each(|it| item(it, &mut trace.steps)),
        _ => {}
    }
    let output = response.get("output").unwrap_or(response);
    output.as_array().into_iter().flatten().for_each(|it| item(it, &mut trace.steps));
    if response["object"] == "response" {
        trace.id = text_of(response, &["id"]).map(str::to_owned);
    }
    trace.status = text_of(response, &["status"]).map(str::to_owned);
    trace.usage = usage(&response["usage"]);
    trace
}

/// A step of the assistant grows as reasoning, then a message, then calls; what breaks that order opens the next.
fn item(item: &Value, steps: &mut Vec<Step>) {
    let kind = item["type"].as_str().unwrap_or("message");
    match kind {
        "message" => message(item, steps),
        "reasoning" => {
            let mut text = joined(&item["summary"], "\n");
            if text.is_empty() {
                text = joined(&item["content"], "\n");
            }
            match steps.last_mut() {
                Some(last)
                    if last.role == Role::Assistant && last.text.is_empty() && last.tool_calls.is_empty() =>
                {
                    push(&mut last.reasoning, &text, "\n");
                }
                _ => steps.push(Step { reasoning: text, ..Step::default() }),
            }
        }
        "item_reference" | "compaction" => {}
        _ if kind.ends_with("_output") => {
            let text = output_text(&item["output"]);
            let result = ToolResult {
                // What a local shell printed points at its call by `id`.
                call: text_of(item, &["call_id", "id"]).map(str::to_owned),
                name: None,
                text,
                error: matches!(item["status"].as_str(), Some("incomplete" | "failed")),
            };
            steps.push(Step { role: Role::Tool, results: vec![result], ..Step::default() });
        }
        _ if kind.ends_with("_call") => call(item, kind, steps),
        _ => {}
    }
}

fn message(item: &Value, steps: &mut Vec<Step>) {
    let role = role_of(item["role"].as_str().unwrap_or("assistant"));
    let between = if role == Role::Assistant { "" } else { "\n" };
    let text = joined(&item["content"], between);
    let screenshot = item["content"].as_array().into_iter().flatten().find_map(picture);
    match steps.last_mut() {
        Some(last)
            if role == Role::Assistant
                && last.role == role
                && last.text.is_empty()
                && last.tool_calls.is_empty() =>
        {
            last.text = text;
        }
        _ => steps.push(Step { screenshot, ..Step::new(role, text) }),
    }
}

fn call(item: &Value, kind: &str, steps: &mut Vec<Step>) {
    let id = text_of(item, &["call_id", "id"]).map(str::to_owned);
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
        Some(last) if last.role == Role::Assistant => last.tool_calls.push(call),
        _ => steps.push(Step { tool_calls: vec![call], ..Step::default() }),
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
        steps.push(Step { role: Role::Tool, results: vec![result], ..Step::default() });
    }
}

fn output_text(output: &Value) -> String {
    let one = |it: &Value| {
        let streams: Vec<&str> = ["logs", "stdout", "stderr", "message"]
            .iter()
            .filter_map(|key| it[*key].as_str())
            .filter(|it| !it.is_empty())
            .collect();
        if streams.is_empty() { joined(it, "\n") } else { streams.join("\n") }
    };
    let text = match output {
        Value::Array(items) => items.iter().map(one).collect::<Vec<_>>().join("\n"),
        other => one(other),
    };
    if text.is_empty() { shown(output) } else { text }
}
