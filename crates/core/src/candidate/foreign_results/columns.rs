//! Columns of tables: as the mappings and lists that other files of the same tool have, and as scores.

use serde_json::{Value, json};

use super::shapes::ColumnValues;
use crate::candidate::{RecordField, TraceFormat, parse_literal, recognise, record_field};

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

/// Makes one task of an instruction and its input, which datasets of the Alpaca family have apart. A row that has its
/// task under another name keeps it.
pub(super) fn join_instruction(row: &mut Value) {
    let Some(map) = row.as_object_mut() else { return };
    let Some(Value::String(instruction)) = map.get("instruction") else { return };
    let is_task = |name: &str| name != "input" && record_field(name) == Some(RecordField::Task);
    if map.iter().any(|(name, value)| is_task(name) && !value.is_null()) {
        // An empty input has precedence over tasks of other names, and asks nothing.
        if map.get("input").and_then(Value::as_str) == Some("") {
            map.remove("input");
        }
        return;
    }
    let task = match map.get("input") {
        None | Some(Value::Null) => instruction.clone(),
        Some(Value::String(input)) if input.is_empty() => instruction.clone(),
        Some(Value::String(input)) => format!("{instruction}\n\n{input}"),
        Some(_) => return,
    };
    map.remove("instruction");
    map.insert("input".to_owned(), Value::from(task));
}

/// Numbers that are no scores in any table although they may be from 0 to 1, in addition to those of records.
const COUNTERS: [&str; 21] = [
    "order",
    "index",
    "epoch",
    "success",
    "run_duration",
    "runDuration",
    "evaluationCost",
    "execution_time",
    "prompt_cost",
    "completion_cost",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "inputCost",
    "outputCost",
    "totalCost",
    "inputTokens",
    "outputTokens",
    "totalTokens",
    "timeToFirstToken",
    "promptVersion",
];

/// Whether a column of this name may hold a score in a table of any tool.
pub(super) fn may_be_score(name: &str) -> bool {
    !COUNTERS.contains(&name) && !name.starts_with("metadata.") && record_field(name).is_none()
}

/// What a column that may hold a score holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ColumnContent {
    Nothing,
    /// A score from 0 to 1, or the mean of several.
    Score(f64),
    /// What has the form of a score, and is no number from 0 to 1.
    UnreadableScore,
    /// Such as a text or a mapping.
    SomethingElse,
}

pub(super) fn read_column(value: &Value, values: ColumnValues) -> ColumnContent {
    let parsed = parse_container(value);
    let read = |number: Option<f64>| {
        number.and_then(as_unit).map_or(ColumnContent::UnreadableScore, ColumnContent::Score)
    };
    match parsed.as_ref().unwrap_or(value) {
        Value::Null => ColumnContent::Nothing,
        Value::String(text) if text.trim().is_empty() => ColumnContent::Nothing,
        Value::Array(items) if items.is_empty() => ColumnContent::Nothing,
        Value::Array(items) if values != ColumnValues::One && items.iter().all(is_one_value) => {
            read(read_mean(items))
        }
        Value::Array(_) | Value::Object(_) => ColumnContent::SomethingElse,
        _ if values == ColumnValues::Several => ColumnContent::SomethingElse,
        Value::String(text) => match read_yes_or_no(text).or_else(|| text.trim().parse().ok()) {
            None => ColumnContent::SomethingElse,
            number => read(number),
        },
        one => read(read_list_value(one)),
    }
}

fn is_one_value(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// The mean of several scores of one name, such as those of several people. Each of them must be a score itself: the
/// mean of 0, 0 and 3 would look like one.
fn read_mean(items: &[Value]) -> Option<f64> {
    let scores: Option<Vec<f64>> = items.iter().map(|item| read_list_value(item).and_then(as_unit)).collect();
    let scores = scores.filter(|scores| !scores.is_empty())?;
    Some(scores.iter().sum::<f64>() / scores.len() as f64)
}

/// A number, or yes or no. A text with a number is the name of a category, because lists have numbers as such.
fn read_list_value(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
        Value::String(text) => read_yes_or_no(text),
        other => other.as_f64(),
    }
}

/// Yes or no as JSON and Python write it.
pub(super) fn read_yes_or_no(text: &str) -> Option<f64> {
    match text.trim() {
        "True" | "true" => Some(1.0),
        "False" | "false" => Some(0.0),
        _ => None,
    }
}

/// Scores are from 0 to 1; what is not would say something else.
pub(super) fn as_unit(number: f64) -> Option<f64> {
    (0.0..=1.0).contains(&number).then_some(number)
}

/// The list or mapping that a text holds.
fn parse_container(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let parsed = text.starts_with(['[', '{']).then(|| parse_literal(text))??;
    (parsed.is_array() || parsed.is_object()).then_some(parsed)
}
