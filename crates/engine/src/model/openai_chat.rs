//! OpenAI's chat completions, and servers that are compatible with them.

use jurist_core::candidate::{GuardrailReport, ToolCall, Usage};
use serde_json::{Value as Json, json};

use super::vendors::{Quirks, StructuredOutput};
use super::{
    MessageRole, ModelError, ModelErrorKind, ModelReply, REPLY_TOOL, Request, StopReason, reply_tool_text,
};

pub(super) fn build_chat_request(
    request: &Request,
    model: &str,
    shape: StructuredOutput,
    quirks: &Quirks,
) -> Json {
    let mut messages = vec![json!({ "role": "system", "content": request.system })];
    messages.extend(request.messages.iter().flat_map(build_chat_messages));
    let mut body = json!({ "model": model, "messages": messages });
    if !request.tools.is_empty() {
        let tool = |tool: &super::Tool| {
            let function =
                json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
            json!({ "type": "function", "function": function })
        };
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body[quirks.max_tokens] = json!(request.max_tokens);
    if let Some(temperature) = request.temperature.filter(|_| quirks.takes_temperature(model)) {
        body["temperature"] = json!(temperature);
    }
    if request.log_probabilities {
        body["logprobs"] = json!(true);
    }
    match shape {
        StructuredOutput::Schema => {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": { "name": REPLY_TOOL, "schema": request.schema, "strict": true },
            });
        }
        StructuredOutput::ObjectWithSchema => {
            body["response_format"] = json!({ "type": "json_object", "schema": request.schema });
        }
        StructuredOutput::Object => body["response_format"] = json!({ "type": "json_object" }),
        StructuredOutput::Tool => {
            let function = json!({ "name": REPLY_TOOL, "parameters": request.schema });
            body["tools"] = json!([{ "type": "function", "function": function }]);
            body["tool_choice"] = json!({ "type": "function", "function": { "name": REPLY_TOOL } });
        }
        StructuredOutput::Asked => {}
    }
    body
}

/// One of our messages may become several: each tool result is a separate message.
fn build_chat_messages(it: &super::Message) -> Vec<Json> {
    let result = |tool_result: &jurist_core::candidate::ToolResult| json!({ "role": "tool", "tool_call_id": tool_result.call, "content": tool_result.text });
    let mut all: Vec<Json> = it.results.iter().map(result).collect();
    if it.parts.is_empty() && it.calls.is_empty() {
        return all;
    }
    let role = if it.role == MessageRole::User { "user" } else { "assistant" };
    let mut spoken = json!({ "role": role, "content": it.parts.join("\n") });
    if !it.calls.is_empty() {
        let call = |tool_call: &ToolCall| {
            let arguments = Json::Object(tool_call.arguments.clone()).to_string();
            json!({ "id": tool_call.id, "type": "function", "function": { "name": tool_call.name, "arguments": arguments } })
        };
        spoken["tool_calls"] = it.calls.iter().map(call).collect();
    }
    all.push(spoken);
    all
}

