//! OpenAI's chat completions, and everything that speaks like them.

use jurist_core::candidate::Usage;
use serde_json::{Value as Json, json};

use super::vendors::{Quirks, Shape};
use super::{ErrorKind, ModelError, Reply, Request, Role, Stop};

pub(super) fn body(request: &Request, model: &str, shape: Shape, quirks: &Quirks) -> Json {
    let message = |it: &super::Message| {
        let role = if it.role == Role::User { "user" } else { "assistant" };
        json!({ "role": role, "content": it.parts.join("\n") })
    };
    let mut messages = vec![json!({ "role": "system", "content": request.system })];
    messages.extend(request.messages.iter().map(message));
    let mut body = json!({ "model": model, "messages": messages });
    body[quirks.max_tokens] = json!(request.max_tokens);
    if let Some(temperature) = request.temperature.filter(|_| quirks.takes_temperature(model)) {
        body["temperature"] = json!(temperature);
    }
    match shape {
        Shape::Schema => {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": { "name": "grade", "schema": request.schema, "strict": true },
            });
        }
        Shape::ObjectWithSchema => {
            body["response_format"] = json!({ "type": "json_object", "schema": request.schema });
        }
        Shape::Object => body["response_format"] = json!({ "type": "json_object" }),
        Shape::Tool => {
            let function = json!({ "name": "grade", "parameters": request.schema });
            body["tools"] = json!([{ "type": "function", "function": function }]);
            body["tool_choice"] = json!({ "type": "function", "function": { "name": "grade" } });
        }
        Shape::Asked => {}
    }
    body
}

pub(super) fn read(body: &Json) -> Result<Reply, ModelError> {
    let choice = &body["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(ModelError::new(ErrorKind::NotUnderstood, "the reply has no message"));
    }
    let called = message["tool_calls"][0]["function"]["arguments"].as_str();
    let spoken = match &message["content"] {
        Json::Array(parts) => parts.iter().filter_map(|it| it["text"].as_str()).collect::<String>(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let refusal = message["refusal"].as_str().filter(|it| !it.is_empty());
    let stop = match choice["finish_reason"].as_str() {
        _ if refusal.is_some() => Stop::Refusal,
        Some("content_filter") => Stop::Refusal,
        Some("length" | "model_length") => Stop::Length,
        _ => Stop::End,
    };
    let text = refusal.or(called).map_or(spoken, str::to_owned);
    Ok(Reply { text, usage: usage(&body["usage"]), stop, surcharged: 0 })
}

/// Cached tokens are inside the prompt's here, as they are in ours; some vendors count reasoning apart.
fn usage(usage: &Json) -> Usage {
    let count = |value: &Json| value.as_u64().unwrap_or(0);
    let (input, output) = (count(&usage["prompt_tokens"]), count(&usage["completion_tokens"]));
    let reasoning = count(&usage["completion_tokens_details"]["reasoning_tokens"]);
    let apart = input.saturating_add(output).saturating_add(reasoning) == count(&usage["total_tokens"]);
    let cached = ["prompt_tokens_details", "prompt_token_details"]
        .iter()
        .map(|it| count(&usage[*it]["cached_tokens"]))
        .chain([count(&usage["prompt_cache_hit_tokens"]), count(&usage["num_cached_tokens"])])
        .max()
        .unwrap_or(0);
    Usage { input, output: if apart { output.saturating_add(reasoning) } else { output }, cached }
}
