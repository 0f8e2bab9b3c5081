//! Columns of tables as the mappings and lists that other files of the same tool have.

use serde_json::{Value, json};

use crate::candidate::{TraceFormat, parse_literal, recognise};

/// Mappings that tables write as columns such as `inputs.question`.
const NESTED: [&str; 8] =
    ["input", "inputs", "outputs", "reference", "reference_outputs", "feedback_stats", "feedback", "scores"];

/// Fields that hold a list or a mapping in every tool that has them. A table writes it as text, in JSON or as Python
/// prints it.
const CONTAINERS: [&str; 16] = [
    "scores",
    "feedback",
    "feedback_stats",
    "metadata",
    "messages",
    "turns",
    "conversations",
    "contexts",
    "retrieved_contexts",
    "reference_contexts",
    "retrieval_context",
    "ground_truths",
    "reference_tool_calls",
    "tools_called",
    "expected_tools",
    "choices",
];

/// Mappings of LangSmith. A lone one may be the text of an answer that is JSON.
const MAPPINGS: [&str; 4] = ["inputs", "outputs", "reference_outputs", "reference"];

/// Makes mappings of the columns that tables have for them.
pub(super) fn nest_columns(row: &mut Value) {
    let Some(map) = row.as_object_mut() else { return };
    let is_nested = |name: &&String| name.split_once('.').is_some_and(|(head, _)| NESTED.contains(&head));
    let names: Vec<String> = map.keys().filter(is_nested).cloned().collect();
    for name in names {
        let Some((head, key)) = name.split_once('.') else { continue };
        // A column of this name that holds something else keeps its place, and so does this one.
        if map.get(head).is_none_or(Value::is_object)
            && let Some(value) = map.remove(&name)
            && let Some(inner) = map.entry(head).or_insert_with(|| json!({})).as_object_mut()
        {
            inner.insert(key.to_owned(), value);
        }
    }
}

/// Makes lists and mappings of the texts that tables have for them.
pub(super) fn parse_columns(row: &mut Value) {
    for name in CONTAINERS {
        if let Some(parsed) = parse_container(&row[name]) {
            row[name] = parsed;
        }
    }
    // A question may be a text that looks like a list.
    let is_conversation = |value: &Value| !matches!(recognise(value), None | Some(TraceFormat::Text));
    if let Some(messages) = parse_container(&row["user_input"]).filter(is_conversation) {
        row["user_input"] = messages;
    }
    let is_mapping = |name: &str| parse_container(&row[name]).is_some_and(|value| value.is_object());
    if is_mapping("inputs") && is_mapping("outputs") {
        for name in MAPPINGS {
            if let Some(parsed) = parse_container(&row[name]).filter(Value::is_object) {
                row[name] = parsed;
            }
        }
    }
}

/// Makes one task of an instruction and its input, which datasets of the Alpaca family have apart.
pub(super) fn join_instruction(row: &mut Value) {
    let Some(map) = row.as_object_mut() else { return };
    let (Some(Value::String(instruction)), None | Some(Value::String(_))) =
        (map.get("instruction"), map.get("input"))
    else {
        return;
    };
    let input = map.get("input").and_then(Value::as_str).unwrap_or_default();
    let task = if input.is_empty() { instruction.clone() } else { format!("{instruction}\n\n{input}") };
    map.remove("instruction");
    map.insert("input".to_owned(), Value::from(task));
}

/// The number of a column. A list has several scores of one name, such as those of several people.
pub(super) fn read_mean(value: &Value) -> Option<f64> {
    let numbers = match value {
        Value::Array(numbers) => numbers.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()?,
        Value::String(text) => match text.trim().parse() {
            Ok(number) => vec![number],
            Err(_) => return read_mean(&parse_container(value)?),
        },
        other => vec![other.as_f64()?],
    };
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// The list or mapping that a text holds.
fn parse_container(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let parsed = text.starts_with(['[', '{']).then(|| parse_literal(text))??;
    (parsed.is_array() || parsed.is_object()).then_some(parsed)
}
