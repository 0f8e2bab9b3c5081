//! A question that only shows whether a model is there, and whether it keeps to a shape.

use serde_json::json;

use super::{Message, MessageRole, Request};

/// For a model with its vendor, such as `openai/gpt-5-mini`.
pub fn build_ping_request(model: &str) -> Request {
    Request {
        model: model.to_owned(),
        system: "You are reached by a test of the connection.".to_owned(),
        // Only the schema asks for JSON, so the reply shows whether the server enforces the schema.
        messages: vec![Message::new(MessageRole::User, vec!["Say hello, in one word.".to_owned()])],
        tools: Vec::new(),
        schema: json!({
            "type": "object", "properties": { "verdict": { "type": "boolean" } },
            "required": ["verdict"], "additionalProperties": false,
        }),
        temperature: Some(0.0),
        max_tokens: 1024,
        draw: 0,
        log_probabilities: false,
        guardrails: false,
    }
}
