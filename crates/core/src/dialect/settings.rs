//! Settings of a project: `.jurist/config.yaml`, and the part of `.agentv/config.yaml` that suites refer to.

use std::collections::BTreeMap;

use super::context::Context;
use super::fields::Fields;
use super::native::judge_fields;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Node, Span};
use crate::suite::Judge;

/// What a project says once for all its suites.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The judge of every suite that names none.
    pub judge: Judge,
    /// Names for files, as `ref://name`.
    pub refs: BTreeMap<String, String>,
}

pub(super) const FILE: &str = ".jurist/config.yaml";
const AGENTV_FILE: &str = ".agentv/config.yaml";

/// The settings that hold for a file: those of the nearest folder above it.
pub(super) fn of_file(cx: &Context<'_>, file: FileId) -> Settings {
    let found = cx.find_optional(FILE, file).and_then(|it| cx.parse(it));
    found.map(|it| read(cx, &it)).unwrap_or_default()
}

pub(super) fn read(cx: &Context<'_>, node: &Node) -> Settings {
    let Some(fields) = Fields::new(cx, node, "settings file") else { return Settings::default() };
    let judge = fields.fields("judge", "judge").and_then(judge_fields).unwrap_or_default();
    let refs = refs(&fields);
    fields.finish();
    Settings { judge, refs }
}

/// AgentV's own configuration; only its `refs` mean something here.
pub(super) fn agentv(cx: &Context<'_>, node: &Node) -> BTreeMap<String, String> {
    let Some(fields) = Fields::new(cx, node, "configuration") else { return BTreeMap::new() };
    let refs = refs(&fields);
    fields.knows(&[
        "$schema",
        "eval_patterns",
        "required_version",
        "execution",
        "results",
        "repo_resolvers",
        "providers",
        "tests",
        "defaults",
        "projects",
        "dashboard",
        "studio",
        "hooks",
        "env_path",
        "env_from",
        "tags",
        "targets",
        "graders",
    ]);
    fields.finish();
    refs
}

fn refs(fields: &Fields<'_>) -> BTreeMap<String, String> {
    let entries = fields.map("refs").unwrap_or_default();
    entries
        .iter()
        .filter_map(|it| {
            let text = fields.cx.raw_text(&it.value, "refs")?;
            Some((it.key.clone(), fields.cx.expand_path(&text, it.value.span)))
        })
        .collect()
}

/// The `file://…` that `ref://name` stands for.
pub(super) fn reference(cx: &Context<'_>, name: &str, span: Span) -> Option<String> {
    let mut known = of_file(cx, span.file).refs;
    if let Some(node) = cx.find_optional(AGENTV_FILE, span.file).and_then(|it| cx.parse(it)) {
        known.extend(agentv(cx, &node));
    }
    let found = known.get(name).cloned();
    if found.is_none() {
        cx.report(
            Diagnostic::error(Code::UnknownName, span, format!("nothing is called `{name}`"))
                .suggest(name, known.keys().map(String::as_str), "known names")
                .note(format!("names stand under `refs:` in {AGENTV_FILE} or {FILE}")),
        );
    }
    found
}
