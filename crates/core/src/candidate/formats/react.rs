//! Thought, action and observation: ReAct steps as data or as text, and ATIF trajectories.

use serde_json::Value;

use super::message::{count_field, join_content_text, money, parse_recorded_usage, role_of};
use super::{action, compact_value_text, first_text_field, nested_items};
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep, Usage};
use crate::quantity::Time;

pub(super) fn is_react_trace(value: &Value) -> bool {
    if let Value::String(text) = value {
        return is_text(text);
    }
    let is_step = |it: &Value| {
        it.get("agent").is_some_and(|value| value.get("action").is_some())
            || (it.get("action").is_some()
                && (it.get("thought").is_some() || it.get("observation").is_some()))
    };
    let is_atif = value["schema_version"].as_str().is_some_and(|value| value.starts_with("ATIF"));
    is_atif || nested_items(value, &["steps"]).iter().any(is_step)
}

fn is_text(text: &str) -> bool {
    let starts =
        |word: &str| text.lines().any(|line| parse_react_label(line).is_some_and(|(found, _)| found == word));
    starts("Thought") && starts("Action")
}

pub(super) fn read_react_trace(value: &Value) -> Trace {
    match value {
        Value::String(text) => from_text(text),
        _ if value["schema_version"].is_string() => read_atif_trajectory(value),
        _ => from_steps(value),
    }
}

fn from_steps(value: &Value) -> Trace {
    let mut trace =
        Trace { id: first_text_field(value, &["id", "trace_id"]).map(str::to_owned), ..Trace::default() };
    let task = value["task"]
        .as_str()
        .or(value["task"]["description"].as_str())
        .or(first_text_field(value, &["question", "input"]));
    trace.steps.extend(task.map(|task| TraceStep::new(StepRole::User, task)));
    for step in nested_items(value, &["steps"]) {
        trace.steps.extend(
            first_text_field(step, &["user_message"])
                .map(|text_field| TraceStep::new(StepRole::User, text_field)),
        );
        let inner = step.get("agent").filter(|step| step.is_object()).unwrap_or(step);
        let thought = first_text_field(inner, &["thought", "reasoning"]).unwrap_or_default();
        let (acted, name) = read_react_step(inner, thought);
        trace.steps.push(acted);
        let observation = ["observation", "environment", "result"]
            .iter()
            .find_map(|text| step.get(*text))
            .filter(|map| !map.is_null());
        if let Some(observation) = observation {
            trace.steps.push(build_observation_step(name, compact_value_text(observation)));
        }
        trace.usage = trace.usage.plus(parse_recorded_usage(&step["step_usage"]));
        if let Some(cost) = money(&step["step_usage"]["cost"]) {
            trace.cost = Some(trace.cost.map_or(cost, |usd| usd.plus(cost)));
        }
    }
    trace.status = first_text_field(value, &["status", "outcome"]).map(str::to_owned);
    trace
}

/// What one step does: a call, or the final answer.
fn read_react_step(step: &Value, thought: &str) -> (TraceStep, Option<String>) {
    let mut said = TraceStep { reasoning: thought.trim().to_owned(), ..TraceStep::default() };
    let input =
        ["action_input", "arguments", "args", "parameters", "params"].iter().find_map(|text| step.get(*text));
    let call = match &step["action"] {
        Value::Object(_) => {
            let action = &step["action"];
            let arguments = ["params", "parameters", "arguments", "args", "input"]
                .iter()
                .find_map(|text| action.get(*text));
            let name = first_text_field(action, &["tool", "name", "type"]).unwrap_or_default();
            Some(ToolCall::new(None, name, arguments.unwrap_or(&Value::Null)))
        }
        Value::String(name) if is_final(name) => {
            said.text = input.map(compact_value_text).unwrap_or_default();
            None
        }
        Value::String(name) => Some(match (input, action::parse_action_call(name), name.split_once(": ")) {
            (Some(input), _, _) => ToolCall::new(None, name.trim(), input),
            (None, Some(call), _) => call,
            (None, None, Some((name, input))) => ToolCall::new(None, name.trim(), &Value::from(input)),
            (None, None, None) => ToolCall::new(None, name.trim(), &Value::Null),
        }),
        _ => None,
    };
    // `Finish[answer]` is a call and an answer.
    if let Some(call) = call.as_ref().filter(|call| call.name.eq_ignore_ascii_case("finish")) {
        said.text = call.arguments.values().next().map(compact_value_text).unwrap_or_default();
    }
    let name = call.as_ref().map(|call| call.name.clone());
    said.tool_calls.extend(call);
    (said, name)
}

fn is_final(name: &str) -> bool {
    matches!(name.trim().to_lowercase().as_str(), "final answer" | "final_answer")
}

