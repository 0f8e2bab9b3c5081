//! Potato's turns, `{speaker, text}`, alone or in a canonical trace.

use serde_json::Value;

use super::{action, items, shown, text_of};
use crate::candidate::diff;
use crate::candidate::trace::{Role, Step, ToolCall, ToolResult, Trace};

pub(super) fn fits(value: &Value) -> bool {
    let turns = items(value, &["conversation", "turns"]);
    !turns.is_empty() && turns.iter().all(|it| it["speaker"].is_string())
}

pub(super) fn read(value: &Value) -> Trace {
    let mut trace = Trace { id: text_of(value, &["id"]).map(str::to_owned), ..Trace::default() };
    let turns = items(value, &["conversation", "turns"]);
    let asked = turns.first().is_some_and(|it| role(it) == Kind::Said(Role::User));
    if let Some(task) = text_of(value, &["task_description"]).filter(|_| !asked) {
        trace.steps.push(Step::new(Role::User, task));
    }
    trace.steps.extend(turns.iter().map(turn));
    trace.cost =
        value["extra_fields"].get("cost").or_else(|| value.get("cost")).and_then(super::message::money);
    trace.status =
        text_of(value, &["status"]).or(text_of(&value["extra_fields"], &["status"])).map(str::to_owned);
    trace
}

/// Tools of coding agents by which people name a turn; other words in brackets may be a role or a model.
const TOOLS: [&str; 21] = [
    "bash",
    "shell",
    "terminal",
    "command",
    "execute",
    "python",
    "read",
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "ls",
    "grep",
    "glob",
    "search",
    "websearch",
    "webfetch",
    "browser",
    "task",
    "todowrite",
    "tool",
];

#[derive(PartialEq)]
enum Kind {
    Said(Role),
    Thought,
    Action,
    Observation,
}

/// `Agent (Action)`: who, and what it is in brackets.
fn role(turn: &Value) -> Kind {
    let speaker = turn["speaker"].as_str().unwrap_or_default().to_lowercase();
    let what = speaker.split_once('(').map_or("", |it| it.1.trim_end_matches(')'));
    let step = turn["step_type"].as_str().unwrap_or_default();
    let is = |words: &[&str]| words.iter().any(|it| speaker.starts_with(it));
    match (what.trim(), step) {
        ("thought" | "thinking" | "reasoning", _) | (_, "thought") => Kind::Thought,
        ("action" | "tool call", _) | (_, "action") => Kind::Action,
        (_, "observation") => Kind::Observation,
        _ if is(&["user", "human"]) => Kind::Said(Role::User),
        _ if is(&["environment", "tool", "observation"]) => Kind::Observation,
        ("", _) if is(&["system"]) => Kind::Said(Role::System),
        _ if is(&["system"]) => Kind::Said(Role::Other),
        ("observation" | "result" | "tool result", _) => Kind::Observation,
        // Coding agents name the tool: `Agent (Bash)`.
        (what, _) if TOOLS.contains(&what) => Kind::Action,
        (what, _) if !what.is_empty() && action::parse(&shown(&turn["text"])).is_some() => Kind::Action,
        _ => Kind::Said(Role::Assistant),
    }
}

/// `Bash` of `Agent (Bash)`, as it is written.
fn tool_in_brackets(turn: &Value) -> Option<&str> {
    let what = turn["speaker"].as_str()?.split_once('(')?.1.trim_end_matches(')').trim();
    TOOLS.contains(&what.to_lowercase().as_str()).then_some(what)
}

pub(super) fn turn(turn: &Value) -> Step {
    let text = shown(&turn["text"]);
    let mut step = match role(turn) {
        Kind::Thought => Step { reasoning: text, ..Step::default() },
        Kind::Action => action_step(turn, &text),
        Kind::Observation => {
            let result = ToolResult { text, ..ToolResult::default() };
            Step { role: Role::Tool, results: vec![result], ..Step::default() }
        }
        Kind::Said(role) => {
            let files = diff::parse(&text);
            Step { files, ..Step::new(role, text) }
        }
    };
    step.screenshot = text_of(turn, &["screenshot"]).map(str::to_owned);
    step
}

fn action_step(turn: &Value, text: &str) -> Step {
    let bare = |name: &str, input: &str| {
        let arguments = if input.is_empty() { Value::Null } else { Value::from(input) };
        ToolCall::new(None, name, &arguments)
    };
    let words = text.trim();
    let call = match (action::parse(words), turn["tool"].as_str().or_else(|| tool_in_brackets(turn))) {
        (Some(call), _) => call,
        (None, Some(tool)) => {
            bare(tool, words.strip_prefix(tool).unwrap_or(words).trim_start_matches(':').trim())
        }
        (None, None) => match words.split_once(|it: char| it == ':' || it.is_whitespace()) {
            Some((name, input)) if name.chars().all(|it| it.is_alphanumeric() || it == '_') => {
                bare(name, input.trim())
            }
            Some(_) => bare("action", words),
            None => bare(words, ""),
        },
    };
    Step { tool_calls: vec![call], ..Step::default() }
}
