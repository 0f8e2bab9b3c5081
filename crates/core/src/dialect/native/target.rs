//! What answers the cases of a native suite.

use serde_json::Map;

use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::target_variables::expand_target_settings;
use crate::source::SourceNode;
use crate::suite::CaseTarget;

/// `None` where nothing is said about them; an empty list is said.
pub(super) fn read_native_targets(fields: &MappingReader<'_>) -> Option<Vec<CaseTarget>> {
    let items = fields.list("targets")?;
    Some(items.iter().filter_map(|item| read_native_target(fields.cx, item)).collect())
}

fn read_native_target(cx: &Context<'_>, node: &SourceNode) -> Option<CaseTarget> {
    if node.map().is_none() {
        let id = cx.raw_text(node, "targets")?;
        return Some(CaseTarget { id, label: None, config: Map::new() });
    }
    let fields = MappingReader::new(cx, node, "target")?;
    let id = fields.need("id").and_then(|node| cx.raw_text(node, "id"));
    let config = fields.raw_json_map("config");
    let mut target = CaseTarget { id: String::new(), label: fields.text("label"), config };
    expand_target_settings(cx, &mut target, node.span);
    fields.finish();
    Some(CaseTarget { id: id?, ..target })
}
