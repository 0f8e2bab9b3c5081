//! Steps of web agents: WebArena's pages and actions, BrowserGym, Mind2Web, and clicks as data.

use serde_json::{Map, Value};

use super::{action, compact_value_text, first_text_field, nested_items};
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep};

pub(super) fn is_web_agent_trace(value: &Value) -> bool {
    let action = &value["actions"][0];
    let is_data = action.get("operation").is_some() || action.get("action_type").is_some();
    let is_page = |value: &Value| {
        (value["obs"].is_object() || value["url"].is_string()) && value.get("action").is_some()
    };
    is_data || nested_items(value, &["steps", "trajectory"]).first().is_some_and(is_page)
}

pub(super) fn read_web_agent_trace(value: &Value) -> Trace {
    let mut trace = Trace::default();
    let task = first_text_field(value, &["intent", "confirmed_task", "task", "goal", "instruction"]);
    trace.steps.extend(task.map(|task| TraceStep::new(StepRole::User, task)));
    let reprs = value["action_reprs"].as_array();
    match value["actions"].as_array() {
        Some(actions) if reprs.is_some() => {
            let labels = reprs.into_iter().flatten().filter_map(Value::as_str);
            trace
                .steps
                .extend(actions.iter().zip(labels).map(|(action, label)| read_mind2web_step(action, label)));
        }
        Some(actions) => actions.iter().for_each(|action| add_gui_step(action, &mut trace.steps)),
        None => pages(nested_items(value, &["steps", "trajectory"]), &mut trace),
    }
    trace
}

/// What was seen before acting comes first.
fn pages(steps: &[Value], trace: &mut Trace) {
    let goal = steps.first().and_then(|step| step["obs"]["goal"].as_str());
    trace.steps.extend(goal.map(|goal| TraceStep::new(StepRole::User, goal)));
    for step in steps {
        let obs = &step["obs"];
        let seen = first_text_field(step, &["observation"])
            .or(first_text_field(obs, &["axtree_txt", "pruned_html", "dom_txt"]));
        let mut answers = TraceStep {
            role: StepRole::Tool,
            screenshot: first_text_field(step, &["screenshot"]).map(str::to_owned),
            ..TraceStep::default()
        };
        // The error is about the action before this page.
        let failed =
            first_text_field(obs, &["last_action_error"]).filter(|text_field| !text_field.is_empty());
        answers.results.extend(failed.map(|failed| ToolResult {
            text: failed.to_owned(),
            error: true,
            ..ToolResult::default()
        }));
        answers
            .results
            .extend(seen.map(|seen| ToolResult { text: seen.to_owned(), ..ToolResult::default() }));
        trace.steps.push(answers);
        let thought = first_text_field(step, &["thought", "reasoning"])
            .or(first_text_field(&step["agent_info"], &["think", "thought"]));
        let mut acted =
            TraceStep { reasoning: thought.unwrap_or_default().to_owned(), ..TraceStep::default() };
        if let Some(text) = first_text_field(step, &["action"]) {
            let call =
                if obs.is_object() { parse_browsergym_action(text) } else { parse_webarena_action(text) };
            let answers = matches!(call.name.as_str(), "stop" | "send_msg_to_user");
            acted.text = call
                .arguments
                .values()
                .next()
                .filter(|_| answers)
                .map(compact_value_text)
                .unwrap_or_default();
            acted.tool_calls.push(call);
        }
        trace.steps.push(acted);
        if step["terminated"] == true {
            trace.status = Some("terminated".to_owned());
        } else if step["truncated"] == true {
            trace.status = Some("truncated".to_owned());
        }
    }
}

/// `type [164] [quince jam [250 g]] [1]`: arguments by the names of WebArena's own instructions.
fn parse_webarena_action(text: &str) -> ToolCall {
    let text = text.trim();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let names: &[&str] = match name {
        "click" | "hover" => &["id"],
        "type" => &["id", "content", "press_enter_after"],
        "press" => &["key_comb"],
        "scroll" => &["direction"],
        "goto" => &["url"],
        "tab_focus" => &["tab_index"],
        "stop" => &["answer"],
        _ => &["input"],
    };
    let values = split_bracketed_arguments(rest.trim(), names.len());
    let arguments =
        names.iter().zip(values).map(|(name, value)| ((*name).to_owned(), Value::from(value))).collect();
    ToolCall { name: name.to_owned(), arguments, ..ToolCall::default() }
}

