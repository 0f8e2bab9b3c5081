//! Messages with roles: OpenAI's chat API and Anthropic's, and everything that looks like them.

use serde_json::Value;

use super::{compact_value_text, first_count_field, first_text_field, nested_items};
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep, Usage};
use crate::quantity::Usd;

const HOLDERS: [&str; 4] = ["messages", "trajectory", "steps", "conversation"];

/// Where a message lists its calls, with the names of DeepEval.
const CALL_LISTS: [&str; 3] = ["tool_calls", "tools_called", "toolsCalled"];

pub(super) fn fits_anthropic(value: &Value) -> bool {
    let is_block = |value: &Value| {
        let kind = value["type"].as_str().unwrap_or_default();
        matches!(kind, "tool_use" | "thinking" | "redacted_thinking" | "server_tool_use")
            || kind.ends_with("tool_result")
    };
    let has_blocks =
        |value: &Value| value["content"].as_array().is_some_and(|items| items.iter().any(is_block));
    let is_reply = |value: &Value| {
        value["type"] == "message" && value["role"] == "assistant" && value["content"].is_array()
    };
    let parts = [value, &value["request"], &value["response"]];
    parts.iter().any(|part| {
        is_reply(part) || (fits_openai(part) && nested_items(part, &HOLDERS).iter().any(has_blocks))
    })
}

pub(super) fn fits_openai(value: &Value) -> bool {
    let is_completion = |it: &Value| {
        it["choices"].as_array().is_some_and(|items| items.iter().any(|value| value.get("message").is_some()))
    };
    let is_list = |it: &Value| {
        let messages = nested_items(it, &HOLDERS);
        let speaks = |value: &Value| value["role"].is_string() || value["speaker"].is_string();
        messages.iter().any(|message| message["role"].is_string()) && messages.iter().all(speaks)
    };
    is_completion(value) || is_list(value) || is_completion(&value["response"]) || is_list(&value["request"])
}

/// Whether a list holds nothing but messages that only OpenAI's chat API writes; most do, and it is soon told.
pub(super) fn is_plain(value: &Value) -> bool {
    let is_call = |value: &Value| value["function"]["name"].is_string();
    let is_message = |it: &Value| {
        it.as_object().is_some_and(|map| {
            map.contains_key("role")
                && map.iter().all(|(key, value)| match key.as_str() {
                    "role" | "tool_call_id" | "name" => value.is_string(),
                    "content" => value.is_string() || value.is_null(),
                    "tool_calls" => value.as_array().is_some_and(|items| items.iter().all(is_call)),
                    _ => false,
                })
        })
    };
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(is_message))
}

/// The tool calls of plain messages, each with its name, the arguments as written, and the whole entry.
pub(crate) fn plain_calls(value: &Value) -> Option<impl Iterator<Item = (&str, &Value, &Value)>> {
    let messages = value.as_array().filter(|_| is_plain(value))?;
    let calls = messages.iter().filter_map(|message| message.get("tool_calls")?.as_array()).flatten();
    Some(calls.filter_map(|call| {
        let function = call.get("function")?;
        Some((function.get("name")?.as_str()?, function.get("arguments").unwrap_or(&Value::Null), call))
    }))
}

pub(super) fn read_chat_trace(value: &Value) -> Trace {
    let mut trace = Trace::default();
    match (value.get("request"), value.get("response")) {
        (None, None) => add_chat_payload(value, &mut trace),
        (request, response) => {
            // A batch line wraps the reply once more.
            let response = response.map(|response| response.get("body").unwrap_or(response));
            request.into_iter().chain(response).for_each(|request| add_chat_payload(request, &mut trace));
        }
    }
    trace
}

fn add_chat_payload(value: &Value, trace: &mut Trace) {
    if let Some(system) = value.get("system") {
        trace.steps.push(TraceStep::new(StepRole::System, join_content_text(system, "\n")));
    }
    let is_reply = value.get("choices").is_some() && value.get("messages").is_none();
    if !is_reply {
        let messages = nested_items(value, &HOLDERS);
        trace.steps.extend(messages.iter().flat_map(chat_message_steps));
        trace.status = messages
            .iter()
            .rev()
            .find_map(|message| first_text_field(message, &["stop_reason"]))
            .map(str::to_owned)
            .or(trace.status.take());
    }
    // Further choices are alternatives, not steps.
    let choices = value["choices"].as_array().into_iter().flatten();
    let first = choices.min_by_key(|choice| choice["index"].as_u64().unwrap_or(0));
    if let Some(choice) = first {
        trace.steps.extend(chat_message_steps(&choice["message"]));
        trace.status =
            first_text_field(choice, &["finish_reason"]).map(str::to_owned).or(trace.status.take());
    }
    trace.status = first_text_field(value, &["stop_reason"]).map(str::to_owned).or(trace.status.take());
    if value.get("role").is_none() || value.get("choices").is_some() {
        trace.usage = trace.usage.plus(parse_recorded_usage(&value["usage"]));
    }
    trace.cost = money(&value["usage"]["cost"]).or(trace.cost);
}

