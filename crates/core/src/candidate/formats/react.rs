//! Thought, action and observation: ReAct steps as data or as text, and ATIF trajectories.

use serde_json::Value;

use super::message::{joined, money, number_of, role_of, usage};
use super::{action, items, shown, text_of};
use crate::candidate::trace::{Role, Step, ToolCall, ToolResult, Trace, Usage};
use crate::quantity::Time;

pub(super) fn fits(value: &Value) -> bool {
    if let Value::String(text) = value {
        return is_text(text);
    }
    let is_step = |it: &Value| {
        it.get("agent").is_some_and(|it| it.get("action").is_some())
            || (it.get("action").is_some()
                && (it.get("thought").is_some() || it.get("observation").is_some()))
    };
    let is_atif = value["schema_version"].as_str().is_some_and(|it| it.starts_with("ATIF"));
    is_atif || items(value, &["steps"]).iter().any(is_step)
}

fn is_text(text: &str) -> bool {
    let starts = |word: &str| text.lines().any(|it| label(it).is_some_and(|(found, _)| found == word));
    starts("Thought") && starts("Action")
}

pub(super) fn read(value: &Value) -> Trace {
    match value {
        Value::String(text) => from_text(text),
        _ if value["schema_version"].is_string() => atif(value),
        _ => from_steps(value),
    }
}

fn from_steps(value: &Value) -> Trace {
    let mut trace = Trace { id: text_of(value, &["id", "trace_id"]).map(str::to_owned), ..Trace::default() };
    let task = value["task"]
        .as_str()
        .or(value["task"]["description"].as_str())
        .or(text_of(value, &["question", "input"]));
    trace.steps.extend(task.map(|it| Step::new(Role::User, it)));
    for step in items(value, &["steps"]) {
        trace.steps.extend(text_of(step, &["user_message"]).map(|it| Step::new(Role::User, it)));
        let inner = step.get("agent").filter(|it| it.is_object()).unwrap_or(step);
        let thought = text_of(inner, &["thought", "reasoning"]).unwrap_or_default();
        let (acted, name) = act(inner, thought);
        trace.steps.push(acted);
        let observation = ["observation", "environment", "result"]
            .iter()
            .find_map(|it| step.get(*it))
            .filter(|it| !it.is_null());
        if let Some(observation) = observation {
            trace.steps.push(observed(name, shown(observation)));
        }
        trace.usage = trace.usage.plus(usage(&step["step_usage"]));
        if let Some(cost) = money(&step["step_usage"]["cost"]) {
            trace.cost = Some(trace.cost.map_or(cost, |it| it.plus(cost)));
        }
    }
    trace.status = text_of(value, &["status", "outcome"]).map(str::to_owned);
    trace
}

/// What one step does: a call, or the final answer.
fn act(step: &Value, thought: &str) -> (Step, Option<String>) {
    let mut said = Step { reasoning: thought.trim().to_owned(), ..Step::default() };
    let input =
        ["action_input", "arguments", "args", "parameters", "params"].iter().find_map(|it| step.get(*it));
    let call = match &step["action"] {
        Value::Object(_) => {
            let action = &step["action"];
            let arguments =
                ["params", "parameters", "arguments", "args", "input"].iter().find_map(|it| action.get(*it));
            let name = text_of(action, &["tool", "name", "type"]).unwrap_or_default();
            Some(ToolCall::new(None, name, arguments.unwrap_or(&Value::Null)))
        }
        Value::String(name) if is_final(name) => {
            said.text = input.map(shown).unwrap_or_default();
            None
        }
        Value::String(name) => Some(match (input, action::parse(name), name.split_once(": ")) {
            (Some(input), _, _) => ToolCall::new(None, name.trim(), input),
            (None, Some(call), _) => call,
            (None, None, Some((name, input))) => ToolCall::new(None, name.trim(), &Value::from(input)),
            (None, None, None) => ToolCall::new(None, name.trim(), &Value::Null),
        }),
        _ => None,
    };
    // `Finish[answer]` is a call and an answer.
    if let Some(call) = call.as_ref().filter(|it| it.name.eq_ignore_ascii_case("finish")) {
        said.text = call.arguments.values().next().map(shown).unwrap_or_default();
    }
    let name = call.as_ref().map(|it| it.name.clone());
    said.tool_calls.extend(call);
    (said, name)
}

fn is_final(name: &str) -> bool {
    matches!(name.trim().to_lowercase().as_str(), "final answer" | "final_answer")
}

fn observed(name: Option<String>, text: String) -> Step {
    Step {
        role: Role::Tool,
        results: vec![ToolResult { name, text, ..ToolResult::default() }],
        ..Step::default()
    }
}

