//! Conversations of AgentV: a test with `turns` is a case for each turn, and one for the conversation as a whole.
//!
//! The case of a turn holds what the user says up to it. What the assistant says in between is left open (`content` is
//! null), and is answered turn by turn when the case is run.

use serde_json::{Value as Json, json};

use super::TestRules;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::source::{NodeEntry, NodeShape, SourceNode};

/// Keys of a conversation that the cases of its turns do not have.
const OF_CONVERSATIONS: [&str; 5] = ["turns", "mode", "aggregation", "on_turn_failure", "window_size"];

/// The test itself, or the tests that a conversation is expanded to.
pub(super) fn expand_turns(
    cx: &Context<'_>,
    test: &SourceNode,
    at: usize,
    rules: TestRules,
) -> Vec<SourceNode> {
    let turns = test.get("turns").filter(|_| rules == TestRules::Agentv).and_then(SourceNode::list);
    let (Some(turns), Some(entries)) = (turns, test.map()) else { return vec![test.clone()] };
    if turns.is_empty() {
        cx.error(Code::Empty, cx.head(test), "`turns` lists nothing");
        return Vec::new();
    }
    for entry in entries.iter().filter(|entry| OF_CONVERSATIONS[2..].contains(&entry.key.as_str())) {
        let message = format!("`{}` has no effect here", entry.key);
        cx.report(
            Diagnostic::warning(Code::NoEffect, entry.key_span, message)
                .note("each turn is a case with a verdict of its own, and so is the conversation as a whole"),
        );
    }
    let id = ["id", "description"].into_iter().find_map(|key| test.get(key)?.text());
    let id = id.map_or_else(|| format!("test {}", at + 1), str::to_owned);
    let written = test.get("vars").and_then(|vars| vars.get("input")).or_else(|| test.get("input"));
    let mut messages = match written.map(|node| cx.json(node)) {
        Some(Json::Array(messages)) => messages,
        Some(text) => vec![json!({ "role": "user", "content": text })],
        None => Vec::new(),
    };
    let mut tests = Vec::new();
    for (number, turn) in turns.iter().enumerate() {
        check_keys_of_turn(cx, turn);
        let Some(input) = turn.get("input") else {
            cx.error(Code::MissingKey, cx.head(turn), "a turn needs `input`, what the user says");
            continue;
        };
        if 0 < number {
            messages.push(json!({ "role": "assistant", "content": null }));
        }
        match cx.json(input) {
            Json::Array(said) => messages.extend(said),
            text => messages.push(json!({ "role": "user", "content": text })),
        }
        if let Some(asserted) = ["assert", "assertions"].into_iter().find_map(|key| turn.get(key)) {
            let name = format!("{id} turn {}", number + 1);
            tests.push(build_turn_test(test, &name, &messages, Some((asserted, turn))));
        }
    }
    let asserts = ["assert", "assertions", "criteria", "expected_outcome"];
    if asserts.iter().any(|key| test.get(key).is_some()) || tests.is_empty() {
        tests.push(build_turn_test(test, &id, &messages, None));
    }
    tests
}

fn check_keys_of_turn(cx: &Context<'_>, turn: &SourceNode) {
    let known = ["input", "assert", "assertions", "expected_output"];
    for entry in turn.map().unwrap_or_default() {
        if !known.contains(&entry.key.as_str()) {
            let message = format!("unknown key `{}`", entry.key);
            cx.report(
                Diagnostic::error(Code::UnknownKey, entry.key_span, message)
                    .label("not a key of a turn")
                    .note(format!("known keys: {}", known.join(", "))),
            );
        }
    }
}

/// The test with these messages; with the assertions of a turn instead of its own.
fn build_turn_test(
    test: &SourceNode,
    name: &str,
    messages: &[Json],
    turn: Option<(&SourceNode, &SourceNode)>,
) -> SourceNode {
    let span = test.span;
    let entry = |key: &str, value: SourceNode| NodeEntry { key: key.to_owned(), key_span: value.span, value };
    let replaced: &[&str] = match turn {
        Some(_) => {
            &["id", "input", "assert", "assertions", "criteria", "expected_outcome", "expected_output"]
        }
        None => &["id", "input"],
    };
    let is_kept = |entry: &&NodeEntry| {
        let key = entry.key.as_str();
        !OF_CONVERSATIONS.contains(&key) && !replaced.contains(&key)
    };
    let mut entries: Vec<NodeEntry> =
        test.map().unwrap_or_default().iter().filter(is_kept).cloned().collect();
    let said = SourceNode::of_json(&Json::Array(messages.to_vec()), span);
    // Prompts name the message of a turn `{{ input }}`.
    match entries.iter_mut().find(|entry| entry.key == "vars").map(|entry| &mut entry.value.shape) {
        Some(NodeShape::Map(vars)) => {
            vars.retain(|entry| entry.key != "input");
            vars.push(entry("input", said));
        }
        _ => entries.push(entry("input", said)),
    }
    entries.push(entry("id", SourceNode::of_json(&Json::from(name), span)));
    if let Some((asserted, turn)) = turn {
        entries.push(entry("assert", asserted.clone()));
        entries.extend(turn.get("expected_output").map(|node| entry("expected_output", node.clone())));
    }
    SourceNode { span, shape: NodeShape::Map(entries) }
}