/// Whether a message names tool calls of which none can be read. Nothing can be said of the calls of such a trace.
pub(super) fn has_unread_calls(value: &Value) -> bool {
    let is_unread = |message: &Value| {
        names_calls(message) && chat_message_steps(message).iter().all(|step| step.tool_calls.is_empty())
    };
    nested_items(value, &HOLDERS).iter().any(is_unread)
}

/// Whether keys or blocks of a message have the name of tool calls, in the spelling of any vendor.
fn names_calls(message: &Value) -> bool {
    let is_call_name = |name: &str| {
        let letters =
            name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase());
        let letters: String = letters.collect();
        matches!(
            letters.as_str(),
            "toolcall" | "toolcalls" | "toolscalled" | "tooluse" | "functioncall" | "functioncalls"
        )
    };
    let says_something = |value: &Value| match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    let has_key = |value: &Value| {
        value
            .as_object()
            .is_some_and(|map| map.iter().any(|(key, value)| is_call_name(key) && says_something(value)))
    };
    let is_block = |block: &Value| {
        let kind = block["type"].as_str().unwrap_or_default();
        has_key(block) || is_call_name(kind) || (kind.starts_with("tool-") && kind != "tool-result")
    };
    let mut blocks = ["content", "parts"].iter().filter_map(|key| message.get(*key)?.as_array()).flatten();
    has_key(message) || blocks.any(is_block)
}

pub(super) fn money(value: &Value) -> Option<Usd> {
    let dollars = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
    (dollars.is_finite() && dollars.abs() < 9e6).then(|| Usd::from_nanos((dollars * 1e9).round() as i64))
}

/// One message, or one of Potato's turns among messages. What a tool answered inside it is a step of the tool, and splits the message.
pub(super) fn chat_message_steps(message: &Value) -> Vec<TraceStep> {
    if message.get("role").is_none() && message.get("speaker").is_some() {
        return vec![super::potato::turn(message)];
    }
    let role = role_of(message["role"].as_str().unwrap_or_default());
    let mut all = Vec::new();
    let mut step = TraceStep { role, ..TraceStep::default() };
    match &message["content"] {
        Value::Array(blocks) if role != StepRole::Tool => {
            for block in blocks {
                match parse_recorded_result(block) {
                    Some(result) => {
                        push_finished_step(&mut step, &mut all);
                        push_tool_result(&mut all, result);
                    }
                    None => add_block(block, &mut step),
                }
            }
        }
        other => step.text = join_content_text(other, "\n"),
    }
    if let Some(reasoning) = first_text_field(message, &["reasoning_content", "reasoning"]) {
        push(&mut step.reasoning, reasoning, "\n");
    }
    if let (true, Some(refusal)) = (step.text.is_empty(), message["refusal"].as_str()) {
        refusal.clone_into(&mut step.text);
    }
    let calls = CALL_LISTS.iter().filter_map(|key| message.get(*key)?.as_array()).flatten();
    step.tool_calls.extend(calls.filter_map(parse_recorded_call));
    step.tool_calls.extend(message.get("function_call").and_then(parse_recorded_call));
    if role == StepRole::Tool {
        let result = ToolResult {
            call: first_text_field(message, &["tool_call_id", "call_id", "tool_use_id"]).map(str::to_owned),
            name: first_text_field(message, &["name"]).map(str::to_owned),
            text: std::mem::take(&mut step.text),
            error: message["status"] == "error" || message["is_error"] == true,
        };
        step.results.push(result);
    }
    step.usage = parse_recorded_usage(&message["usage"]);
    push_finished_step(&mut step, &mut all);
    all
}

fn push_finished_step(step: &mut TraceStep, all: &mut Vec<TraceStep>) {
    let next = TraceStep { role: step.role, ..TraceStep::default() };
    let done = std::mem::replace(step, next);
    if !done.is_empty() || !done.usage.is_nothing() {
        all.push(done);
    }
}

/// Results that follow each other are one step.
fn push_tool_result(all: &mut Vec<TraceStep>, result: ToolResult) {
    match all.last_mut() {
        Some(last) if last.role == StepRole::Tool => last.results.push(result),
        _ => all.push(TraceStep { role: StepRole::Tool, results: vec![result], ..TraceStep::default() }),
    }
}

pub(super) fn role_of(name: &str) -> StepRole {
    match name.to_ascii_lowercase().as_str() {
        "system" | "developer" => StepRole::System,
        "user" | "human" => StepRole::User,
        "assistant" | "ai" | "model" | "agent" => StepRole::Assistant,
        "tool" | "function" | "environment" | "observation" => StepRole::Tool,
        _ => StepRole::Other,
    }
}

