//! LangChain messages, as dicts or dumped objects, and run trees.

use serde_json::Value;

use super::message::{
    add_block, join_content_text, money, parse_recorded_call, parse_recorded_result, parse_recorded_usage,
    push, role_of,
};
use super::replay::{Replay, UnannouncedCall};
use super::{compact_value_text, first_text_field, nested_items};
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep, Usage};
use crate::quantity::Time;

pub(super) fn is_langchain_trace(value: &Value) -> bool {
    let run = value.get("run_type").is_some()
        || value.as_array().is_some_and(|items| items.iter().any(|value| value.get("run_type").is_some()));
    run || nested_items(value, &["messages"]).iter().any(is_langchain_message)
}

fn is_langchain_message(value: &Value) -> bool {
    let kind = value["type"].as_str().unwrap_or_default();
    let is_kind = matches!(kind, "human" | "ai" | "system" | "tool" | "function" | "chat")
        || kind.ends_with("MessageChunk");
    let is_dumped = value["lc"].is_number() && value["kwargs"].is_object();
    is_dumped
        || (is_kind
            && value.get("role").is_none()
            && (value["data"].is_object() || value.get("content").is_some()))
}

pub(super) fn read_langchain_trace(value: &Value) -> Trace {
    if value.get("run_type").is_some()
        || value.as_array().is_some_and(|items| items.iter().any(|value| value.get("run_type").is_some()))
    {
        return run_tree(value);
    }
    let messages = nested_items(value, &["messages"]);
    let status = messages.iter().rev().find_map(|message| {
        first_text_field(
            &langchain_message_body(message)["response_metadata"],
            &["finish_reason", "stop_reason"],
        )
    });
    Trace {
        steps: messages.iter().flat_map(read_langchain_message).collect(),
        status: status.map(str::to_owned),
        ..Trace::default()
    }
}

fn langchain_message_body(message: &Value) -> &Value {
    let dumped = message.get("kwargs").filter(|message| message.is_object());
    dumped.or_else(|| message.get("data").filter(|message| message.is_object())).unwrap_or(message)
}

/// One message in any of its three shapes.
pub(super) fn read_langchain_message(value: &Value) -> Vec<TraceStep> {
    let class =
        value["id"].as_array().and_then(|items| items.last()).and_then(Value::as_str).unwrap_or_default();
    let body = langchain_message_body(value);
    let kind = if class.is_empty() { value["type"].as_str().unwrap_or_default() } else { class };
    let kind = kind.trim_end_matches("Chunk").trim_end_matches("Message").to_ascii_lowercase();
    let role = match kind.as_str() {
        "chat" => role_of(body["role"].as_str().unwrap_or_default()),
        "remove" => return Vec::new(),
        other => role_of(other),
    };
    let mut step = TraceStep { role, ..TraceStep::default() };
    let mut called = Vec::new();
    match &body["content"] {
        Value::Array(blocks) if role != StepRole::Tool => {
            for block in blocks {
                match block {
                    Value::String(text) => {
                        push(&mut step.text, text, if role == StepRole::Assistant { "" } else { "\n" });
                    }
                    _ if parse_recorded_result(block).is_some() => {}
                    _ => add_block(block, &mut step),
                }
            }
            // `tool_calls` repeats these calls.
            called = std::mem::take(&mut step.tool_calls);
        }
        other => step.text = join_content_text(other, "\n"),
    }
    let extra = &body["additional_kwargs"];
    if let Some(reasoning) = extra["reasoning_content"].as_str() {
        push(&mut step.reasoning, reasoning, "\n");
    }
    step.tool_calls = collect_message_calls(body, extra, called);
    step.usage = parse_recorded_usage(&body["usage_metadata"]);
    if role == StepRole::Tool {
        step.results.push(ToolResult {
            call: first_text_field(body, &["tool_call_id"]).map(str::to_owned),
            name: first_text_field(body, &["name"]).map(str::to_owned),
            text: std::mem::take(&mut step.text),
            error: body["status"] == "error",
        });
    }
    vec![step]
}

fn collect_message_calls(body: &Value, extra: &Value, in_blocks: Vec<ToolCall>) -> Vec<ToolCall> {
    let list = |value: &Value| {
        value.as_array().into_iter().flatten().filter_map(parse_recorded_call).collect::<Vec<_>>()
    };
    let mut calls = list(&body["tool_calls"]);
    if calls.is_empty() {
        calls = list(&extra["tool_calls"]);
    }
    if calls.is_empty() {
        calls = in_blocks;
    }
    if calls.is_empty() {
        calls.extend(extra.get("function_call").and_then(parse_recorded_call));
    }
    calls.extend(list(&body["invalid_tool_calls"]));
    calls
}