fn build_observation_step(name: Option<String>, text: String) -> TraceStep {
    TraceStep {
        role: StepRole::Tool,
        results: vec![ToolResult { name, text, ..ToolResult::default() }],
        ..TraceStep::default()
    }
}

/// `Thought 2: …`, `Action Input: …`: the label without its number, and the rest.
fn parse_react_label(line: &str) -> Option<(&str, &str)> {
    let (head, rest) = line.split_once(':')?;
    let head = head.trim_end_matches(|head: char| head.is_ascii_digit()).trim_end();
    let known = ["Question", "Thought", "Action", "Action Input", "Observation", "Final Answer"];
    known.iter().find(|known| **known == head).map(|at| (*at, rest))
}

fn from_text(text: &str) -> Trace {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        match parse_react_label(line) {
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
    let flush = |steps: &mut Vec<TraceStep>,
                 thought: &mut String,
                 action: Option<String>,
                 input: Option<&str>|
     -> Option<String> {
        let mut step = serde_json::json!({ "action": action? });
        if let Some(input) = input {
            step["action_input"] = input.into();
        }
        let (acted, name) = read_react_step(&step, &std::mem::take(thought));
        steps.push(acted);
        name
    };
    let mut name = None;
    for (label, text) in parts {
        let text = text.trim_end().to_owned();
        match label {
            "Question" => trace.steps.push(TraceStep::new(StepRole::User, text)),
            "Thought" => {
                name = flush(&mut trace.steps, &mut thought, action.take(), None).or(name);
                thought = text;
            }
            "Action" => action = Some(text),
            "Action Input" => name = flush(&mut trace.steps, &mut thought, action.take(), Some(&text)),
            "Observation" => {
                name = flush(&mut trace.steps, &mut thought, action.take(), None).or(name.take());
                trace.steps.push(build_observation_step(name.take(), text));
            }
            _ => trace.steps.push(TraceStep {
                reasoning: std::mem::take(&mut thought),
                ..TraceStep::new(StepRole::Assistant, text)
            }),
        }
    }
    flush(&mut trace.steps, &mut thought, action, None);
    if !thought.is_empty() {
        trace.steps.push(TraceStep { reasoning: thought, ..TraceStep::default() });
    }
    trace
}

fn read_atif_trajectory(value: &Value) -> Trace {
    let mut trace =
        Trace { id: first_text_field(value, &["session_id"]).map(str::to_owned), ..Trace::default() };
    let mut used = Usage::default();
    for step in nested_items(value, &["steps"]) {
        let role = role_of(step["source"].as_str().unwrap_or_default());
        let mut said = TraceStep::new(role, join_content_text(&step["message"], "\n"));
        said.reasoning = first_text_field(step, &["reasoning_content"]).unwrap_or_default().to_owned();
        said.time = step["timestamp"].as_str().and_then(|step| Time::parse(step).ok());
        for call in step["tool_calls"].as_array().into_iter().flatten() {
            let name = first_text_field(call, &["function_name", "name"]).unwrap_or_default();
            let id = first_text_field(call, &["tool_call_id", "id"]).map(str::to_owned);
            said.tool_calls.push(ToolCall::new(id, name, &call["arguments"]));
        }
        trace.steps.push(said);
        let results = step["observation"]["results"].as_array().into_iter().flatten();
        let mut answers = TraceStep { role: StepRole::Tool, ..TraceStep::default() };
        for result in results {
            let call = first_text_field(result, &["source_call_id"]).map(str::to_owned);
            let parts = result["content"].as_array().into_iter().flatten();
            let image = parts
                .filter(|part| part["type"] == "image")
                .find_map(|part| part["source"]["path"].as_str().or(part["path"].as_str()));
            answers.screenshot = answers.screenshot.take().or(image.map(str::to_owned));
            answers.results.push(ToolResult {
                call,
                text: join_content_text(&result["content"], "\n"),
                ..ToolResult::default()
            });
        }
        trace.steps.push(answers);
        let metrics = &step["metrics"];
        used = used.plus(Usage {
            input: count_field(metrics, "prompt_tokens"),
            output: count_field(metrics, "completion_tokens"),
            cached: count_field(metrics, "cached_tokens"),
        });
        if let Some(cost) = money(&metrics["cost_usd"]) {
            trace.cost = Some(trace.cost.map_or(cost, |usd| usd.plus(cost)));
        }
    }
    let total = &value["final_metrics"];
    let said = Usage {
        input: count_field(total, "total_prompt_tokens"),
        output: count_field(total, "total_completion_tokens"),
        cached: count_field(total, "total_cached_tokens"),
    };
    trace.usage = if said.is_nothing() { used } else { said };
    trace.cost = money(&total["total_cost_usd"]).or(trace.cost);
    trace
}