/// The texts in brackets; brackets inside a text belong to it.
fn split_bracketed_arguments(text: &str, n_names: usize) -> Vec<String> {
    let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return Vec::new();
    };
    if n_names < 2 {
        return vec![inner.to_owned()];
    }
    let mut parts: Vec<&str> = inner.split("] [").collect();
    let flag = if n_names < parts.len() + 1 && 2 < parts.len() { parts.pop() } else { None };
    let (first, rest) = (parts.remove(0), parts.join("] ["));
    let mut all = vec![first.to_owned()];
    if !rest.is_empty() {
        all.push(rest);
    }
    all.extend(flag.map(str::to_owned));
    all
}

/// `fill('a12', 'text')`: positional arguments by BrowserGym's published signatures.
fn parse_browsergym_action(text: &str) -> ToolCall {
    let Some(open) = text.find('(') else { return ToolCall::new(None, text.trim(), &Value::Null) };
    let name = text[..open].trim();
    let inside = text[open + 1..].trim().trim_end_matches(')');
    let names: &[&str] = match name {
        "fill" => &["bid", "value"],
        "click" | "dblclick" => &["bid", "button", "modifiers"],
        "hover" | "focus" | "clear" => &["bid"],
        "press" => &["bid", "key_comb"],
        "select_option" => &["bid", "options"],
        "scroll" => &["delta_x", "delta_y"],
        "goto" => &["url"],
        "tab_focus" => &["index"],
        "send_msg_to_user" => &["text"],
        "report_infeasible" => &["reason"],
        "noop" => &["wait_ms"],
        "drag_and_drop" => &["from_bid", "to_bid"],
        _ => &[],
    };
    let mut arguments = Map::new();
    for (at, part) in action::split(inside).into_iter().filter(|part| !part.is_empty()).enumerate() {
        let keyword = part
            .split_once('=')
            .filter(|part| part.0.trim().chars().all(|c| c.is_alphanumeric() || c == '_'));
        let (key, value) = match (keyword, names.get(at)) {
            (Some((key, value)), _) => (key.trim().to_owned(), value.trim()),
            (None, Some(name)) => ((*name).to_owned(), part),
            (None, None) => ("input".to_owned(), part),
        };
        arguments.insert(key, action::parse_literal(value).unwrap_or_else(|| Value::from(value)));
    }
    ToolCall { name: name.to_owned(), arguments, ..ToolCall::default() }
}

fn read_mind2web_step(value: &Value, label: &str) -> TraceStep {
    let operation = match &value["operation"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        other => other.clone(),
    };
    let name = operation["op"].as_str().unwrap_or_default();
    let mut arguments = Map::new();
    arguments.insert("element".to_owned(), label.split(" -> ").next().unwrap_or(label).into());
    if let Some(text) = operation["value"].as_str().filter(|operation| !operation.is_empty()) {
        arguments.insert("value".to_owned(), text.into());
    }
    let call = ToolCall { name: name.to_owned(), arguments, ..ToolCall::default() };
    let screenshot = first_text_field(value, &["screenshot"]).map(str::to_owned);
    TraceStep { tool_calls: vec![call], screenshot, ..TraceStep::default() }
}

fn add_gui_step(value: &Value, steps: &mut Vec<TraceStep>) {
    let name = value["action_type"].as_str().unwrap_or_default();
    let own = ["action_type", "thought", "observation", "screenshot", "timestamp"];
    let arguments: Map<String, Value> = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !own.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let answer = if name == "stop" { first_text_field(value, &["value", "answer"]) } else { None };
    steps.push(TraceStep {
        text: answer.unwrap_or_default().to_owned(),
        reasoning: first_text_field(value, &["thought"]).unwrap_or_default().to_owned(),
        tool_calls: vec![ToolCall { name: name.to_owned(), arguments, ..ToolCall::default() }],
        ..TraceStep::default()
    });
    let screenshot = first_text_field(value, &["screenshot"]).map(str::to_owned);
    match first_text_field(value, &["observation"]) {
        Some(text) => {
            let result =
                ToolResult { name: Some(name.to_owned()), text: text.to_owned(), ..ToolResult::default() };
            steps.push(TraceStep {
                role: StepRole::Tool,
                results: vec![result],
                screenshot,
                ..TraceStep::default()
            });
        }
        None => {
            if let Some(last) = steps.last_mut() {
                last.screenshot = screenshot;
            }
        }
    }
}
