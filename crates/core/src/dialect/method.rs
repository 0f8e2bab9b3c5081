//! Checks and recipes as files write them: a name with parameters.

use std::collections::{HashMap, HashSet};

use regex::Regex;
use serde_json::{Map, Value};

use super::context::Context;
use super::fields::MappingReader;
use crate::catalogue::{CatalogueEntry, GradingMethod, Param, ParamKind};
use crate::check::{
    BadCheck, CheckCode, CompiledCheck, ExternalCheck, ExternalKind, estimate_check_work,
    estimate_pattern_work,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{NodeShape, SourceNode, json_number};
use crate::template;

/// Reads the parameters of `entry` from a mapping.
pub(super) fn read_method_params(
    fields: &MappingReader<'_>,
    entry: &'static CatalogueEntry,
) -> GradingMethod {
    read_method_with_fixed_params(fields, entry, Map::new())
}

/// The same with parameters that the type of an assertion says in its name.
pub(super) fn read_method_with_fixed_params(
    fields: &MappingReader<'_>,
    entry: &'static CatalogueEntry,
    fixed: Map<String, Value>,
) -> GradingMethod {
    let n_errors = fields.cx.n_errors();
    let mut params = params(fields, entry.params);
    params.extend(fixed);
    entry.settle_spelling(|key| fields.has(key), &mut params);
    let is_there = |param: &Param| fields.has(param.name) || param.alias.is_some_and(|alia| fields.has(alia));
    if 1 < entry.params.len() && entry.params.iter().all(is_bound) && !entry.params.iter().any(is_there) {
        let names: Vec<&'static str> = entry.params.iter().map(|param| param.name).collect();
        let message = format!("`{}` needs at least one of {}", entry.name, names.join(", "));
        fields.lacks(&names, Diagnostic::error(Code::MissingKey, fields.start(), message));
    }
    let method = GradingMethod { entry, params };
    // Also where braces keep the check from being compiled here: it is compiled as it is when a run is prepared.
    if fields.cx.spend_pattern_work(estimate_check_work(&method), fields.start()) {
        // A parameter of the wrong type has been reported where it was read, and values from a row are not known yet.
        if fields.cx.n_errors() == n_errors && !has_text(&method, "{{") {
            compile_check(fields, &method);
        } else {
            compile_patterns_alone(fields, &method);
        }
    }
    method
}

fn has_text(method: &GradingMethod, what: &str) -> bool {
    method.params.values().any(|value| value.to_string().contains(what))
}

/// Reports what only making the check finds out, such as a JSON Schema that is none, or code that is not there.
fn compile_check(fields: &MappingReader<'_>, method: &GradingMethod) {
    match CompiledCheck::compile(method) {
        Ok(CompiledCheck::External(check)) => {
            if let ExternalKind::JavaScript(CheckCode::File { path, .. })
            | ExternalKind::Python(CheckCode::File { path, .. }) = &check.kind
            {
                fields.cx.find(path, fields.span("value"));
            }
        }
        // What a file holds is not known yet either; code stays in its file.
        Err(BadCheck::Parameter { name, problem, .. })
            if method.params.contains_key(&name)
                && (ExternalCheck::is_named(method.entry.name) || !has_text(method, "file://")) =>
        {
            let param = method.entry.params.iter().find(|param| param.name == name);
            if let Some(pattern) = param.and_then(|param| find_linear_pattern(fields, method, param)) {
                report_bad_pattern(fields.cx, pattern.node, &pattern.text, problem);
                return;
            }
            let alias = param.and_then(|param| param.alias).filter(|alias| fields.has(alias));
            let written = alias.unwrap_or(&name);
            fields.cx.error(Code::BadValue, fields.span(written), format!("`{written}`: {problem}"));
        }
        // A parameter that is missing has been reported where it was read.
        Ok(CompiledCheck::Local(_) | CompiledCheck::MaxScore(_)) | Err(_) => {}
    }
}

/// Reports patterns that cannot be used in a check that is not compiled for another reason.
fn compile_patterns_alone(fields: &MappingReader<'_>, method: &GradingMethod) {
    for param in method.entry.params {
        if let Some(pattern) = find_linear_pattern(fields, method, param) {
            compile_counted_pattern(fields.cx, pattern.node, &pattern.text);
        }
    }
}

/// A pattern of a check, where it is written and as it is carried out.
struct WrittenPattern<'n> {
    node: &'n SourceNode,
    text: String,
}

/// The pattern that a parameter holds, unless the other engine compiles it, which takes more.
fn find_linear_pattern<'n>(
    fields: &MappingReader<'n>,
    method: &GradingMethod,
    param: &Param,
) -> Option<WrittenPattern<'n>> {
    let is_backtracking = method.params.get("engine").is_some_and(|engine| engine == "backtracking");
    if !matches!(param.kind, ParamKind::Pattern) || is_backtracking {
        return None;
    }
    let text = template::resolve_escapes(method.params.get(param.name)?.as_str()?);
    let alias = param.alias.filter(|alias| fields.has(alias));
    Some(WrittenPattern { node: fields.get(alias.unwrap_or(param.name))?, text })
}

/// Bounds without a bound check nothing.
fn is_bound(param: &Param) -> bool {
    !param.required && matches!(param.kind, ParamKind::Count | ParamKind::Amount | ParamKind::Fraction)
}

