//! How an item is shown: which fields of its row, under which labels, side by side or one below the other.

use serde_json::{Map, Value as Json};

use super::super::context::Context;
use super::super::fields::MappingReader;
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

/// A field by its name, or with a label.
fn shown_field(cx: &Context<'_>, node: &SourceNode) {
    if node.text().is_some() {
        return;
    }
    let Some(field) = MappingReader::new(cx, node, "shown field") else { return };
    field.need("key").and_then(|key| cx.text(key, "key"));
    field.text("label");
    field.text("type");
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

/// Fields that are to be shown and that no row has: people would rate what they cannot see.
pub(super) fn check_shown_fields(cx: &Context<'_>, node: Option<&SourceNode>, annotation: &AnnotationTask) {
    let fields = node.and_then(|node| node.get("fields")).and_then(SourceNode::list).unwrap_or_default();
    for field in fields {
        let key = if field.text().is_some() { Some(field) } else { field.get("key") };
        let Some((node, name)) = key.and_then(|key| Some((key, key.text()?))) else { continue };
        if !annotation.rows.is_empty() && annotation.rows.iter().all(|row| !row.contains_key(name)) {
            let message = format!("no row of the data has `{name}`, which is to be shown");
            cx.report(Diagnostic::error(Code::UnknownName, node.span, message));
        }
    }
}
