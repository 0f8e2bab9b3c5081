//! Google's generateContent.

use jurist_core::candidate::Usage;
use serde_json::{Value as Json, json};

use super::vendors::{Quirks, Shape};
use super::{ErrorKind, ModelError, Reply, Request, Role, Stop};

pub(super) fn body(request: &Request, shape: Shape, quirks: &Quirks, model: &str) -> Json {
    let content = |it: &super::Message| {
        let role = if it.role == Role::User { "user" } else { "model" };
        let parts: Vec<Json> = it.parts.iter().map(|text| json!({ "text": text })).collect();
        json!({ "role": role, "parts": parts })
    };
    let contents: Vec<Json> = request.messages.iter().map(content).collect();
    let mut settings = json!({ "maxOutputTokens": request.max_tokens });
    if let Some(temperature) = request.temperature.filter(|_| quirks.takes_temperature(model)) {
        settings["temperature"] = json!(temperature);
    }
    if shape != Shape::Asked {
        settings["responseMimeType"] = json!("application/json");
    }
    if matches!(shape, Shape::Schema | Shape::ObjectWithSchema | Shape::Tool) {
        settings["responseJsonSchema"] = request.schema.clone();
    }
    json!({
        "systemInstruction": { "parts": [{ "text": request.system }] },
        "contents": contents, "generationConfig": settings,
    })
}

pub(super) fn read(body: &Json) -> Result<Reply, ModelError> {
    let counts = &body["usageMetadata"];
    let count = |key: &str| counts[key].as_u64().unwrap_or(0);
    let usage = Usage {
        input: count("promptTokenCount"),
        // Thoughts are billed as output and counted apart.
        output: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
        cached: count("cachedContentTokenCount"),
    };
    if let Some(reason) = body["promptFeedback"]["blockReason"].as_str() {
        return Ok(Reply { text: format!("blocked: {reason}"), usage, stop: Stop::Refusal, surcharged: 0 });
    }
    let candidate = &body["candidates"][0];
    if !candidate.is_object() {
        return Err(ModelError::new(ErrorKind::NotUnderstood, "the reply has no candidates"));
    }
    let parts = candidate["content"]["parts"].as_array().into_iter().flatten();
    let text: String =
        parts.filter(|it| it["thought"] != true).filter_map(|it| it["text"].as_str()).collect();
    let stop = match candidate["finishReason"].as_str() {
        Some("MAX_TOKENS") => Stop::Length,
        None | Some("STOP" | "FINISH_REASON_UNSPECIFIED") => Stop::End,
        Some(_) if text.is_empty() => Stop::Refusal,
        Some(_) => Stop::End,
    };
    Ok(Reply { text, usage, stop, surcharged: 0 })
}