/// A tool's answer as a block of a message.
pub(super) fn parse_recorded_result(block: &Value) -> Option<ToolResult> {
    block["type"].as_str().filter(|block| block.ends_with("tool_result"))?;
    let content = &block["content"];
    let failed = content.get("error_code").and_then(Value::as_str);
    Some(ToolResult {
        call: block["tool_use_id"].as_str().map(str::to_owned),
        name: None,
        text: failed.map_or_else(|| join_content_text(content, "\n"), str::to_owned),
        error: block["is_error"] == true || failed.is_some(),
    })
}

pub(super) fn add_block(block: &Value, step: &mut TraceStep) {
    // Citations cut one sentence of an answer into several blocks.
    let between = if step.role == StepRole::Assistant { "" } else { "\n" };
    match block["type"].as_str() {
        Some("thinking") => push(&mut step.reasoning, block["thinking"].as_str().unwrap_or_default(), "\n"),
        Some("reasoning") => push(&mut step.reasoning, &join_content_text(block, "\n"), "\n"),
        Some("redacted_thinking") => {}
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let name = block["name"].as_str().unwrap_or_default();
            step.tool_calls.push(ToolCall::new(
                block["id"].as_str().map(str::to_owned),
                name,
                &block["input"],
            ));
        }
        Some("image" | "image_url" | "input_image") => {
            step.screenshot = step.screenshot.take().or_else(|| image_address(block));
        }
        _ => push(&mut step.text, &join_content_text(block, "\n"), between),
    }
}

/// The address of a picture; one that is inside the message itself is only named.
pub(super) fn image_address(block: &Value) -> Option<String> {
    let address = block["image_url"]["url"]
        .as_str()
        .or(block["image_url"].as_str())
        .or(block["source"]["url"].as_str());
    match address {
        Some(address) if address.starts_with("data:") => Some("inline image".to_owned()),
        Some(address) => Some(address.to_owned()),
        None => block["source"]["media_type"].as_str().map(|block| format!("inline {block}")),
    }
}

/// The text of content in any of its shapes.
pub(super) fn join_content_text(content: &Value, between: &str) -> String {
    match content {
        Value::Array(parts) => {
            let texts: Vec<String> = parts
                .iter()
                .map(|part| join_content_text(part, between))
                .filter(|text| !text.is_empty())
                .collect();
            texts.join(between)
        }
        Value::Object(_) => {
            let text = first_text_field(
                content,
                &["text", "output_text", "input_text", "refusal", "thinking", "reasoning"],
            );
            let link = || {
                let title = first_text_field(content, &["title", "name", "filename"])?;
                let address = first_text_field(content, &["url", "uri"])?;
                Some(format!("{title} ({address})"))
            };
            match text.map(str::to_owned).or_else(link) {
                Some(text) => text,
                None => content
                    .get("content")
                    .map(|content| join_content_text(content, between))
                    .unwrap_or_default(),
            }
        }
        other => compact_value_text(other),
    }
}

/// `{id, function: {name, arguments}}`, `{function: name, arguments}`, `{name, arguments}`, `{name, args}` or a name.
pub(super) fn parse_recorded_call(value: &Value) -> Option<ToolCall> {
    let inner = ["function", "custom"]
        .iter()
        .find_map(|text| value.get(*text))
        .filter(|map| map.is_object())
        .unwrap_or(value);
    let name = first_text_field(inner, &["name", "tool"])
        .or_else(|| first_text_field(value, &["name", "function"]))
        .or_else(|| value.as_str())?;
    let arguments = ["arguments", "args", "input", "parameters", "input_parameters", "inputParameters"]
        .iter()
        .find_map(|text| inner.get(*text))
        .unwrap_or(&Value::Null);
    let id = first_text_field(value, &["id", "call_id", "tool_call_id"]).map(str::to_owned);
    Some(ToolCall { duration_ms: call_duration_ms(value), ..ToolCall::new(id, name, arguments) })
}

pub(crate) fn call_duration_ms(call: &Value) -> Option<f64> {
    ["duration_ms", "durationMs"].iter().find_map(|text| call.get(*text)?.as_f64())
}

pub(super) fn push(text: &mut String, more: &str, between: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str(between);
    }
    text.push_str(more);
}

/// Token counts under the names of any provider.
pub(super) fn parse_recorded_usage(value: &Value) -> Usage {
    // Anthropic counts cached tokens outside `input_tokens`, OpenAI inside; both are inside here.
    let read = first_count_field(value, &["cache_read_input_tokens"]);
    let outside = read + first_count_field(value, &["cache_creation_input_tokens"]);
    let details = ["prompt_tokens_details", "input_tokens_details", "input_token_details"];
    let details = details.iter().find_map(|detail| value.get(*detail)).unwrap_or(&Value::Null);
    Usage {
        input: first_count_field(value, &["input_tokens", "prompt_tokens"]) + outside,
        output: first_count_field(value, &["output_tokens", "completion_tokens"]),
        cached: read + first_count_field(details, &["cached_tokens", "cache_read"]),
    }
}

pub(super) fn count_field(value: &Value, key: &str) -> u64 {
    first_count_field(value, &[key])
}