/// `Thought 2: …`, `Action Input: …`: the label without its number, and the rest.
fn label(line: &str) -> Option<(&str, &str)> {
    let (head, rest) = line.split_once(':')?;
    let head = head.trim_end_matches(|it: char| it.is_ascii_digit()).trim_end();
    let known = ["Question", "Thought", "Action", "Action Input", "Observation", "Final Answer"];
    known.iter().find(|it| **it == head).map(|it| (*it, rest))
}

fn from_text(text: &str) -> Trace {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        match label(line) {
            Some((label, rest)) => parts.push((label, rest.trim_start().to_owned())),
            None => {
                if let Some((_, text)) = parts.last_mut() {
                    text.push('\n');
                    text.push_str(line);
                }
            }
        }
    }
    let mut trace = Trace::default();
    let (mut thought, mut action) = (String::new(), None::<String>);
    let flush = |steps: &mut Vec<Step>,
                 thought: &mut String,
                 action: Option<String>,
                 input: Option<&str>|
     -> Option<String> {
        let mut step = serde_json::json!({ "action": action? });
        if let Some(input) = input {
            step["action_input"] = input.into();
        }
        let (acted, name) = act(&step, &std::mem::take(thought));
        steps.push(acted);
        name
    };
    let mut name = None;
    for (label, text) in parts {
        let text = text.trim_end().to_owned();
        match label {
            "Question" => trace.steps.push(Step::new(Role::User, text)),
            "Thought" => {
                name = flush(&mut trace.steps, &mut thought, action.take(), None).or(name);
                thought = text;
            }
            "Action" => action = Some(text),
            "Action Input" => name = flush(&mut trace.steps, &mut thought, action.take(), Some(&text)),
            "Observation" => {
                name = flush(&mut trace.steps, &mut thought, action.take(), None).or(name.take());
                trace.steps.push(observed(name.take(), text));
            }
            _ => trace
                .steps
                .push(Step { reasoning: std::mem::take(&mut thought), ..Step::new(Role::Assistant, text) }),
        }
    }
    flush(&mut trace.steps, &mut thought, action, None);
    if !thought.is_empty() {
        trace.steps.push(Step { reasoning: thought, ..Step::default() });
    }
    trace
}

fn atif(value: &Value) -> Trace {
    let mut trace = Trace { id: text_of(value, &["session_id"]).map(str::to_owned), ..Trace::default() };
    let mut used = Usage::default();
    for step in items(value, &["steps"]) {
        let role = role_of(step["source"].as_str().unwrap_or_default());
        let mut said = Step::new(role, joined(&step["message"], "\n"));
        said.reasoning = text_of(step, &["reasoning_content"]).unwrap_or_default().to_owned();
        said.time = step["timestamp"].as_str().and_then(|it| Time::parse(it).ok());
        for call in step["tool_calls"].as_array().into_iter().flatten() {
            let name = text_of(call, &["function_name", "name"]).unwrap_or_default();
            let id = text_of(call, &["tool_call_id", "id"]).map(str::to_owned);
            said.tool_calls.push(ToolCall::new(id, name, &call["arguments"]));
        }
        trace.steps.push(said);
        let results = step["observation"]["results"].as_array().into_iter().flatten();
        let mut answers = Step { role: Role::Tool, ..Step::default() };
        for result in results {
            let call = text_of(result, &["source_call_id"]).map(str::to_owned);
            let parts = result["content"].as_array().into_iter().flatten();
            let image = parts
                .filter(|it| it["type"] == "image")
                .find_map(|it| it["source"]["path"].as_str().or(it["path"].as_str()));
            answers.screenshot = answers.screenshot.take().or(image.map(str::to_owned));
            answers.results.push(ToolResult {
                call,
                text: joined(&result["content"], "\n"),
                ..ToolResult::default()
            });
        }
        trace.steps.push(answers);
        let metrics = &step["metrics"];
        used = used.plus(Usage {
            input: number_of(metrics, "prompt_tokens"),
            output: number_of(metrics, "completion_tokens"),
            cached: number_of(metrics, "cached_tokens"),
        });
        if let Some(cost) = money(&metrics["cost_usd"]) {
            trace.cost = Some(trace.cost.map_or(cost, |it| it.plus(cost)));
        }
    }
    let total = &value["final_metrics"];
    let said = Usage {
        input: number_of(total, "total_prompt_tokens"),
        output: number_of(total, "total_completion_tokens"),
        cached: number_of(total, "total_cached_tokens"),
    };
    trace.usage = if said.is_nothing() { used } else { said };
    trace.cost = money(&total["total_cost_usd"]).or(trace.cost);
    trace
}
