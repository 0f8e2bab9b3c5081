//! LangGraph node trajectories, as `agentevals` extracts them.

use serde_json::Value;

use super::message::steps;
use super::shown;
use crate::candidate::trace::{Role, Step, Trace};

pub(super) fn fits(value: &Value) -> bool {
    let is_nodes = |it: &Value| it.as_array().is_some_and(|it| it.iter().all(Value::is_string));
    let lists = body(value)["steps"].as_array();
    lists.is_some_and(|it| !it.is_empty() && it.iter().all(is_nodes))
}

/// The extraction nests its result once more.
fn body(value: &Value) -> &Value {
    value.get("outputs").filter(|it| it.get("steps").is_some()).unwrap_or(value)
}

pub(super) fn read(value: &Value) -> Trace {
    let body = body(value);
    let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
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
            trace.steps.push(Step::new(Role::Other, node));
        }
        trace.steps.extend(results.get(turn).into_iter().flat_map(result));
    }
    trace
}

fn state(value: &Value) -> Vec<Step> {
    let inner = value.get("__start__").unwrap_or(value);
    match inner.get("messages").and_then(Value::as_array) {
        Some(messages) => messages.iter().flat_map(message).collect(),
        // `__resuming__` is the framework's word, not a user's.
        None => {
            let role = |it: &str| if it.starts_with("__") { Role::Other } else { Role::User };
            value.as_str().map(|it| Step::new(role(it), it)).into_iter().collect()
        }
    }
}

fn message(value: &Value) -> Vec<Step> {
    match value.as_array().map(Vec::as_slice) {
        Some([role, text]) => steps(&serde_json::json!({ "role": role, "content": text })),
        _ if value.get("role").is_none() && value.get("type").is_some() => super::langchain::message(value),
        _ => steps(value),
    }
}

fn result(value: &Value) -> Vec<Step> {
    match value.get("messages") {
        Some(_) => state(value),
        None if value.as_object().is_none_or(serde_json::Map::is_empty) && !value.is_string() => Vec::new(),
        None => vec![Step::new(Role::Assistant, shown(value))],
    }
}
