//! ShareGPT's conversations, `{from, value}`, as datasets for training write them.

use serde_json::Value;

use super::action::parse_literal;
use super::message::parse_recorded_call;
use super::{compact_value_text, first_text_field, nested_items};
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep};

const HOLDERS: [&str; 2] = ["conversations", "conversation"];

/// What a message of one speaker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShareGptMessage {
    Text(StepRole),
    Calls,
    Result,
}

/// Who speaks, by the names that datasets use. An answer may be a list of mappings with `from` and `value` too, so that
/// other names are no conversation.
fn classify_speaker(message: &Value) -> Option<ShareGptMessage> {
    Some(match message["from"].as_str()?.to_ascii_lowercase().as_str() {
        "system" => ShareGptMessage::Text(StepRole::System),
        "human" | "user" => ShareGptMessage::Text(StepRole::User),
        "gpt" | "chatgpt" | "assistant" | "model" | "bard" | "bing" => {
            ShareGptMessage::Text(StepRole::Assistant)
        }
        "function_call" | "tool_call" => ShareGptMessage::Calls,
        "observation" | "tool" | "function" | "function_response" | "tool_response" => {
            ShareGptMessage::Result
        }
        _ => return None,
    })
}

pub(super) fn is_sharegpt_conversation(value: &Value) -> bool {
    let messages = nested_items(value, &HOLDERS);
    let is_message = |message: &Value| message.get("value").is_some() && classify_speaker(message).is_some();
    !messages.is_empty() && messages.iter().all(is_message)
}

pub(super) fn read_sharegpt_conversation(value: &Value) -> Trace {
    let system = first_text_field(value, &["system"]).map(|text| TraceStep::new(StepRole::System, text));
    let messages = nested_items(value, &HOLDERS).iter().map(read_message);
    Trace { steps: system.into_iter().chain(messages).collect(), ..Trace::default() }
}

fn read_message(message: &Value) -> TraceStep {
    let text = compact_value_text(&message["value"]);
    match classify_speaker(message).unwrap_or(ShareGptMessage::Text(StepRole::Other)) {
        ShareGptMessage::Text(StepRole::Assistant) => {
            let CallsInText { text, calls } = split_calls(text);
            TraceStep { tool_calls: calls, ..TraceStep::new(StepRole::Assistant, text) }
        }
        ShareGptMessage::Text(role) => TraceStep::new(role, text),
        ShareGptMessage::Calls => TraceStep { tool_calls: read_calls(&text), ..TraceStep::default() },
        ShareGptMessage::Result => {
            let inside = text.trim().strip_prefix("<tool_response>");
            let inside = inside.and_then(|inside| inside.strip_suffix("</tool_response>"));
            let text = inside.map_or_else(|| text.clone(), |inside| inside.trim().to_owned());
            let result = ToolResult { text, ..ToolResult::default() };
            TraceStep { role: StepRole::Tool, results: vec![result], ..TraceStep::default() }
        }
    }
}

/// One call or several, as JSON or as Python writes them.
fn read_calls(text: &str) -> Vec<ToolCall> {
    match parse_literal(text.trim()) {
        Some(Value::Array(calls)) => calls.iter().filter_map(parse_recorded_call).collect(),
        Some(call @ Value::Object(_)) => parse_recorded_call(&call).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// What a model says, and the calls that it writes into its text.
struct CallsInText {
    text: String,
    calls: Vec<ToolCall>,
}

/// Separates calls in `<tool_call>` tags, as models of the Hermes family write them, from the text around them.
fn split_calls(text: String) -> CallsInText {
    let (mut said, mut calls, mut rest) = (String::new(), Vec::new(), text.as_str());
    while let Some((before, after)) = rest.split_once("<tool_call>")
        && let Some((inside, after)) = after.split_once("</tool_call>")
    {
        let read = read_calls(inside);
        if read.is_empty() {
            break;
        }
        said.push_str(before);
        calls.extend(read);
        rest = after;
    }
    if calls.is_empty() {
        return CallsInText { text, calls };
    }
    said.push_str(rest);
    CallsInText { text: said.trim().to_owned(), calls }
}

/// Whether a message should hold tool calls of which none can be read. Nothing can be said of the calls of such a
/// conversation.
pub(super) fn has_unread_sharegpt_calls(value: &Value) -> bool {
    let is_unread = |message: &Value| {
        let step = read_message(message);
        match classify_speaker(message) {
            Some(ShareGptMessage::Calls) => step.tool_calls.is_empty(),
            Some(ShareGptMessage::Text(StepRole::Assistant)) => {
                step.text.split_once("<tool_call>").is_some_and(|(_, after)| after.contains("</tool_call>"))
            }
            _ => false,
        }
    };
    nested_items(value, &HOLDERS).iter().any(is_unread)
}
