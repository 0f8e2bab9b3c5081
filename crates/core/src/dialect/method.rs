//! Checks and recipes as files write them: a name, and parameters beside it.

use std::collections::{HashMap, HashSet};

use regex::Regex;
use serde_json::{Map, Value};

use super::read::{Context, Fields};
use crate::catalogue::{Entry, Kind, Method, Param};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Node, Shape, json_number};

/// Reads the parameters of `entry` from a mapping.
pub(super) fn method(fields: &Fields<'_>, entry: &'static Entry) -> Method {
    let mut params = Map::new();
    for param in entry.params {
        let node = match param.alias {
            Some(alias) => fields.any(&[param.name, alias]),
            None => fields.get(param.name),
        };
        match node {
            Some(node) => {
                if let Some(value) = value(fields.cx, node, param) {
                    params.insert(param.name.to_owned(), value);
                }
            }
            None if param.required => fields.missing(param.name),
            None => {}
        }
    }
    Method { entry, params }
}

fn value(cx: &Context<'_>, node: &Node, param: &Param) -> Option<Value> {
    let name = param.name;
    match param.kind {
        Kind::Text => cx.plain_text(node, name).map(Value::String),
        Kind::TextOrTexts => match &node.shape {
            Shape::List(items) if items.is_empty() => {
                cx.error(Code::Empty, node.span, format!("`{name}` lists nothing"));
                None
            }
            Shape::List(items) => Some(texts(cx, items, name)),
            _ => cx.plain_text(node, name).map(Value::String),
        },
        Kind::Pattern => {
            let text = cx.plain_text(node, name)?;
            pattern(cx, node, &text)?;
            Some(Value::String(text))
        }
        Kind::Bool => cx.bool(node, name).map(Value::Bool),
        Kind::Number => cx.number(node, name).and_then(json_number),
        Kind::Fraction => cx.number_in(node, name, 0.0..=1.0).and_then(json_number),
        Kind::Amount => cx.number_in(node, name, 0.0..=f64::MAX).and_then(json_number),
        Kind::Count => cx.integer(node, name, 0..=i64::MAX).map(Value::from),
        Kind::OneOf(words) => {
            let allowed: Vec<(&'static str, &'static str)> = words.iter().map(|&it| (it, it)).collect();
            cx.word(node, name, &allowed).map(Value::from)
        }
        Kind::Map => cx.entries(node, name).map(|_| cx.json(node)),
        Kind::List => cx.list(node, name).map(|_| cx.json(node)),
        Kind::Any => Some(cx.json(node)),
    }
}

fn texts(cx: &Context<'_>, items: &[Node], name: &str) -> Value {
    items.iter().filter_map(|it| cx.plain_text(it, name)).map(Value::String).collect()
}

/// A pattern that runs in linear time, or an error that says why it does not.
pub(super) fn pattern(cx: &Context<'_>, node: &Node, text: &str) -> Option<Regex> {
    match regex::RegexBuilder::new(text).size_limit(1 << 20).build() {
        Ok(regex) => Some(regex),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let mut diagnostic =
                Diagnostic::error(Code::BadValue, cx.head(node), "this is not a pattern").label(reason);
            if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|it| text.contains(it)) {
                diagnostic = diagnostic
                    .note("look-around is not supported: patterns run in linear time, so that none can hang");
            }
            cx.report(diagnostic);
            None
        }
    }
}

/// Ids in use, and new ones beside them: `contains`, `contains-2`, ….
#[derive(Default)]
pub(super) struct Ids {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Ids {
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