pub(super) fn read_chat_reply(body: &Json, with_tools: bool) -> Result<ModelReply, ModelError> {
    let choice = &body["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(ModelError::new(ModelErrorKind::NotUnderstood, "the reply has no message"));
    }
    let call = |value: &Json| {
        let function = &value["function"];
        let id = value["id"].as_str().map(str::to_owned);
        ToolCall::new(id, function["name"].as_str().unwrap_or_default(), &function["arguments"])
    };
    let calls =
        message["tool_calls"].as_array().into_iter().flatten().filter(|_| with_tools).map(call).collect();
    let called = message["tool_calls"].as_array().into_iter().flatten().map(|item| &item["function"]);
    let called = reply_tool_text(called.filter(|_| !with_tools), "arguments");
    let spoken = match &message["content"] {
        Json::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<String>(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let refusal = message["refusal"].as_str().filter(|message| !message.is_empty());
    let reason = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty());
    let stop = match reason {
        _ if refusal.is_some() => StopReason::Refusal,
        Some(reason) => parse_chat_finish_reason(reason),
        None => StopReason::End,
    };
    let is_stopped = refusal.is_none() && matches!(stop, StopReason::Refusal | StopReason::Other);
    let stopped_by = reason.filter(|_| is_stopped).map(str::to_owned);
    let text = refusal.map(str::to_owned).or(called).unwrap_or(spoken);
    let usage = read_chat_usage(body);
    let (mean_log_probability, guardrails) = (read_log_probabilities(choice), read_content_filters(body));
    Ok(ModelReply {
        text,
        calls,
        usage,
        stop,
        stopped_by,
        mean_log_probability,
        guardrails,
        ..ModelReply::default()
    })
}

/// OpenAI has `stop`, `length`, `tool_calls`, `function_call` and `content_filter`. Servers that take its protocol write
/// the end of a reply in the words of other vendors as well: `eos`, `end_turn`, `COMPLETE`. Any other word, such as
/// `error`, `abort` or DeepSeek's `insufficient_system_resource`, may stand below a part of a reply.
fn parse_chat_finish_reason(reason: &str) -> StopReason {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "tool_calls" | "function_call" | "eos" | "eos_token" | "stop_sequence" | "end_turn"
        | "complete" | "completed" => StopReason::End,
        "length" | "model_length" | "max_tokens" => StopReason::Length,
        "content_filter" => StopReason::Refusal,
        _ => StopReason::Other,
    }
}

fn read_log_probabilities(choice: &Json) -> Option<f64> {
    let tokens = choice["logprobs"]["content"].as_array().filter(|tokens| !tokens.is_empty())?;
    let probabilities: Option<Vec<f64>> = tokens.iter().map(|token| token["logprob"].as_f64()).collect();
    let sum = probabilities?.iter().sum::<f64>();
    Some(sum / tokens.len() as f64).filter(|mean| mean.is_finite())
}

/// The verdicts of Azure's filters on the prompt and the reply; other vendors only report that a filter stopped a
/// reply. There is no report if a filter failed or no filter checked the reply, unless another filter flagged
/// something.
fn read_content_filters(body: &Json) -> Option<GuardrailReport> {
    let choice = &body["choices"][0];
    let of_prompt = body["prompt_filter_results"].as_array().into_iter().flatten();
    let results = of_prompt.map(|prompt| ("prompt", read_filters(prompt)));
    let results: Vec<_> = results.chain([("reply", read_filters(choice))]).collect();
    let was_stopped = choice["finish_reason"] == "content_filter";
    let flags = results.iter().flat_map(|(part, filters)| {
        let flagged = filters.iter().filter(|(_, filter)| is_flagged(filter) == Some(true));
        flagged.map(move |(category, _)| format!("{category} in the {part}"))
    });
    let reasons: Vec<String> = flags.collect();
    let reason = match reasons.is_empty() {
        true if was_stopped => "a content filter stopped the reply".to_owned(),
        _ => reasons.join(", "),
    };
    let flagged = was_stopped || !reasons.is_empty();
    let has_decided = |filters: &Vec<(&String, &Json)>| {
        !filters.is_empty() && filters.iter().all(|(_, filter)| is_flagged(filter).is_some())
    };
    let is_decided = flagged || results.iter().all(|(_, filters)| has_decided(filters));
    is_decided.then_some(GuardrailReport { flagged, reason })
}

/// Keys of the filters' results. Azure uses the second one to report that its filters failed.
pub(super) const FILTER_RESULTS: [&str; 2] = ["content_filter_results", "content_filter_result"];

/// The filters of a prompt or a choice, by category.
fn read_filters(part: &Json) -> Vec<(&String, &Json)> {
    FILTER_RESULTS.iter().filter_map(|key| part[*key].as_object()).flatten().collect()
}