fn run_tree(value: &Value) -> Trace {
    let mut runs = Vec::new();
    flatten(value, &mut runs);
    runs.sort_by_key(|run| run_start_time(run));
    let (mut replay, mut used) = (Replay::default(), Usage::default());
    for run in &runs {
        match run["run_type"].as_str() {
            Some("llm" | "chat_model") => {
                let output = read_run_outputs(&run["outputs"]);
                used = used.plus(output.iter().fold(Usage::default(), |sum, step| sum.plus(step.usage)));
                replay.model_call(read_run_inputs(&run["inputs"]), output);
            }
            Some("tool" | "retriever") => {
                let (call, result) = tool(run);
                let started = Time::parse(&run_start_time(run)).ok();
                replay.tool_run(call, result, started, UnannouncedCall::Tool);
            }
            _ => {}
        }
    }
    let root = value.as_array().map_or(value, |values| {
        values.iter().find(|value| value["parent_run_id"].is_null()).unwrap_or(value)
    });
    if used.is_nothing() {
        used = parse_recorded_usage(root);
    }
    Trace {
        id: first_text_field(root, &["trace_id", "id"]).map(str::to_owned),
        steps: replay.steps,
        usage: used,
        cost: money(&root["total_cost"]),
        status: first_text_field(root, &["status"]).map(str::to_owned),
        ..Trace::default()
    }
}

fn flatten<'v>(value: &'v Value, runs: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, runs)),
        Value::Object(_) => {
            runs.push(value);
            flatten(&value["child_runs"], runs);
        }
        _ => {}
    }
}

fn run_start_time(run: &Value) -> String {
    first_text_field(run, &["start_time", "dotted_order"]).unwrap_or_default().to_owned()
}

fn read_run_inputs(inputs: &Value) -> Vec<TraceStep> {
    let list = &inputs["messages"];
    // One list per prompt; there is one prompt.
    let list = list.get(0).filter(|list| list.is_array()).unwrap_or(list);
    match list.as_array() {
        Some(messages) => messages.iter().flat_map(read_langchain_message).collect(),
        None => inputs["prompts"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| Some(TraceStep::new(StepRole::User, item.as_str()?)))
            .collect(),
    }
}

fn read_run_outputs(outputs: &Value) -> Vec<TraceStep> {
    let first = &outputs["generations"][0];
    let first = first.get(0).unwrap_or(first);
    match first.get("message") {
        Some(it) => read_langchain_message(it),
        None => first_text_field(first, &["text"])
            .map(|text_field| TraceStep::new(StepRole::Assistant, text_field))
            .into_iter()
            .collect(),
    }
}

fn tool(run: &Value) -> (ToolCall, ToolResult) {
    let name = run["name"].as_str().unwrap_or_default();
    let output = &run["outputs"]["output"];
    let body = output.get("kwargs").unwrap_or(output);
    let id = first_text_field(body, &["tool_call_id"]).or(run["extra"]["tool_call_id"].as_str());
    let own = if run["run_type"] == "retriever" { run["id"].as_str() } else { None };
    let inputs = &run["inputs"];
    let arguments = match (inputs.get("query"), inputs["input"].as_str()) {
        (Some(query), _) => serde_json::json!({ "query": query }),
        (None, Some(input)) => Value::from(input),
        (None, None) => inputs.clone(),
    };
    let failed = run["error"].as_str();
    let documents = |value: &Value| {
        let texts = value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| first_text_field(item.get("kwargs").unwrap_or(item), &["page_content"]));
        texts.collect::<Vec<_>>().join("\n")
    };
    let text = match failed {
        Some(error) => error.to_owned(),
        None if run["outputs"].get("documents").is_some() => documents(&run["outputs"]["documents"]),
        None if body.get("content").is_some() => join_content_text(&body["content"], "\n"),
        None => compact_value_text(output),
    };
    let call = ToolCall::new(id.or(own).map(str::to_owned), name, &arguments);
    let error = failed.is_some() || body["status"] == "error";
    (call, ToolResult { call: None, name: Some(name.to_owned()), text, error })
}
