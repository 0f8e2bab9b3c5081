//! SWE-agent trajectories, in each of their generations.

use serde_json::Value;

use super::first_text_field;
use super::message::{count_field, join_content_text, money, push, role_of};
use crate::candidate::diff;
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep, Usage};

/// SWE-agent's own commands; everything else goes to the shell.
const COMMANDS: [&str; 21] = [
    "open",
    "goto",
    "scroll_up",
    "scroll_down",
    "create",
    "edit",
    "insert",
    "append",
    "search_dir",
    "search_file",
    "find_file",
    "submit",
    "str_replace_editor",
    "exit_forfeit",
    "exit_cost",
    "exit_context",
    "skip",
    "filemap",
    "undo_edit",
    "view_image",
    "review_on_submit",
];

pub(super) fn is_swe_agent_trajectory(value: &Value) -> bool {
    let first = &value["trajectory"][0];
    let is_step =
        first.get("action").is_some() && (first.get("response").is_some() || first.get("state").is_some());
    let is_pair = first.is_array() && first[0]["role"].is_string();
    let is_history = |value: &Value| {
        value.get("message_type").is_some()
            || (value.get("agent").is_some() && value.get("thought").is_some())
    };
    is_step || is_pair || value["history"].as_array().is_some_and(|items| items.iter().any(is_history))
}

pub(super) fn read_swe_agent_trajectory(value: &Value) -> Trace {
    let mut trace = Trace::default();
    let history: Vec<&Value> =
        value["history"].as_array().into_iter().flatten().filter(|item| item["is_demo"] != true).collect();
    match value["trajectory"].as_array() {
        Some(steps) => {
            // `history` repeats the run; only the messages before the agent's first one are taken from it.
            let head = history.iter().take_while(|history| history["role"] != "assistant");
            trace.steps.extend(head.map(|head| read_history_message(head)));
            steps.iter().for_each(|step| add_trajectory_step(step, &mut trace.steps));
        }
        None => trace.steps.extend(history.iter().map(|history| read_history_message(history))),
    }
    let info = &value["info"];
    let stats = &info["model_stats"];
    trace.usage = Usage {
        input: count_field(stats, "tokens_sent"),
        output: count_field(stats, "tokens_received"),
        cached: 0,
    };
    trace.cost = money(&stats["instance_cost"]);
    trace.status = first_text_field(info, &["exit_status"]).map(str::to_owned);
    submission(info["submission"].as_str().unwrap_or_default(), &mut trace.steps);
    trace
}

/// The patch that was handed in belongs to the last thing the agent did.
fn submission(patch: &str, steps: &mut [TraceStep]) {
    let files = diff::parse_unified_diff(&patch.replace("\r\n", "\n"));
    if files.is_empty() {
        return;
    }
    if let Some(last) = steps.iter_mut().rev().find(|step| step.role == StepRole::Assistant) {
        last.files = files;
    }
}

fn add_trajectory_step(value: &Value, steps: &mut Vec<TraceStep>) {
    let (thought, action, observation) = match value.as_array() {
        Some(pair) => pair_of(pair),
        None => (
            first_text_field(value, &["thought", "response"]).unwrap_or_default().to_owned(),
            first_text_field(value, &["action"]).unwrap_or_default().to_owned(),
            value["observation"].as_str().map(str::to_owned),
        ),
    };
    let call = (!action.trim().is_empty()).then(|| parse_swe_agent_command(action.trim()));
    let name = call.as_ref().map(|call| call.name.clone());
    let acted = call.is_some();
    steps.push(TraceStep {
        reasoning: thought.trim().to_owned(),
        tool_calls: call.into_iter().collect(),
        ..TraceStep::default()
    });
    if let Some(text) = observation.filter(|observation| acted || !observation.is_empty()) {
        let result = ToolResult { name, text, ..ToolResult::default() };
        steps.push(TraceStep { role: StepRole::Tool, results: vec![result], ..TraceStep::default() });
    }
}

fn pair_of(pair: &[Value]) -> (String, String, Option<String>) {
    let said = pair.first().unwrap_or(&Value::Null);
    let content = said["content"].as_str().unwrap_or_default();
    let (thought, action) = match (first_text_field(said, &["thought"]), first_text_field(said, &["action"]))
    {
        (Some(thought), Some(action)) => (thought, action),
        _ => {
            content.strip_prefix("THOUGHT:").unwrap_or(content).split_once("ACTION:").unwrap_or((content, ""))
        }
    };
    let answer = pair.get(1).and_then(|pair| pair["content"].as_str());
    let answer = answer.map(|answer| answer.strip_prefix("OBSERVATION:\n").unwrap_or(answer).to_owned());
    (thought.to_owned(), action.to_owned(), answer)
}

fn parse_swe_agent_command(action: &str) -> ToolCall {
    let (first, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
    if COMMANDS.contains(&first) {
        let input = if rest.trim().is_empty() { Value::Null } else { Value::from(rest.trim()) };
        return ToolCall::new(None, first, &input);
    }
    ToolCall::new(None, "bash", &serde_json::json!({ "command": action }))
}

/// A message of the history.
fn read_history_message(message: &Value) -> TraceStep {
    let role = role_of(message["role"].as_str().unwrap_or_default());
    let text = join_content_text(&message["content"], "\n");
    if role == StepRole::Tool {
        let call =
            message["tool_call_ids"][0].as_str().or(message["tool_call_id"].as_str()).map(str::to_owned);
        return TraceStep {
            role,
            results: vec![ToolResult { call, text, ..ToolResult::default() }],
            ..TraceStep::default()
        };
    }
    if role != StepRole::Assistant {
        return TraceStep::new(role, text);
    }
    let mut step = TraceStep::default();
    for block in message["thinking_blocks"].as_array().into_iter().flatten() {
        push(&mut step.reasoning, block["thinking"].as_str().unwrap_or_default(), "\n");
    }
    let thought = first_text_field(message, &["thought"]).unwrap_or(&text);
    push(&mut step.reasoning, thought.trim(), "\n");
    step.tool_calls = message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(super::message::parse_recorded_call)
        .collect();
    if step.tool_calls.is_empty()
        && let Some(action) =
            first_text_field(message, &["action"]).filter(|text_field| !text_field.trim().is_empty())
    {
        step.tool_calls.push(parse_swe_agent_command(action.trim()));
    }
    step
}
