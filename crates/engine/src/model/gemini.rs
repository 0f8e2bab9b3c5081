//! Google's generateContent.

use jurist_core::candidate::{ToolCall, Usage};
use serde_json::{Value as Json, json};

use super::vendors::{Quirks, StructuredOutput};
use super::{MessageRole, ModelError, ModelErrorKind, ModelReply, Request, StopReason};

pub(super) fn build_gemini_request(
    request: &Request,
    shape: StructuredOutput,
    quirks: &Quirks,
    model: &str,
) -> Json {
    let content = |message: &super::Message| {
        let role = if message.role == MessageRole::User { "user" } else { "model" };
        let results = message.results.iter().map(|result| {
            let response =
                if result.error { json!({ "error": result.text }) } else { json!({ "output": result.text }) };
            json!({ "functionResponse": { "name": result.name, "response": response } })
        });
        let calls = message
            .calls
            .iter()
            .map(|call| json!({ "functionCall": { "name": call.name, "args": call.arguments } }));
        let parts: Vec<Json> =
            results.chain(message.parts.iter().map(|text| json!({ "text": text }))).chain(calls).collect();
        json!({ "role": role, "parts": parts })
    };
    let contents: Vec<Json> = request.messages.iter().map(content).collect();
    let mut settings = json!({ "maxOutputTokens": request.max_tokens });
    if let Some(temperature) = request.temperature.filter(|_| quirks.takes_temperature(model)) {
        settings["temperature"] = json!(temperature);
    }
    if shape != StructuredOutput::Asked && request.tools.is_empty() {
        settings["responseMimeType"] = json!("application/json");
    }
    if matches!(shape, StructuredOutput::Schema | StructuredOutput::ObjectWithSchema | StructuredOutput::Tool)
    {
        settings["responseJsonSchema"] = request.schema.clone();
    }
    let mut body = json!({
        "systemInstruction": { "parts": [{ "text": request.system }] },
        "contents": contents, "generationConfig": settings,
    });
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema });
        body["tools"] = json!([{ "functionDeclarations": request.tools.iter().map(tool).collect::<Json>() }]);
    }
    body
}

pub(super) fn read_gemini_reply(body: &Json) -> Result<ModelReply, ModelError> {
    let refused =
        |text: String, usage| ModelReply { text, usage, stop: StopReason::Refusal, ..ModelReply::default() };
    let usage = read_gemini_usage(body);
    if let Some(reason) = body["promptFeedback"]["blockReason"].as_str() {
        return Ok(refused(format!("blocked: {reason}"), usage));
    }
    let candidate = &body["candidates"][0];
    if !candidate.is_object() {
        return Err(ModelError::new(ModelErrorKind::NotUnderstood, "the reply has no candidates"));
    }
    let parts = || candidate["content"]["parts"].as_array().into_iter().flatten();
    // Calls have no ids in this protocol; their position identifies them.
    let call = |(at, value): (usize, &Json)| {
        ToolCall::new(Some(format!("call_{at}")), value["name"].as_str().unwrap_or_default(), &value["args"])
    };
    let calls = parts()
        .map(|part| &part["functionCall"])
        .filter(|value| value.is_object())
        .enumerate()
        .map(call)
        .collect();
    let text: String =
        parts().filter(|part| part["thought"] != true).filter_map(|part| part["text"].as_str()).collect();
    let reason = candidate["finishReason"].as_str();
    let stop = reason.map_or(StopReason::End, parse_gemini_finish_reason);
    let stopped_by =
        reason.filter(|_| matches!(stop, StopReason::Refusal | StopReason::Other)).map(str::to_owned);
    Ok(ModelReply { text, calls, usage, stop, stopped_by, ..ModelReply::default() })
}

/// Of the reasons that the vendor documents, `STOP` alone is the natural end of a reply. There are more from year to
/// year, and a text that was stopped by any of them may be a part.
fn parse_gemini_finish_reason(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::End,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            StopReason::Refusal
        }
        _ => StopReason::Other,
    }
}

pub(super) fn read_gemini_usage(body: &Json) -> Usage {
    let count = |key: &str| body["usageMetadata"][key].as_u64().unwrap_or(0);
    Usage {
        input: count("promptTokenCount"),
        // Thinking tokens are billed as output, but counted in a field of their own.
        output: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
        cached: count("cachedContentTokenCount"),
    }
}
