//! How an item is shown: which fields of its row, under which labels, side by side or one below the other.

use serde_json::{Map, Value as Json, json};

use super::super::context::Context;
use super::super::fields::MappingReader;
use crate::candidate::{StepRole, TraceStep, read_trace_value, task_of_trace};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::SourceNode;
use crate::suite::AnnotationTask;

/// The `display` of a task, or what Potato calls `instance_display`, checked key by key.
pub(super) fn read_item_display(cx: &Context<'_>, node: &SourceNode) -> Map<String, Json> {
    let Some(fields) = MappingReader::new(cx, node, "display") else { return Map::new() };
    fields.text("type");
    fields.text("trace_key");
    fields.text("diff_key");
    if fields.bool("syntax_highlighting") == Some(false) {
        let message = "`syntax_highlighting: false` has no effect here: code is always coloured";
        cx.report(Diagnostic::warning(Code::NoEffect, fields.key_span("syntax_highlighting"), message));
    }
    for field in fields.list("fields").unwrap_or_default() {
        shown_field(cx, field);
    }
    if let Some(layout) = fields.get("layout") {
        read_layout(cx, layout);
    }
    fields.ignores(&["resizable", "max_height"]);
    fields.finish();
    if let Json::Object(map) = cx.json(node) { map } else { Map::new() }
}

/// Types of fields that Potato plays or draws.
const MEDIA: [&str; 7] = ["image", "video", "audio", "audio_dialogue", "pdf", "gallery", "depth"];

/// Types of fields in which people talk with an agent, or watch it work, while they annotate. Potato shows what was
/// recorded instead if a row has it.
const LIVE: [&str; 3] = ["interactive_chat", "live_agent", "live_coding_agent"];

/// A field by its name, or with a label.
fn shown_field(cx: &Context<'_>, node: &SourceNode) {
    if node.text().is_some() {
        return;
    }
    let Some(field) = MappingReader::new(cx, node, "shown field") else { return };
    field.need("key").and_then(|key| cx.text(key, "key"));
    field.text("label");
    if let Some(kind) = field.text("type") {
        let effect = match kind.as_str() {
            kind if MEDIA.contains(&kind) => Some("the field is shown as text"),
            kind if LIVE.contains(&kind) => {
                Some("people see what the data has, and meet no agent while they annotate")
            }
            _ => None,
        };
        if let Some(effect) = effect {
            let message = format!("`type: {kind}` has no effect here: {effect}");
            cx.report(Diagnostic::warning(Code::NoEffect, field.span("type"), message));
        }
    }
    field.ignores(&["display_options", "span_target", "collapsible", "max_height", "max_width"]);
    field.finish();
}

fn read_layout(cx: &Context<'_>, node: &SourceNode) {
    if node.text().is_some() {
        cx.word(node, "layout", &[("side_by_side", ()), ("stacked", ())]);
        return;
    }
    let Some(layout) = MappingReader::new(cx, node, "display layout") else { return };
    layout.word("direction", &[("horizontal", ()), ("vertical", ())]);
    layout.ignores(&["gap", "columns"]);
    layout.finish();
}

/// The nodes with the names of the fields that a task shows.
fn shown_names(node: Option<&SourceNode>) -> Vec<&SourceNode> {
    let fields = node.and_then(|node| node.get("fields")).and_then(SourceNode::list).unwrap_or_default();
    let name_of = |field| if SourceNode::text(field).is_some() { Some(field) } else { field.get("key") };
    fields.iter().filter_map(name_of).filter(|node| node.text().is_some()).collect()
}

