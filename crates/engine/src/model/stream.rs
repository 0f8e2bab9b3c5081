//! Streamed replies: their events put together to the body that the server would have sent at once.

use serde_json::{Value as Json, json};

use super::openai_chat::{FILTER_RESULTS, is_flagged};
use super::vendors::Protocol;

/// The whole body, or the error that an event reports; `None` if the stream ended too early.
pub(super) fn assemble_stream(protocol: Protocol, text: &str) -> Option<Json> {
    let events = parse_stream_events(text);
    if let Some(error_event) = events.iter().find(|event| event["error"].is_object()) {
        return Some(json!({ "error": error_event["error"] }));
    }
    match protocol {
        Protocol::OpenaiChat => assemble_chat_stream(&events),
        Protocol::OpenaiResponses => assemble_responses_stream(&events),
        Protocol::Anthropic => assemble_anthropic_stream(&events),
        Protocol::Gemini => assemble_gemini_stream(&events),
    }
}

/// The data of server-sent events; data that is not JSON, such as `[DONE]`, is skipped.
fn parse_stream_events(text: &str) -> Vec<Json> {
    let text = text.replace("\r\n", "\n");
    let data = |block: &str| {
        let lines = block.lines().filter_map(|line| line.strip_prefix("data:"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    };
    text.split("\n\n").filter_map(|part| serde_json::from_str(&data(part)).ok()).collect()
}

fn append(to: &mut Json, more: &Json) {
    if let Some(more) = more.as_str() {
        *to = Json::String(to.as_str().unwrap_or_default().to_owned() + more);
    }
}

/// An entry of a list by its number, which a stranger sends.
fn nth<'a>(list: &'a mut Vec<Json>, number: &Json) -> Option<&'a mut Json> {
    let at = number.as_u64().unwrap_or(0) as usize;
    if list.len() == at {
        list.push(json!({}));
    }
    list.get_mut(at)
}

fn assemble_chat_stream(events: &[Json]) -> Option<Json> {
    let mut message = json!({ "role": "assistant", "content": null, "refusal": null });
    let (mut calls, mut finish, mut usage) = (Vec::new(), Json::Null, Json::Null);
    let (mut tokens, mut prompt_filters, mut filters) = (Vec::new(), Json::Null, json!({}));
    for event in events {
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        append(&mut message["content"], &delta["content"]);
        append(&mut message["refusal"], &delta["refusal"]);
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            let Some(call) = nth(&mut calls, &piece["index"]) else { continue };
            append(&mut call["id"], &piece["id"]);
            append(&mut call["function"]["name"], &piece["function"]["name"]);
            append(&mut call["function"]["arguments"], &piece["function"]["arguments"]);
        }
        tokens.extend(choice["logprobs"]["content"].as_array().into_iter().flatten().cloned());
        if event["prompt_filter_results"].is_array() {
            prompt_filters = event["prompt_filter_results"].clone();
        }
        // Each part of a text is filtered separately; a category that was flagged once stays flagged.
        for (category, filter) in FILTER_RESULTS.iter().filter_map(|key| choice[*key].as_object()).flatten() {
            if is_flagged(&filters[category]) != Some(true) {
                filters[category] = filter.clone();
            }
        }
        if !choice["finish_reason"].is_null() {
            finish = choice["finish_reason"].clone();
        }
        if event["usage"].is_object() {
            usage = event["usage"].clone();
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = Json::Array(calls);
    }
    let mut choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    if !tokens.is_empty() {
        choice["logprobs"] = json!({ "content": tokens });
    }
    if filters.as_object().is_some_and(|filters| !filters.is_empty()) {
        choice["content_filter_results"] = filters;
    }
    let mut body = json!({ "choices": [choice], "usage": usage });
    if prompt_filters.is_array() {
        body["prompt_filter_results"] = prompt_filters;
    }
    (!finish.is_null()).then_some(body)
}

