//! OpenAI's Responses API.

use jurist_core::candidate::{ToolCall, ToolResult, Usage};
use serde_json::{Value as Json, json};

use super::vendors::{Quirks, StructuredOutput};
use super::{
    MessageRole, ModelError, ModelErrorKind, ModelReply, REPLY_TOOL, Request, StopReason, reply_tool_text,
};

pub(super) fn build_responses_request(
    request: &Request,
    model: &str,
    shape: StructuredOutput,
    quirks: &Quirks,
) -> Json {
    let input: Vec<Json> = request.messages.iter().flat_map(build_input_items).collect();
    let mut body = json!({
        "model": model, "instructions": request.system, "input": input,
        "max_output_tokens": request.max_tokens, "store": false,
    });
    if let Some(temperature) = request.temperature.filter(|_| quirks.takes_temperature(model)) {
        body["temperature"] = json!(temperature);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema });
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    match shape {
        StructuredOutput::Schema | StructuredOutput::ObjectWithSchema => {
            let schema = &request.schema;
            body["text"] = json!({ "format": { "type": "json_schema", "name": REPLY_TOOL, "schema": schema, "strict": true } });
        }
        StructuredOutput::Tool => {
            let parameters = &request.schema;
            body["tools"] =
                json!([{ "type": "function", "name": REPLY_TOOL, "parameters": parameters, "strict": true }]);
            body["tool_choice"] = json!({ "type": "function", "name": REPLY_TOOL });
        }
        StructuredOutput::Object => body["text"] = json!({ "format": { "type": "json_object" } }),
        StructuredOutput::Asked => {}
    }
    body
}

/// This protocol has separate items for text, tool calls and tool results.
fn build_input_items(it: &super::Message) -> Vec<Json> {
    let result = |tool_result: &ToolResult| json!({ "type": "function_call_output", "call_id": tool_result.call, "output": tool_result.text });
    let call = |tool_call: &ToolCall| {
        let arguments = Json::Object(tool_call.arguments.clone()).to_string();
        json!({ "type": "function_call", "call_id": tool_call.id, "name": tool_call.name, "arguments": arguments })
    };
    let mut all: Vec<Json> = it.results.iter().map(result).collect();
    if !it.parts.is_empty() {
        let (role, kind) =
            if it.role == MessageRole::User { ("user", "input_text") } else { ("assistant", "output_text") };
        let parts: Vec<Json> = it.parts.iter().map(|text| json!({ "type": kind, "text": text })).collect();
        all.push(json!({ "role": role, "content": parts }));
    }
    all.extend(it.calls.iter().map(call));
    all
}

pub(super) fn read_responses_reply(body: &Json, with_tools: bool) -> Result<ModelReply, ModelError> {
    let Some(items) = body["output"].as_array() else {
        return Err(ModelError::new(ModelErrorKind::NotUnderstood, "the reply has no output"));
    };
    let (mut text, mut refused, mut calls) = (String::new(), false, Vec::new());
    for item in items {
        match item["arguments"].as_str() {
            Some(_) if with_tools => {
                let id = item["call_id"].as_str().map(str::to_owned);
                calls.push(ToolCall::new(id, item["name"].as_str().unwrap_or_default(), &item["arguments"]));
            }
            Some(_) => text.push_str(&reply_tool_text([item].into_iter(), "arguments").unwrap_or_default()),
            None => {}
        }
        for part in item["content"].as_array().into_iter().flatten() {
            refused |= part["type"] == "refusal";
            text.push_str(part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default());
        }
    }
    let (reason, status) = (body["incomplete_details"]["reason"].as_str(), body["status"].as_str());
    let stop = match (reason, status) {
        _ if refused => StopReason::Refusal,
        (Some("content_filter"), _) => StopReason::Refusal,
        (Some("max_output_tokens"), _) => StopReason::Length,
        (None, None | Some("completed")) => StopReason::End,
        _ => StopReason::Other,
    };
    let is_stopped = !refused && matches!(stop, StopReason::Refusal | StopReason::Other);
    let stopped_by = reason.or(status).filter(|_| is_stopped).map(str::to_owned);
    let usage = read_responses_usage(body);
    Ok(ModelReply { text, calls, usage, stop, stopped_by, ..ModelReply::default() })
}

pub(super) fn read_responses_usage(body: &Json) -> Usage {
    let count = |value: &Json| value.as_u64().unwrap_or(0);
    let usage = &body["usage"];
    Usage {
        input: count(&usage["input_tokens"]),
        output: count(&usage["output_tokens"]),
        cached: count(&usage["input_tokens_details"]["cached_tokens"]),
    }
}
