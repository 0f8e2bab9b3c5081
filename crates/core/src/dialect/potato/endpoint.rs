//! The judge of an evaluator: `config`, which is a Potato configuration with its `ai_support`.

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::source::SourceNode;
use crate::suite::Judge;

/// The judge that the parameters of an evaluator name, if they do.
pub(super) fn read_evaluator_judge(params: &MappingReader<'_>) -> Option<Judge> {
    let (cx, config) = (params.cx, params.get("config")?);
    if cx.entries(config, "config")?.is_empty() {
        return None;
    }
    let of_alignment = config.get("judge_alignment").and_then(|node| node.get("ai_support"));
    let Some(support) = of_alignment.or_else(|| config.get("ai_support")) else {
        cx.report(
            Diagnostic::error(
                Code::MissingKey,
                cx.head(config),
                "`config` names no judge: it has no `ai_support`",
            )
            .help("write `config: {ai_support: {endpoint_type: openai, ai_config: {model: gpt-5-mini}}}`"),
        );
        return None;
    };
    read_ai_support(cx, support)
}

/// The model that helps annotators of a task judges it, too.
pub(super) fn read_task_judge(cx: &Context<'_>, node: &SourceNode) -> Option<Judge> {
    let is_off = node.get("enabled").and_then(SourceNode::text).is_some_and(|text| text == "false");
    if is_off { None } else { read_ai_support(cx, node) }
}

fn read_ai_support(cx: &Context<'_>, support: &SourceNode) -> Option<Judge> {
    let fields = MappingReader::new(cx, support, "ai_support")?;
    let is_enabled = fields.bool("enabled").unwrap_or(true);
    let vendor = fields.need("endpoint_type").and_then(|node| cx.plain_text(node, "endpoint_type"));
    let endpoint = fields.need("ai_config").and_then(|node| MappingReader::new(cx, node, "ai_config"));
    // How hints to annotators look and are kept.
    fields.knows(&["cache_config", "features"]);
    fields.finish();
    endpoint
        .and_then(|mapping_reader| read_judge_endpoint(mapping_reader, vendor.as_deref()?))
        .filter(|_| is_enabled)
}

fn read_judge_endpoint(fields: MappingReader<'_>, vendor: &str) -> Option<Judge> {
    let cx = fields.cx;
    let model = fields.need("model").and_then(|node| cx.plain_text(node, "model"));
    if let Some(key) = fields.raw("api_key").filter(|node| is_secret(node)) {
        cx.report(
            Diagnostic::error(Code::Unsupported, key.span, "a key does not belong in a file")
                .help("set the vendor's variable instead, such as OPENAI_API_KEY, and leave `api_key` out"),
        );
    }
    let judge = Judge {
        base_url: fields.text("base_url"),
        temperature: fields.number_in("temperature", 0.0..=2.0),
        max_tokens: fields
            .integer("max_tokens", 1..=i64::from(u32::MAX))
            .and_then(|integer| u32::try_from(integer).ok()),
        timeout: fields.number_in("timeout", 0.001..=86_400.0),
        ..Judge::default()
    };
    fields.knows(&["include"]);
    fields.finish();
    // Potato names what looks at pictures apart; the vendor is the same.
    let vendor = vendor.strip_suffix("_vision").unwrap_or(vendor);
    Some(Judge { model: Some(format!("{vendor}/{}", model?)), ..judge })
}

/// Whether a key is written out, and not a variable that holds it.
fn is_secret(node: &SourceNode) -> bool {
    node.text().is_some_and(|text| !text.is_empty() && !text.contains(['$', '{']))
}
