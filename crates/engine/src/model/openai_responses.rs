//! OpenAI's Responses API.

use jurist_core::candidate::Usage;
use serde_json::{Value as Json, json};

use super::vendors::{Quirks, Shape};
use super::{ErrorKind, ModelError, Reply, Request, Role, Stop};

pub(super) fn body(request: &Request, model: &str, shape: Shape, quirks: &Quirks) -> Json {
    let item = |it: &super::Message| {
        let (role, kind) =
            if it.role == Role::User { ("user", "input_text") } else { ("assistant", "output_text") };
        let parts: Vec<Json> = it.parts.iter().map(|text| json!({ "type": kind, "text": text })).collect();
        json!({ "role": role, "content": parts })
    };
    let input: Vec<Json> = request.messages.iter().map(item).collect();
    let mut body = json!({
        "model": model, "instructions": request.system, "input": input,
        "max_output_tokens": request.max_tokens, "store": false,
    });
    if let Some(temperature) = request.temperature.filter(|_| quirks.takes_temperature(model)) {
        body["temperature"] = json!(temperature);
    }
    match shape {
        Shape::Schema | Shape::ObjectWithSchema => {
            let schema = &request.schema;
            body["text"] = json!({ "format": { "type": "json_schema", "name": "grade", "schema": schema, "strict": true } });
        }
        Shape::Tool => {
            let parameters = &request.schema;
            body["tools"] =
                json!([{ "type": "function", "name": "grade", "parameters": parameters, "strict": true }]);
            body["tool_choice"] = json!({ "type": "function", "name": "grade" });
        }
        Shape::Object => body["text"] = json!({ "format": { "type": "json_object" } }),
        Shape::Asked => {}
    }
    body
}

pub(super) fn read(body: &Json) -> Result<Reply, ModelError> {
    let Some(items) = body["output"].as_array() else {
        return Err(ModelError::new(ErrorKind::NotUnderstood, "the reply has no output"));
    };
    let (mut text, mut refused) = (String::new(), false);
    for item in items {
        if let Some(arguments) = item["arguments"].as_str() {
            text.push_str(arguments);
        }
        for part in item["content"].as_array().into_iter().flatten() {
            refused |= part["type"] == "refusal";
            text.push_str(part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default());
        }
    }
    let stop = match body["incomplete_details"]["reason"].as_str() {
        _ if refused => Stop::Refusal,
        Some("content_filter") => Stop::Refusal,
        Some("max_output_tokens") => Stop::Length,
        _ => Stop::End,
    };
    let count = |value: &Json| value.as_u64().unwrap_or(0);
    let usage = &body["usage"];
    let usage = Usage {
        input: count(&usage["input_tokens"]),
        output: count(&usage["output_tokens"]),
        cached: count(&usage["input_tokens_details"]["cached_tokens"]),
    };
    Ok(Reply { text, usage, stop, surcharged: 0 })
}