/// Fields that Potato makes of traces that other tools wrote: what was asked, the turns, and what is known of the run.
pub(super) fn fill_trace_fields(node: Option<&SourceNode>, annotation: &mut AnnotationTask) {
    let names: Vec<&str> = shown_names(node).into_iter().filter_map(SourceNode::text).collect();
    for row in &mut annotation.rows {
        let is_missing = |name: &&str| names.contains(name) && !row.contains_key(*name);
        let missing: Vec<&str> =
            ["task_description", "conversation", "metadata_table"].into_iter().filter(is_missing).collect();
        if missing.is_empty() {
            continue;
        }
        let Ok((_, trace)) = read_trace_value(&Json::Object(row.clone()), None) else { continue };
        for name in missing {
            let value = match name {
                "task_description" => Json::from(task_of_trace(&trace).unwrap_or_default()),
                "conversation" => trace.steps.iter().map(turn_of_step).collect(),
                _ => row
                    .iter()
                    .filter(|(_, value)| !value.is_object() && !value.is_array())
                    .map(|(key, value)| json!({ "property": key, "value": value }))
                    .collect(),
            };
            row.insert(name.to_owned(), value);
        }
    }
}

/// The speaker and the message of a step, with calls and their results as text.
fn turn_of_step(step: &TraceStep) -> Json {
    let speaker = match step.role {
        StepRole::System => "system",
        StepRole::User => "user",
        StepRole::Assistant => "assistant",
        StepRole::Tool => "tool",
        StepRole::Other => "other",
    };
    let said = [&step.reasoning, &step.text].into_iter().filter(|text| !text.is_empty()).cloned();
    let calls =
        step.tool_calls.iter().map(|call| format!("{}({})", call.name, Json::Object(call.arguments.clone())));
    let results = step.results.iter().map(|result| result.text.clone());
    let text = said.chain(calls).chain(results).collect::<Vec<_>>().join("\n");
    json!({ "speaker": speaker, "text": text })
}

/// Fields that are to be shown and that no row has: people would rate what they cannot see. In Potato traces that
/// arrive later may bring them; here none arrive, so that the field is left out.
pub(super) fn check_shown_fields(
    cx: &Context<'_>,
    node: Option<&SourceNode>,
    annotation: &mut AnnotationTask,
    comes_later: bool,
) {
    if annotation.rows.is_empty() {
        return;
    }
    refuse_live_fields(cx, node, annotation);
    let mut missing = Vec::new();
    for node in shown_names(node) {
        let name = node.text().unwrap_or_default();
        if annotation.rows.iter().any(|row| row.contains_key(name)) {
            continue;
        }
        missing.push(name);
        let message = format!("no row of the data has `{name}`, which is to be shown");
        cx.report(match comes_later {
            true => Diagnostic::warning(Code::UnknownName, node.span, message).note(
                "Potato waits for traces that have it; here no traces arrive, and the field is not shown",
            ),
            false => Diagnostic::error(Code::UnknownName, node.span, message),
        });
    }
    if comes_later && let Some(Json::Array(fields)) = annotation.display.get_mut("fields") {
        fields.retain(|field| {
            let name = field.get("key").unwrap_or(field).as_str();
            name.is_none_or(|name| !missing.contains(&name))
        });
        if fields.is_empty() {
            annotation.display.remove("fields");
        }
    }
}

/// Refuses fields whose content is made while people annotate: if the rows have the field and leave it empty, people
/// would rate nothing.
fn refuse_live_fields(cx: &Context<'_>, node: Option<&SourceNode>, annotation: &AnnotationTask) {
    let fields = node.and_then(|node| node.get("fields")).and_then(SourceNode::list).unwrap_or_default();
    for field in fields {
        let (Some(kind), Some(name)) = (field.get("type"), field.get("key").and_then(SourceNode::text))
        else {
            continue;
        };
        let written: Vec<&Json> = annotation.rows.iter().filter_map(|row| row.get(name)).collect();
        let is_live = kind.text().is_some_and(|text| LIVE.contains(&text));
        if is_live && !written.is_empty() && written.into_iter().all(holds_nothing) {
            let kind_name = kind.text().unwrap_or_default();
            let message =
                format!("`type: {kind_name}` is not supported: no row of the data has anything in `{name}`");
            cx.report(
                Diagnostic::error(Code::Unsupported, kind.span, message)
                    .note("Potato fills it while people annotate; here they see only what the data has"),
            );
        }
    }
}

fn holds_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(map) => map.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}
