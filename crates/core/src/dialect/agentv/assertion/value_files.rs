//! Values of assertions in files of their own.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::{AssertionReader, RUBRIC_TYPES, canonical_assertion_type};
use crate::catalogue::{self, CHECKS, ParamKind, RECIPES};
use crate::check::ExternalCheck;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::promptfoo;
use crate::source::{NodeShape, SourceNode};
use crate::template;

const FILE: &str = "file://";

/// Scripts whose function makes a value.
const SCRIPTS: [&str; 7] = ["js", "mjs", "cjs", "ts", "mts", "cts", "py"];

/// Answers that a function is called with: it is no value if one of them changes it.
const PROBES: [&str; 3] = [
    "",
    "An answer.",
    "{\"status\": \"error\", \"items\": [1, 2, 3]}\nA longer answer, with a list:\n- 42 apples\n- https://example.org\n",
];

impl AssertionReader<'_> {
    /// The assertion with what its file holds as `value`; `None` where the file cannot be used, which is reported.
    pub(super) fn read_value_file<'n>(&self, node: &'n SourceNode) -> Option<Cow<'n, SourceNode>> {
        let value = node.get("value");
        let is_file = |value: &SourceNode| value.text().is_some_and(|text| text.starts_with(FILE));
        let has_file = value.is_some_and(|value| match &value.shape {
            NodeShape::List(items) => items.iter().any(is_file),
            _ => is_file(value),
        });
        let (Some(value), true) = (value, has_file) else { return Some(Cow::Borrowed(node)) };
        let Some(wants_text) = node.get("type").and_then(SourceNode::text).and_then(wants_text) else {
            return Some(Cow::Borrowed(node));
        };
        let read = |value: &SourceNode| {
            if is_file(value) { self.read_value(value, wants_text) } else { Some(value.clone()) }
        };
        let read = match &value.shape {
            NodeShape::List(items) => {
                let items: Option<Vec<SourceNode>> = items.iter().map(read).collect();
                SourceNode { span: value.span, shape: NodeShape::List(items?) }
            }
            _ => read(value)?,
        };
        if !self.cx.spend_filled_bytes(read.n_text_bytes(), value.span) {
            return None;
        }
        let mut node = node.clone();
        if let NodeShape::Map(entries) = &mut node.shape {
            entries
                .iter_mut()
                .filter(|entry| entry.key == "value")
                .for_each(|entry| entry.value = read.clone());
        }
        Some(Cow::Owned(node))
    }

    fn read_value(&self, node: &SourceNode, wants_text: bool) -> Option<SourceNode> {
        let cx = self.cx;
        let path = cx.path(node, "value")?;
        let (script, _) = path.rsplit_once(':').unwrap_or((&path, ""));
        let ends = |path: &str, ends: &[&str]| {
            path.rsplit_once('.')
                .is_some_and(|(_, extension)| ends.contains(&extension.to_lowercase().as_str()))
        };
        let mut value = if ends(&path, &SCRIPTS) || ends(script, &SCRIPTS) {
            match self.call_value_script(node, &path) {
                CalledScript::Value(value) => SourceNode::of_json(&value, node.span),
                CalledScript::Later => return Some(node.clone()),
                CalledScript::Failed => return None,
            }
        } else if ends(&path, &["rb"]) || ends(script, &["rb"]) {
            cx.report(
                Diagnostic::error(Code::Unsupported, node.span, format!("`{path}` is not run"))
                    .help("write the value as text, JSON or YAML, or let a .js or .py file make it"),
            );
            return None;
        } else {
            let file = cx.find(&path, node.span)?;
            if ends(&path, &["json", "yaml", "yml"]) {
                cx.parse(file)?
            } else {
                promptfoo::text_node(cx.text_of(file).trim(), node.span)
            }
        };
        if wants_text && value.scalar().is_none() {
            value = promptfoo::text_node(value.to_json().to_string(), node.span);
        }
        escape_node_braces(&mut value, &self.rules.stored_outputs);
        Some(value)
    }

    /// What a function returns, called before the run. promptfoo calls it with each answer, so that it is called with
    /// several: a value that differs belongs to the answer.
    fn call_value_script(&self, node: &SourceNode, path: &str) -> CalledScript {
        let cx = self.cx;
        let n_errors = cx.n_errors();
        let vars = &self.rules.vars;
        let call = |text: &str| {
            let context = json!({ "prompt": text, "vars": vars, "test": { "vars": vars } });
            cx.call_script(path, "get_assert", &[Json::from(text), context], node.span)
        };
        let [first, others @ ..] = PROBES;
        let Some(value) = call(first) else {
            return if n_errors == cx.n_errors() { CalledScript::Later } else { CalledScript::Failed };
        };
        let others: Option<Vec<Json>> = others.into_iter().map(call).collect();
        let Some(others) = others else { return CalledScript::Failed };
        if others.iter().any(|other| *other != value) {
            cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    node.span,
                    format!("what `{path}` returns depends on the answer"),
                )
                .note("promptfoo calls the function for each answer; here it is called before a run")
                .help("use `javascript` or `python`, which are given the answer"),
            );
            return CalledScript::Failed;
        }
        let is_verdict = value.is_boolean() || value.get("pass").is_some();
        if value.is_null() || is_verdict {
            cx.report(
                Diagnostic::error(
                    Code::BadValue,
                    node.span,
                    format!("`{path}` returns no value to compare with"),
                )
                .note("a text, a number, a list or a mapping is one; true, false and `pass` are verdicts")
                .help("use `javascript` or `python` for a function that decides"),
            );
            return CalledScript::Failed;
        }
        let message = format!("`{path}` is called before the run, without the answer");
        cx.report(
            Diagnostic::advice(Code::NoEffect, node.span, message)
                .note("promptfoo calls the function for each answer; a value that depends on it would be wrong here")
                .help("use `javascript` or `python` for a function that looks at the answer"),
        );
        CalledScript::Value(value)
    }
}

enum CalledScript {
    Value(Json),
    /// Scripts are not run now.
    Later,
    /// It has been reported.
    Failed,
}

/// Whether the `value` of assertions of a type is a text; `None` where it names a file itself, and for unknown types.
fn wants_text(written: &str) -> Option<bool> {
    let kind = canonical_assertion_type(written.strip_prefix("not-").unwrap_or(written));
    if RUBRIC_TYPES.contains(&kind.as_str()) {
        return Some(false);
    }
    if ExternalCheck::is_named(&kind) {
        return None;
    }
    let entry =
        [CHECKS, RECIPES].into_iter().find_map(|entries| catalogue::find_catalogue_entry(entries, &kind))?;
    let value = entry.params.iter().find(|param| param.name == "value")?;
    Some(matches!(value.kind, ParamKind::Text | ParamKind::Pattern))
}

/// Braces in a file are text. The value is read once more, so that variables of the environment and stored outputs are
/// escaped too.
fn escape_node_braces(node: &mut SourceNode, outputs: &BTreeSet<String>) {
    match &mut node.shape {
        NodeShape::Scalar(scalar) if scalar.text.contains("{{") => {
            scalar.text = template::escape_braces(&scalar.text, |name| {
                template::is_escape(name)
                    || name.starts_with("env.")
                    || outputs.contains(name.strip_prefix("vars.").unwrap_or(name))
            });
        }
        NodeShape::Scalar(_) => {}
        NodeShape::List(items) => items.iter_mut().for_each(|item| escape_node_braces(item, outputs)),
        NodeShape::Map(entries) => {
            entries.iter_mut().for_each(|entry| escape_node_braces(&mut entry.value, outputs));
        }
    }
}
