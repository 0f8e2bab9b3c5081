//! SWE-agent trajectories, in each of their generations.

use serde_json::Value;

use super::message::{joined, money, number_of, push, role_of};
use super::text_of;
use crate::candidate::diff;
use crate::candidate::trace::{Role, Step, ToolCall, ToolResult, Trace, Usage};

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

pub(super) fn fits(value: &Value) -> bool {
    let first = &value["trajectory"][0];
    let is_step =
        first.get("action").is_some() && (first.get("response").is_some() || first.get("state").is_some());
    let is_pair = first.is_array() && first[0]["role"].is_string();
    let is_history = |it: &Value| {
        it.get("message_type").is_some() || (it.get("agent").is_some() && it.get("thought").is_some())
    };
    is_step || is_pair || value["history"].as_array().is_some_and(|it| it.iter().any(is_history))
}

pub(super) fn read(value: &Value) -> Trace {
    let mut trace = Trace::default();
    let history: Vec<&Value> =
        value["history"].as_array().into_iter().flatten().filter(|it| it["is_demo"] != true).collect();
    match value["trajectory"].as_array() {
        Some(steps) => {
            // The same run stands in `history` again; only what came before the agent is taken from there.
            let head = history.iter().take_while(|it| it["role"] != "assistant");
            trace.steps.extend(head.map(|it| said(it)));
            steps.iter().for_each(|it| step(it, &mut trace.steps));
        }
        None => trace.steps.extend(history.iter().map(|it| said(it))),
    }
    let info = &value["info"];
    let stats = &info["model_stats"];
    trace.usage = Usage {
        input: number_of(stats, "tokens_sent"),
        output: number_of(stats, "tokens_received"),
        cached: 0,
    };
    trace.cost = money(&stats["instance_cost"]);
    trace.status = text_of(info, &["exit_status"]).map(str::to_owned);
    submission(info["submission"].as_str().unwrap_or_default(), &mut trace.steps);
    trace
}

/// The patch that was handed in belongs to the last thing the agent did.
fn submission(patch: &str, steps: &mut [Step]) {
    let files = diff::parse(&patch.replace("\r\n", "\n"));
    if files.is_empty() {
        return;
    }
    if let Some(last) = steps.iter_mut().rev().find(|it| it.role == Role::Assistant) {
        last.files = files;
    }
}

fn step(value: &Value, steps: &mut Vec<Step>) {
    let (thought, action, observation) = match value.as_array() {
        Some(pair) => pair_of(pair),
        None => (
            text_of(value, &["thought", "response"]).unwrap_or_default().to_owned(),
            text_of(value, &["action"]).unwrap_or_default().to_owned(),
            value["observation"].as_str().map(str::to_owned),
        ),
    };
    let call = (!action.trim().is_empty()).then(|| command(action.trim()));
    let name = call.as_ref().map(|it| it.name.clone());
    let acted = call.is_some();
    steps.push(Step {
        reasoning: thought.trim().to_owned(),
        tool_calls: call.into_iter().collect(),
        ..Step::default()
    });
    if let Some(text) = observation.filter(|it| acted || !it.is_empty()) {
        let result = ToolResult { name, text, ..ToolResult::default() };
        steps.push(Step { role: Role::Tool, results: vec![result], ..Step::default() });
    }
}

fn pair_of(pair: &[Value]) -> (String, String, Option<String>) {
    let said = pair.first().unwrap_or(&Value::Null);
    let content = said["content"].as_str().unwrap_or_default();
    let (thought, action) = match (text_of(said, &["thought"]), text_of(said, &["action"])) {
        (Some(thought), Some(action)) => (thought, action),
        _ => {
            content.strip_prefix("THOUGHT:").unwrap_or(content).split_once("ACTION:").unwrap_or((content, ""))
        }
    };
    let answer = pair.get(1).and_then(|it| it["content"].as_str());
    let answer = answer.map(|it| it.strip_prefix("OBSERVATION:\n").unwrap_or(it).to_owned());
    (thought.to_owned(), action.to_owned(), answer)
}

fn command(action: &str) -> ToolCall {
    let (first, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
    if COMMANDS.contains(&first) {
        let input = if rest.trim().is_empty() { Value::Null } else { Value::from(rest.trim()) };
        return ToolCall::new(None, first, &input);
    }
    ToolCall::new(None, "bash", &serde_json::json!({ "command": action }))
}

/// A message of the history.
fn said(message: &Value) -> Step {
    let role = role_of(message["role"].as_str().unwrap_or_default());
    let text = joined(&message["content"], "\n");
    if role == Role::Tool {
        let call =
            message["tool_call_ids"][0].as_str().or(message["tool_call_id"].as_str()).map(str::to_owned);
        return Step {
            role,
            results: vec![ToolResult { call, text, ..ToolResult::default() }],
            ..Step::default()
        };
    }
    if role != Role::Assistant {
        return Step::new(role, text);
    }
    let mut step = Step::default();
    for block in message["thinking_blocks"].as_array().into_iter().flatten() {
        push(&mut step.reasoning, block["thinking"].as_str().unwrap_or_default(), "\n");
    }
    let thought = text_of(message, &["thought"]).unwrap_or(&text);
    push(&mut step.reasoning, thought.trim(), "\n");
    step.tool_calls =
        message["tool_calls"].as_array().into_iter().flatten().filter_map(super::message::call).collect();
    if step.tool_calls.is_empty()
        && let Some(action) = text_of(message, &["action"]).filter(|it| !it.trim().is_empty())
    {
        step.tool_calls.push(command(action.trim()));
    }
    step
}
