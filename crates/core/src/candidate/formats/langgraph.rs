//! LangGraph node trajectories, as `agentevals` extracts them.

use serde_json::Value;

use super::compact_value_text;
use super::message::chat_message_steps;
use crate::candidate::trace::{StepRole, Trace, TraceStep};

pub(super) fn is_langgraph_trajectory(value: &Value) -> bool {
    let is_nodes = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    let lists = trajectory_body(value)["steps"].as_array();
    lists.is_some_and(|list| !list.is_empty() && list.iter().all(is_nodes))
}

/// The extraction nests its result once more.
fn trajectory_body(value: &Value) -> &Value {
    value.get("outputs").filter(|value| value.get("steps").is_some()).unwrap_or(value)
}

pub(super) fn read_langgraph_trajectory(value: &Value) -> Trace {
    let body = trajectory_body(value);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    // The inner inputs are always empty; the outer ones count.
    let outer = list(&value["inputs"]);
    let inputs = if outer.is_empty() { list(&body["inputs"]) } else { outer };
    let (results, turns) = (list(&body["results"]), list(&body["steps"]));
    let mut trace = Trace::default();
    for turn in 0..inputs.len().max(results.len()).max(turns.len()) {
        trace.steps.extend(inputs.get(turn).into_iter().flat_map(state));
        let nodes = turns.get(turn).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for node in nodes {
            trace.nodes.push(node.to_owned());
            trace.steps.push(TraceStep::new(StepRole::Other, node));
        }
        trace.steps.extend(results.get(turn).into_iter().flat_map(read_graph_result));
    }
    trace
}

fn state(value: &Value) -> Vec<TraceStep> {
    let inner = value.get("__start__").unwrap_or(value);
    match inner.get("messages").and_then(Value::as_array) {
        Some(messages) => messages.iter().flat_map(read_state_message).collect(),
        // `__resuming__` is the framework's word, not a user's.
        None => {
            let role = |text: &str| if text.starts_with("__") { StepRole::Other } else { StepRole::User };
            value.as_str().map(|value| TraceStep::new(role(value), value)).into_iter().collect()
        }
    }
}

fn read_state_message(value: &Value) -> Vec<TraceStep> {
    match value.as_array().map(Vec::as_slice) {
        Some([role, text]) => chat_message_steps(&serde_json::json!({ "role": role, "content": text })),
        _ if value.get("role").is_none() && value.get("type").is_some() => {
            super::langchain::read_langchain_message(value)
        }
        _ => chat_message_steps(value),
    }
}

fn read_graph_result(value: &Value) -> Vec<TraceStep> {
    match value.get("messages") {
        Some(_) => state(value),
        None if value.as_object().is_none_or(serde_json::Map::is_empty) && !value.is_string() => Vec::new(),
        None => vec![TraceStep::new(StepRole::Assistant, compact_value_text(value))],
    }
}
