//! Mappings, key by key: keys that the reader does not ask for are unknown, and those that it asks for are suggested.

use std::cell::RefCell;

use super::context::Context;
use crate::diagnostic::{Code, Diagnostic, closest};
use crate::source::{NodeEntry, SourceNode, SourceSpan};

/// A mapping, read key by key. A key that no reader asks for is unknown.
pub(super) struct MappingReader<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) node: &'a SourceNode,
    /// What kind of thing this is, for messages.
    pub(super) what: &'static str,
    entries: &'a [NodeEntry],
    known: RefCell<Vec<&'static str>>,
    /// Keys outside of the known list that a reader used, so that they are not reported as unknown.
    taken: RefCell<Vec<String>>,
    /// Keys whose value is a name, for which `null` is as good as any.
    names: RefCell<Vec<&'static str>>,
    /// Keys of another tool that readers for both ask for; they are not offered.
    refused: RefCell<Vec<String>>,
    /// What is missing under these keys, unless one of them turns out to be there, misspelt.
    missing: RefCell<Vec<(Vec<&'static str>, Diagnostic)>>,
}

/// Missing keys are reported at the end, when it is known which keys no reader asks for.
impl Drop for MappingReader<'_> {
    fn drop(&mut self) {
        for (_, diagnostic) in self.missing.take() {
            self.cx.report(diagnostic);
        }
    }
}

impl<'a> MappingReader<'a> {
    pub(super) fn new(cx: &'a Context<'a>, node: &'a SourceNode, what: &'static str) -> Option<Self> {
        let Some(entries) = node.map() else {
            cx.report(
                Diagnostic::error(
                    Code::WrongType,
                    cx.head(node),
                    format!("{} must be a mapping of keys to values", with_article(what)),
                )
                .label(format!("this is {}", node.describe())),
            );
            return None;
        };
        Some(Self {
            cx,
            node,
            what,
            entries,
            known: RefCell::default(),
            taken: RefCell::default(),
            missing: RefCell::default(),
            names: RefCell::default(),
            refused: RefCell::default(),
        })
    }

