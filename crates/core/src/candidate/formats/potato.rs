//! Potato's turns, `{speaker, text}`, alone or in a canonical trace.

use serde_json::Value;

use super::{action, compact_value_text, first_text_field, nested_items};
use crate::candidate::diff;
use crate::candidate::trace::{StepRole, ToolCall, ToolResult, Trace, TraceStep};

pub(super) fn is_potato_trace(value: &Value) -> bool {
    let turns = nested_items(value, &["conversation", "turns"]);
    !turns.is_empty() && turns.iter().all(|turn| turn["speaker"].is_string())
}

pub(super) fn read_potato_trace(value: &Value) -> Trace {
    let mut trace = Trace { id: first_text_field(value, &["id"]).map(str::to_owned), ..Trace::default() };
    let turns = nested_items(value, &["conversation", "turns"]);
    let asked =
        turns.first().is_some_and(|turn| classify_potato_turn(turn) == PotatoTurnKind::Said(StepRole::User));
    if let Some(task) = first_text_field(value, &["task_description"]).filter(|_| !asked) {
        trace.steps.push(TraceStep::new(StepRole::User, task));
    }
    trace.steps.extend(turns.iter().map(turn));
    trace.cost =
        value["extra_fields"].get("cost").or_else(|| value.get("cost")).and_then(super::message::money);
    trace.status = first_text_field(value, &["status"])
        .or(first_text_field(&value["extra_fields"], &["status"]))
        .map(str::to_owned);
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
enum PotatoTurnKind {
    Said(StepRole),
    Thought,
    Action,
    Observation,
}

/// `Agent (Action)`: who, and what it is in brackets.
fn classify_potato_turn(turn: &Value) -> PotatoTurnKind {
    let speaker = turn["speaker"].as_str().unwrap_or_default().to_lowercase();
    let what = speaker.split_once('(').map_or("", |it| it.1.trim_end_matches(')'));
    let step = turn["step_type"].as_str().unwrap_or_default();
    let is = |words: &[&str]| words.iter().any(|word| speaker.starts_with(word));
    match (what.trim(), step) {
        ("thought" | "thinking" | "reasoning", _) | (_, "thought") => PotatoTurnKind::Thought,
        ("action" | "tool call", _) | (_, "action") => PotatoTurnKind::Action,
        (_, "observation") => PotatoTurnKind::Observation,
        _ if is(&["user", "human"]) => PotatoTurnKind::Said(StepRole::User),
        _ if is(&["environment", "tool", "observation"]) => PotatoTurnKind::Observation,
        ("", _) if is(&["system"]) => PotatoTurnKind::Said(StepRole::System),
        _ if is(&["system"]) => PotatoTurnKind::Said(StepRole::Other),
        ("observation" | "result" | "tool result", _) => PotatoTurnKind::Observation,
        // Coding agents name the tool: `Agent (Bash)`.
        (what, _) if TOOLS.contains(&what) => PotatoTurnKind::Action,
        (what, _)
            if !what.is_empty()
                && action::parse_action_call(&compact_value_text(&turn["text"])).is_some() =>
        {
            PotatoTurnKind::Action
        }
        _ => PotatoTurnKind::Said(StepRole::Assistant),
    }
}

/// `Bash` of `Agent (Bash)`, as it is written.
fn tool_in_brackets(turn: &Value) -> Option<&str> {
    let what = turn["speaker"].as_str()?.split_once('(')?.1.trim_end_matches(')').trim();
    TOOLS.contains(&what.to_lowercase().as_str()).then_some(what)
}

pub(super) fn turn(turn: &Value) -> TraceStep {
    let text = compact_value_text(&turn["text"]);
    let mut step = match classify_potato_turn(turn) {
        PotatoTurnKind::Thought => TraceStep { reasoning: text, ..TraceStep::default() },
        PotatoTurnKind::Action => action_step(turn, &text),
        PotatoTurnKind::Observation => {
            let result = ToolResult { text, ..ToolResult::default() };
            TraceStep { role: StepRole::Tool, results: vec![result], ..TraceStep::default() }
        }
        PotatoTurnKind::Said(role) => {
            let files = diff::parse_unified_diff(&text);
            TraceStep { files, ..TraceStep::new(role, text) }
        }
    };
    step.screenshot = first_text_field(turn, &["screenshot"]).map(str::to_owned);
    step
}

fn action_step(turn: &Value, text: &str) -> TraceStep {
    let bare = |name: &str, input: &str| {
        let arguments = if input.is_empty() { Value::Null } else { Value::from(input) };
        ToolCall::new(None, name, &arguments)
    };
    let words = text.trim();
    let call =
        match (action::parse_action_call(words), turn["tool"].as_str().or_else(|| tool_in_brackets(turn))) {
            (Some(call), _) => call,
            (None, Some(tool)) => {
                bare(tool, words.strip_prefix(tool).unwrap_or(words).trim_start_matches(':').trim())
            }
            (None, None) => match words.split_once(|word: char| word == ':' || word.is_whitespace()) {
                Some((name, input))
                    if name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') =>
                {
                    bare(name, input.trim())
                }
                Some(_) => bare("action", words),
                None => bare(words, ""),
            },
        };
    TraceStep { tool_calls: vec![call], ..TraceStep::default() }
}
