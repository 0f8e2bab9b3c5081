//! Anthropic's messages.

use jurist_core::candidate::{ToolCall, Usage};
use serde_json::{Value as Json, json};

use super::vendors::{Quirks, StructuredOutput};
use super::{
    MessageRole, ModelError, ModelErrorKind, ModelReply, REPLY_TOOL, Request, StopReason, reply_tool_text,
};

pub(super) fn build_anthropic_request(
    request: &Request,
    model: &str,
    shape: StructuredOutput,
    quirks: &Quirks,
) -> Json {
    let message = |message: &super::Message| {
        let role = if message.role == MessageRole::User { "user" } else { "assistant" };
        let mut parts: Vec<Json> =
            message.parts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        // All but the last part is shared by the questions about one candidate.
        if let [.., shared, _] = parts.as_mut_slice() {
            shared["cache_control"] = json!({ "type": "ephemeral" });
        }
        let results = message.results.iter().map(|result| {
            json!({ "type": "tool_result", "tool_use_id": result.call, "content": result.text, "is_error": result.error })
        });
        let calls = message.calls.iter().map(
            |call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments }),
        );
        // Results come before words, and calls after them.
        let content: Vec<Json> = results.chain(parts).chain(calls).collect();
        json!({ "role": role, "content": content })
    };
    let messages: Vec<Json> = request.messages.iter().map(message).collect();
    let mut body = json!({
        "model": model, "max_tokens": request.max_tokens, "system": request.system, "messages": messages,
    });
    if let Some(temperature) = request.temperature.filter(|_| quirks.takes_temperature(model)) {
        body["temperature"] = json!(temperature.min(1.0));
    }
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema });
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    match shape {
        StructuredOutput::Schema | StructuredOutput::ObjectWithSchema => {
            body["output_config"] = json!({ "format": { "type": "json_schema", "schema": strip_schema_bounds(&request.schema) } });
        }
        StructuredOutput::Tool => {
            body["tools"] = json!([{ "name": REPLY_TOOL, "description": "Records the grade.", "input_schema": request.schema }]);
            body["tool_choice"] = json!({ "type": "tool", "name": REPLY_TOOL });
        }
        StructuredOutput::Object | StructuredOutput::Asked => {}
    }
    body
}

/// The subset of JSON Schema that structured outputs take: no bounds.
fn strip_schema_bounds(schema: &Json) -> Json {
    match schema {
        Json::Object(map) => map
            .iter()
            .filter(|(key, value)| !(matches!(key.as_str(), "minimum" | "maximum") && value.is_number()))
            .map(|(key, value)| (key.clone(), strip_schema_bounds(value)))
            .collect(),
        Json::Array(items) => items.iter().map(strip_schema_bounds).collect(),
        other => other.clone(),
    }
}

pub(super) fn read_anthropic_reply(body: &Json, with_tools: bool) -> Result<ModelReply, ModelError> {
    let Some(blocks) = body["content"].as_array() else {
        return Err(ModelError::new(ModelErrorKind::NotUnderstood, "the reply has no content"));
    };
    let used = || blocks.iter().filter(|block| block["type"] == "tool_use");
    let called = reply_tool_text(used().filter(|_| !with_tools), "input");
    let call = |value: &Json| {
        let id = value["id"].as_str().map(str::to_owned);
        ToolCall::new(id, value["name"].as_str().unwrap_or_default(), &value["input"])
    };
    let calls = used().filter(|_| with_tools).map(call).collect();
    let spoken = || {
        blocks
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect()
    };
    let reason = body["stop_reason"].as_str();
    let stop = match reason {
        Some("refusal") => StopReason::Refusal,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        None | Some("end_turn" | "stop_sequence" | "tool_use") => StopReason::End,
        Some(_) => StopReason::Other,
    };
    let stopped_by = reason.filter(|_| stop == StopReason::Other).map(str::to_owned);
    let written = read_usage_count(body, "cache_creation_input_tokens");
    let text = called.unwrap_or_else(spoken);
    // Writing the cache costs a quarter more.
    Ok(ModelReply {
        text,
        calls,
        usage: read_anthropic_usage(body),
        stop,
        stopped_by,
        surcharged: written.div_ceil(4),
        ..ModelReply::default()
    })
}

/// Cached tokens are counted outside `input_tokens` here.
pub(super) fn read_anthropic_usage(body: &Json) -> Usage {
    let read = read_usage_count(body, "cache_read_input_tokens");
    let written = read_usage_count(body, "cache_creation_input_tokens");
    Usage {
        input: read_usage_count(body, "input_tokens").saturating_add(read).saturating_add(written),
        output: read_usage_count(body, "output_tokens"),
        cached: read,
    }
}

fn read_usage_count(body: &Json, key: &str) -> u64 {
    body["usage"][key].as_u64().unwrap_or(0)
}