/// Whether a filter flags a text; `None` if its result has no verdict.
pub(super) fn is_flagged(filter: &Json) -> Option<bool> {
    if let Json::Array(lists) = filter {
        return Some(lists.iter().any(|list| is_flagged(list) == Some(true)));
    }
    let verdicts = ["filtered", "detected"].iter().filter_map(|key| filter[*key].as_bool());
    verdicts.reduce(|a, b| a || b)
}

/// Cached tokens are part of the prompt's count here, as in our format. Some vendors do not count reasoning tokens as
/// part of the output: then the total is larger than prompt and completion.
pub(super) fn read_chat_usage(body: &Json) -> Usage {
    let usage = &body["usage"];
    let count = |value: &Json| value.as_u64().unwrap_or(0);
    let (input, output) = (count(&usage["prompt_tokens"]), count(&usage["completion_tokens"]));
    let reasoning = count(&usage["completion_tokens_details"]["reasoning_tokens"]);
    let apart = input.saturating_add(output).saturating_add(reasoning) == count(&usage["total_tokens"]);
    let cached = ["prompt_tokens_details", "prompt_token_details"]
        .iter()
        .map(|text| count(&usage[*text]["cached_tokens"]))
        .chain([count(&usage["prompt_cache_hit_tokens"]), count(&usage["num_cached_tokens"])])
        .max()
        .unwrap_or(0);
    Usage { input, output: if apart { output.saturating_add(reasoning) } else { output }, cached }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(choice: &Json) -> ModelReply {
        read_chat_reply(&json!({ "choices": [choice] }), false).unwrap()
    }

    #[test]
    fn the_mean_of_log_probabilities_is_read_where_all_tokens_have_one() {
        let with = |logprobs: Json| reply(&json!({ "message": { "content": "a b" }, "logprobs": logprobs }));
        let both =
            json!({ "content": [{ "token": "a", "logprob": -1.0 }, { "token": "b", "logprob": -3.0 }] });
        assert_eq!(with(both).mean_log_probability, Some(-2.0));
        for missing in [json!(null), json!({ "content": [] }), json!({ "content": [{ "token": "a" }] })] {
            assert_eq!(with(missing).mean_log_probability, None);
        }
    }

    #[test]
    fn content_filters_say_what_they_flagged_and_others_say_nothing() {
        let filtered = |filtered: bool, finish: &str| {
            let filters = json!({ "hate": { "filtered": false }, "violence": { "filtered": filtered } });
            let message = json!({ "content": "Hi" });
            reply(&json!({ "message": message, "content_filter_results": filters, "finish_reason": finish }))
        };
        let report = |flagged, reason: &str| Some(GuardrailReport { flagged, reason: reason.to_owned() });
        assert_eq!(filtered(false, "stop").guardrails, report(false, ""));
        assert_eq!(filtered(true, "content_filter").guardrails, report(true, "violence in the reply"));
        let with = |results: Json| {
            let message = json!({ "content": "Hi" });
            reply(&json!({ "message": message, "content_filter_results": results, "finish_reason": "stop" }))
        };
        for broken in [
            json!({}),
            json!({ "error": { "code": "content_filter_error", "message": "The contents are not filtered" } }),
            json!({ "hate": { "filtered": false }, "error": { "code": "content_filter_error" } }),
            json!({ "hate": {} }),
            json!(null),
        ] {
            assert_eq!(with(broken.clone()).guardrails, None, "{broken}");
        }
        let flagged = json!({ "jailbreak": { "detected": true, "filtered": false }, "error": {} });
        assert_eq!(with(flagged).guardrails, report(true, "jailbreak in the reply"));
        let lists = json!({ "custom_blocklists": [{ "filtered": false, "id": "names" }] });
        assert_eq!(with(lists).guardrails, report(false, ""));
        let stopped = reply(&json!({ "message": { "content": "" }, "finish_reason": "content_filter" }));
        assert_eq!(stopped.guardrails, report(true, "a content filter stopped the reply"));
        assert_eq!(
            reply(&json!({ "message": { "content": "Hi" }, "finish_reason": "stop" })).guardrails,
            None
        );
    }
}