fn assemble_responses_stream(events: &[Json]) -> Option<Json> {
    let is_last = |value: &&Json| {
        matches!(
            value["type"].as_str(),
            Some("response.completed" | "response.incomplete" | "response.failed")
        )
    };
    let last = events.iter().find(is_last).map(|at| at["response"].clone());
    // The event itself holds the error.
    let error = || events.iter().find(|event| event["type"] == "error").map(|at| json!({ "error": at }));
    last.or_else(error)
}

fn assemble_anthropic_stream(events: &[Json]) -> Option<Json> {
    let (mut body, mut blocks, mut is_done) = (json!({}), Vec::new(), false);
    for event in events {
        match event["type"].as_str() {
            Some("message_start") if event["message"]["usage"].is_object() => body = event["message"].clone(),
            Some("content_block_start") if event["content_block"].is_object() => {
                *nth(&mut blocks, &event["index"])? = event["content_block"].clone();
            }
            Some("content_block_delta") => {
                let (block, delta) = (nth(&mut blocks, &event["index"])?, &event["delta"]);
                append(&mut block["text"], &delta["text"]);
                append(&mut block["partial"], &delta["partial_json"]);
            }
            Some("message_delta") => {
                body["stop_reason"] = event["delta"]["stop_reason"].clone();
                // Counts at the end replace those at the beginning.
                for (name, count) in event["usage"].as_object().into_iter().flatten() {
                    body["usage"][name] = count.clone();
                }
            }
            Some("message_stop") => is_done = true,
            _ => {}
        }
    }
    for block in &mut blocks {
        if let Some(input) =
            block["partial"].as_str().and_then(|block| serde_json::from_str::<Json>(block).ok())
        {
            block["input"] = input;
        }
    }
    body["content"] = Json::Array(blocks);
    is_done.then_some(body)
}

fn assemble_gemini_stream(events: &[Json]) -> Option<Json> {
    let mut body = events.last()?.clone();
    let parts =
        events.iter().flat_map(|event| event["candidates"][0]["content"]["parts"].as_array()).flatten();
    let parts: Vec<Json> = parts.cloned().collect();
    let is_blocked = events.iter().any(|event| event["promptFeedback"]["blockReason"].is_string());
    let is_done = body["candidates"][0]["finishReason"].is_string();
    if is_done {
        body["candidates"][0]["content"] = json!({ "parts": parts });
    }
    (is_done || is_blocked).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_filter_flags_in_one_part_of_a_text_stays_flagged() {
        let event = |results: Json, finish: Json| {
            let choice = json!({ "delta": {}, "content_filter_results": results, "finish_reason": finish });
            format!("data: {}\n\n", json!({ "choices": [choice] }))
        };
        let first =
            json!({ "jailbreak": { "detected": true, "filtered": false }, "hate": { "filtered": false } });
        let last =
            json!({ "jailbreak": { "detected": false, "filtered": false }, "hate": { "filtered": true } });
        let text = event(first, Json::Null) + &event(last, json!("stop"));
        let body = assemble_stream(Protocol::OpenaiChat, &text).unwrap();
        let filters = &body["choices"][0]["content_filter_results"];
        assert_eq!(filters["jailbreak"]["detected"], true, "{filters}");
        assert_eq!(filters["hate"]["filtered"], true, "{filters}");
    }

    #[test]
    fn strangers_events_never_break_it() {
        let odd = [
            "",
            "data: [DONE]\n\n",
            "data: 1\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":18446744073709551615}]}}]}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"text\":\"x\"}}\n\n",
            "data: {\"type\":\"message_start\",\"message\":\"x\"}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"a\":1}}\n\n",
            "event: x\r\ndata: {\"type\":\"content_block_start\",\"content_block\":3}\r\n\r\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"x\"}}",
        ];
        for (_, protocol) in Protocol::ALL {
            for text in odd {
                assert_eq!(assemble_stream(protocol, text), None, "{protocol:?} {text}");
            }
        }
    }
}