    /// The value of a key, if it is there and not null.
    pub(super) fn get(&self, key: &'static str) -> Option<&'a SourceNode> {
        self.raw(key).filter(|node| !node.is_null())
    }

    /// The value of a key, null or not.
    pub(super) fn raw(&self, key: &'static str) -> Option<&'a SourceNode> {
        self.known.borrow_mut().push(key);
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The value of a key that is not offered to anybody, such as one that is refused.
    pub(super) fn peek(&self, key: &str) -> Option<&'a SourceNode> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The value of a key that has several spellings; two of them at once are an error.
    pub(super) fn any(&self, keys: &[&'static str]) -> Option<&'a SourceNode> {
        let mut hits = keys.iter().filter_map(|key| self.get(key).map(|node| (key, node)));
        let (first, node) = hits.next()?;
        for (key, _) in hits {
            self.cx.report(
                Diagnostic::error(
                    Code::Conflict,
                    self.key_span(key),
                    format!("`{first}` and `{key}` are two names for one thing"),
                )
                .also(self.key_span(first), "first given here")
                .help("keep one of them"),
            );
        }
        Some(node)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    pub(super) fn key_span(&self, key: &str) -> SourceSpan {
        let entry = self.entries.iter().find(|entry| entry.key == key);
        entry.map_or_else(|| self.start(), |entry| entry.key_span)
    }

    /// The span of a key's value, or of the key, or of the start of the mapping.
    pub(super) fn span(&self, key: &str) -> SourceSpan {
        match self.entries.iter().find(|entry| entry.key == key) {
            Some(entry) if entry.value.scalar().is_some() && !entry.value.is_null() => {
                self.cx.head(&entry.value)
            }
            Some(entry) => entry.key_span,
            None => self.start(),
        }
    }

    /// Where the mapping begins: its first key.
    pub(super) fn start(&self) -> SourceSpan {
        self.entries.first().map_or(self.node.span, |entry| entry.key_span)
    }

    /// The value of a key that must be there.
    pub(super) fn need(&self, key: &'static str) -> Option<&'a SourceNode> {
        let node = self.get(key);
        if node.is_none() {
            self.missing(key);
        }
        node
    }

    pub(super) fn missing(&self, key: &'static str) {
        self.missing_with(key, |diagnostic| diagnostic);
    }

    /// Reports that a key is missing, with more to say about it.
    pub(super) fn missing_with(&self, key: &'static str, explain: impl FnOnce(Diagnostic) -> Diagnostic) {
        let value = self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
        let is_empty = |node: &SourceNode| node.is_null() || node.text() == Some("");
        let (span, message) = match value {
            None => (self.start(), format!("{} needs `{key}`", with_article(self.what))),
            Some(value) if is_empty(value) => {
                (self.key_span(key), format!("`{key}` is there, but has no value"))
            }
            // A value that could not be read has been reported as such.
            Some(_) => return,
        };
        self.lacks(&[key], explain(Diagnostic::error(Code::MissingKey, span, message)));
    }

    /// Reports that all of `keys` are missing, unless one of them is there in a misspelling.
    pub(super) fn lacks(&self, keys: &[&'static str], diagnostic: Diagnostic) {
        self.missing.borrow_mut().push((keys.to_vec(), diagnostic));
    }

    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        self.get(key).and_then(|node| self.cx.plain_text(node, key))
    }

    /// Like [`Self::text`]; `file://…` is replaced by the contents of the file.
    pub(super) fn text_or_file(&self, key: &'static str) -> Option<String> {
        self.get(key).and_then(|node| self.cx.text(node, key))
    }

    /// Like [`Self::text_or_file`], for a text in which rows fill in names.
    pub(super) fn template(&self, key: &'static str) -> Option<String> {
        self.get(key).and_then(|node| self.cx.template(node, key))
    }

    /// A name stays the text it was written as, even `null` and `1.10`.
    pub(super) fn name(&self, key: &'static str) -> Option<String> {
        self.names.borrow_mut().push(key);
        let node = self.raw(key)?;
        match node.scalar() {
            Some(it) if it.text.is_empty() || it.text == "~" && it.plain => None,
            Some(it) => Some(self.cx.expand(&it.text, node.span)),
            None => {
                self.cx.wrong_type(node, key, "text");
                None
            }
        }
    }

    pub(super) fn number(&self, key: &'static str) -> Option<f64> {
        self.get(key).and_then(|node| self.cx.number(node, key))
    }

    pub(super) fn number_in(&self, key: &'static str, range: std::ops::RangeInclusive<f64>) -> Option<f64> {
        self.get(key).and_then(|node| self.cx.number_in(node, key, range))
    }

    pub(super) fn integer(&self, key: &'static str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        self.get(key).and_then(|node| self.cx.integer(node, key, range))
    }

    pub(super) fn bool(&self, key: &'static str) -> Option<bool> {
        self.get(key).and_then(|node| self.cx.bool(node, key))
    }

    pub(super) fn list(&self, key: &'static str) -> Option<&'a [SourceNode]> {
        self.get(key).and_then(|node| self.cx.list(node, key))
    }

    /// Whether a key is there with a list of nothing.
    pub(super) fn list_is_empty(&self, key: &'static str) -> bool {
        self.get(key).and_then(SourceNode::list).is_some_and(<[SourceNode]>::is_empty)
    }

    pub(super) fn map(&self, key: &'static str) -> Option<&'a [NodeEntry]> {
        self.get(key).and_then(|node| self.cx.entries(node, key))
    }

    pub(super) fn texts(&self, key: &'static str) -> Vec<String> {
        self.get(key).map(|node| self.cx.texts(node, key)).unwrap_or_default()
    }

    /// Like [`Self::texts`], for texts in which rows fill in names.
    pub(super) fn templates(&self, key: &'static str) -> Vec<String> {
        self.get(key).map(|node| self.cx.templates(node, key)).unwrap_or_default()
    }

    /// What the files hold that a key lists.
    pub(super) fn texts_of(&self, key: &'static str) -> Vec<String> {
        let files = self.list(key).unwrap_or_default().iter().filter_map(|node| {
            let path = self.cx.path(node, key)?;
            self.cx.find(&path, node.span)
        });
        files.map(|file| self.cx.escape_file(&self.cx.text_of(file))).collect()
    }

    pub(super) fn word<T: Copy>(&self, key: &'static str, allowed: &[(&'static str, T)]) -> Option<T> {
        self.get(key).and_then(|node| self.cx.word(node, key, allowed))
    }

    pub(super) fn json_map(&self, key: &'static str) -> serde_json::Map<String, serde_json::Value> {
        let Some(node) = self.get(key) else { return serde_json::Map::new() };
        match self.cx.json(node) {
            serde_json::Value::Object(map) => map,
            _ => {
                self.cx.wrong_type(node, key, "a mapping");
                serde_json::Map::new()
            }
        }
    }

    /// A mapping in which nothing is filled in yet: it may hold secrets.
    pub(super) fn raw_json_map(&self, key: &'static str) -> serde_json::Map<String, serde_json::Value> {
        match self.get(key).map(SourceNode::to_json) {
            Some(serde_json::Value::Object(map)) => map,
            Some(_) => {
                self.map(key);
                serde_json::Map::new()
            }
            None => serde_json::Map::new(),
        }
    }

    pub(super) fn fields(&self, key: &'static str, what: &'static str) -> Option<MappingReader<'a>> {
        self.get(key).and_then(|node| MappingReader::new(self.cx, node, what))
    }

    /// Two keys that exclude each other.
    pub(super) fn exclusive(&self, first: &'static str, second: &'static str, why: &str) {
        if self.has(first) && self.has(second) {
            self.knows(&[first, second]);
            self.cx.report(
                Diagnostic::error(
                    Code::Conflict,
                    self.key_span(second),
                    format!("`{first}` and `{second}` exclude each other"),
                )
                .label(why)
                .also(self.key_span(first), "given here")
                .help("keep one of them"),
            );
        }
    }

    /// Keys that exist elsewhere and change what is graded: leaving them out would change the verdict.
    pub(super) fn refuses(&self, keys: &[&str]) {
        for key in keys.iter().filter(|key| self.takes(key)) {
            self.cx.report(
                Diagnostic::error(Code::Unsupported, self.key_span(key), format!("`{key}` is not supported"))
                    .note("it changes what is graded, so leaving it out would change the verdict"),
            );
        }
    }

    /// A key that changes what is graded, with what the other tool does and what can be done instead.
    pub(super) fn refuses_with(&self, key: &str, note: &str, help: &str) {
        self.refused.borrow_mut().push(key.to_owned());
        if self.takes(key) {
            let message = format!("`{key}` is not supported");
            let diagnostic = Diagnostic::error(Code::Unsupported, self.key_span(key), message);
            self.cx.report(diagnostic.note(note).help(help));
        }
    }

    /// Keys that only steer another tool.
    pub(super) fn ignores(&self, keys: &[&str]) {
        for key in keys.iter().filter(|key| self.takes(key)) {
            let message = format!("`{key}` has no effect here");
            self.cx.report(Diagnostic::warning(Code::NoEffect, self.key_span(key), message));
        }
    }

    /// Whether a key is there that is understood and not offered; it counts as read.
    pub(super) fn takes(&self, key: &str) -> bool {
        let there = self.has(key);
        if there {
            self.taken.borrow_mut().push(key.to_owned());
        }
        there
    }

    /// Keys that begin so are the author's own business.
    pub(super) fn takes_prefix(&self, prefix: &str) {
        let own =
            self.entries.iter().filter(|entry| entry.key.starts_with(prefix)).map(|entry| entry.key.clone());
        self.taken.borrow_mut().extend(own);
    }

    /// The entries under keys that are not in `known`; they count as read.
    pub(super) fn others(&self, known: &[&str]) -> Vec<&'a NodeEntry> {
        let others: Vec<&NodeEntry> =
            self.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())).collect();
        self.taken.borrow_mut().extend(others.iter().map(|entry| entry.key.clone()));
        others
    }

    /// Says that a key is accepted without reading it here.
    pub(super) fn knows(&self, keys: &[&'static str]) {
        self.known.borrow_mut().extend(keys);
    }

    /// Unknown keys only get a warning: the tool that the file is for ignores them silently.
    pub(super) fn ignores_others(&self) {
        let known = self.known.borrow().clone();
        let taken = self.taken.borrow().clone();
        let unread = |entry: &&NodeEntry| !known.contains(&entry.key.as_str()) && !taken.contains(&entry.key);
        let others: Vec<&str> = self.entries.iter().filter(unread).map(|entry| entry.key.as_str()).collect();
        self.ignores(&others);
    }

    /// Every key that no reader asked for is an error.
    pub(super) fn finish(self) {
        let (known, taken, refused) = (self.known.take(), self.taken.take(), self.refused.take());
        let unread = |entry: &&NodeEntry| !known.contains(&entry.key.as_str()) && !taken.contains(&entry.key);
        let unknown: Vec<&NodeEntry> = self.entries.iter().filter(unread).collect();
        // A second key of the same name would be the next error.
        let is_offered = |key: &&str| !refused.iter().any(|other| other == *key);
        let offered: Vec<&str> = known.iter().copied().filter(is_offered).collect();
        let absent: Vec<&str> = offered.iter().copied().filter(|key| !self.has(key)).collect();
        let names_of_keys = unique(&offered);
        for (n_before, entry) in unknown.iter().enumerate() {
            let meant = if n_before < MAX_COMPARED { closest_known_key(&entry.key, &absent) } else { None };
            let diagnostic =
                Diagnostic::error(Code::UnknownKey, entry.key_span, format!("unknown key `{}`", entry.key))
                    .label(format!("not a key of {}", with_article(self.what)))
                    .offer(meant, &names_of_keys, "known keys");
            self.cx.report(match find_home_of_key(self.what, &entry.key) {
                Some(home) => diagnostic.help(home),
                None => diagnostic,
            });
        }
        // Nothing behind a colon is a slip, not a way to say "the default".
        let names = self.names.take();
        let is_idle = |entry: &&NodeEntry| {
            let is_name = names.contains(&entry.key.as_str())
                && entry.value.text_or_null().is_some_and(|text| 1 < text.len());
            entry.value.is_null() && !is_name && known.contains(&entry.key.as_str())
        };
        for entry in self.entries.iter().filter(is_idle) {
            let message = format!("`{}` is there, but has no value", entry.key);
            self.cx.report(
                Diagnostic::error(Code::MissingKey, entry.key_span, message)
                    .help("give it a value, or remove it"),
            );
        }
        let misspelt = |keys: &[&str]| {
            unknown.iter().take(MAX_COMPARED).any(|entry| closest_known_key(&entry.key, keys).is_some())
        };
        self.missing.borrow_mut().retain(|(keys, _)| !misspelt(keys));
        #[cfg(test)]
        self.cx.asked.borrow_mut().entry(self.what).or_default().extend(known);
    }
}

/// Unknown keys of one mapping that are compared with the known ones. A comparison takes microseconds, which for the
/// hundred thousands of keys of a hostile file are minutes.
const MAX_COMPARED: usize = 1_000;

/// Where a key belongs that is unknown in `what`.
fn find_home_of_key(what: &str, written: &str) -> Option<&'static str> {
    (what == "rubric" && written == "judge").then_some(
        "`judge` is a key of a suite (with the rubric under `rubrics`), of an eval, and of `.jurist/config.yaml`",
    )
}

/// Words that other tools use for a key.
const SYNONYMS: [(&str, &str); 16] = [
    ("id", "name"),
    ("title", "name"),
    ("question", "ask"),
    ("text", "description"),
    ("outcome", "description"),
    ("requirement", "description"),
    ("anchors", "examples"),
    ("scale_descriptions", "levels"),
    ("score_ranges", "scale"),
    ("pass_threshold", "threshold"),
    ("pass_mark", "threshold"),
    ("output", "response"),
    ("answer", "response"),
    ("question", "prompt"),
    ("assert", "checks"),
    ("aggregate", "aggregation"),
];

/// The known key that was probably meant: a typing error, or the word of another tool.
fn closest_known_key<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    let synonym = SYNONYMS
        .iter()
        .filter(|synonym| synonym.0 == written)
        .find_map(|synonym| known.iter().find(|key| **key == synonym.1));
    synonym.copied().or_else(|| closest(written, known))
}

/// Offers one of the known names that the mapping of `entry` does not have yet, or lists what there is.
pub(super) fn suggest_absent_name<'k>(
    diagnostic: Diagnostic,
    entry: &NodeEntry,
    mapping: &[NodeEntry],
    known: impl IntoIterator<Item = &'k str>,
    what: &str,
) -> Diagnostic {
    let known: Vec<&str> = known.into_iter().collect();
    let is_absent = |name: &&str| !mapping.iter().any(|other| other.key == *name);
    let absent: Vec<&str> = known.iter().copied().filter(is_absent).collect();
    diagnostic.offer(closest(&entry.key, &absent), &known, what)
}

/// “a rubric”, “an eval”.
fn with_article(what: &str) -> String {
    let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {what}")
}

fn unique<'k>(keys: &[&'k str]) -> Vec<&'k str> {
    let mut seen = Vec::with_capacity(keys.len());
    for key in keys {
        if !seen.contains(key) {
            seen.push(*key);
        }
    }
    seen
}