fn params(fields: &MappingReader<'_>, known: &'static [Param]) -> Map<String, Value> {
    let mut params = Map::new();
    for param in known {
        let node = match param.alias {
            Some(alias) => fields.any(&[param.name, alias]),
            None => fields.get(param.name),
        };
        match node {
            Some(node) => {
                let value = read_param_value(fields.cx, node, param.name, param.kind);
                params.extend(value.map(|value| (param.name.to_owned(), value)));
            }
            None if param.required => fields.missing(param.name),
            None => {}
        }
    }
    let bound = |key: &str| params.get(key).and_then(Value::as_f64);
    if let (Some(min), Some(max)) = (bound("min"), bound("max"))
        && max < min
    {
        fields.cx.error(Code::BadValue, fields.span("max"), format!("`max` ({max}) is under `min` ({min})"));
    }
    params
}

fn shape(cx: &Context<'_>, node: &SourceNode, known: &'static [Param]) -> Option<Value> {
    let fields = MappingReader::new(cx, node, "set of parameters")?;
    let params = params(&fields, known);
    fields.finish();
    Some(Value::Object(params))
}

fn read_param_value(cx: &Context<'_>, node: &SourceNode, name: &str, kind: ParamKind) -> Option<Value> {
    match kind {
        // Patterns are compiled with the check, as its engine and its flags say.
        ParamKind::Text | ParamKind::Pattern => cx.plain_text(node, name).map(Value::String),
        ParamKind::TextOrTexts => match &node.shape {
            NodeShape::List(_) => {
                let texts = some_list(cx, node, name)?.iter().filter_map(|node| cx.plain_text(node, name));
                Some(texts.map(Value::String).collect())
            }
            NodeShape::Map(_) => {
                cx.wrong_type(node, name, "text or a list of texts");
                None
            }
            NodeShape::Scalar(_) => cx.plain_text(node, name).map(Value::String),
        },
        ParamKind::Flags => flags(cx, node, name),
        ParamKind::Bool => cx.bool(node, name).map(Value::Bool),
        ParamKind::Number => cx.number_in(node, name, f64::MIN..=f64::MAX).and_then(json_number),
        ParamKind::Fraction => cx.number_in(node, name, 0.0..=1.0).and_then(json_number),
        ParamKind::Amount => cx.number_in(node, name, 0.0..=f64::MAX).and_then(json_number),
        ParamKind::Count => cx.integer(node, name, 0..=i64::MAX).map(Value::from),
        ParamKind::OneOf(words) => {
            let allowed: Vec<(&'static str, &'static str)> = words.iter().map(|&word| (word, word)).collect();
            cx.word(node, name, &allowed).map(Value::from)
        }
        ParamKind::Map => cx.entries(node, name).map(|_| cx.json(node)),
        ParamKind::List => some_list(cx, node, name).map(|_| cx.json(node)),
        ParamKind::Shape(known) => shape(cx, node, known),
        ParamKind::Each(known) => {
            Some(some_list(cx, node, name)?.iter().filter_map(|node| shape(cx, node, known)).collect())
        }
        ParamKind::OrShape(_, known) if node.map().is_some() => shape(cx, node, known),
        ParamKind::OrShape(kind, _) => read_param_value(cx, node, name, *kind),
        ParamKind::Any => Some(cx.json(node)),
    }
}

fn some_list<'n>(cx: &Context<'_>, node: &'n SourceNode, name: &str) -> Option<&'n [SourceNode]> {
    let items = cx.list(node, name)?;
    if items.is_empty() {
        cx.error(Code::Empty, node.span, format!("`{name}` lists nothing"));
        return None;
    }
    Some(items)
}

fn flags(cx: &Context<'_>, node: &SourceNode, name: &str) -> Option<Value> {
    let text = cx.plain_text(node, name)?;
    if let Some(wrong) = text.chars().find(|letter| !"dgimsuvy".contains(*letter)) {
        cx.report(
            Diagnostic::error(Code::BadValue, node.span, format!("`{wrong}` is not a flag of patterns"))
                .note("flags: i (any case), m (lines), s (dot matches line breaks), g, u, v, y, d"),
        );
        return None;
    }
    Some(Value::String(text))
}

/// A pattern that runs in linear time, or an error that says why it does not.
pub(super) fn compile_linear_pattern(cx: &Context<'_>, node: &SourceNode, text: &str) -> Option<Regex> {
    if !cx.spend_pattern_work(estimate_pattern_work(text), cx.head(node)) {
        return None;
    }
    compile_counted_pattern(cx, node, text)
}

/// The same for a pattern whose work has been counted.
fn compile_counted_pattern(cx: &Context<'_>, node: &SourceNode, text: &str) -> Option<Regex> {
    match regex::RegexBuilder::new(text).size_limit(1 << 20).build() {
        Ok(regex) => Some(regex),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            report_bad_pattern(cx, node, text, reason);
            None
        }
    }
}

fn report_bad_pattern(cx: &Context<'_>, node: &SourceNode, text: &str, reason: String) {
    let mut diagnostic =
        Diagnostic::error(Code::BadValue, cx.head(node), "this pattern cannot be used").label(reason);
    if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| text.contains(group)) {
        diagnostic = diagnostic
            .note("patterns run in linear time, so that none can hang")
            .note("`engine: backtracking` next to it allows look-around, within a number of steps");
    }
    cx.report(diagnostic);
}

/// Ids in use, and new ones that differ from them: `contains`, `contains-2`, ….
#[derive(Default)]
pub(super) struct CriterionIds {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl CriterionIds {
    pub(super) fn take(&mut self, id: &str) {
        self.taken.insert(id.to_owned());
    }

    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let next = self.next.entry(wanted.to_owned()).or_insert(1);
        loop {
            let id = if *next == 1 { wanted.to_owned() } else { format!("{wanted}-{next}") };
            *next += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}
