//! Ordered trees to YAML and JSON text.

use std::fmt::Write as _;

use super::node::Scalar;

/// A value to write; mappings keep the order they were built in.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// A mapping to which keys are added one after another.
    pub fn map() -> Self {
        Self::Map(Vec::new())
    }

    /// Adds a key to a mapping; does nothing to other values.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Self>) -> Self {
        if let Self::Map(entries) = &mut self {
            entries.push((key.to_owned(), value.into()));
        }
        self
    }

    /// Adds a key only if there is something to say.
    #[must_use]
    pub fn maybe(self, key: &str, value: Option<impl Into<Self>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a key only if it is not what a reader would assume anyway.
    #[must_use]
    pub fn unless<T: Copy + PartialEq + Into<Self>>(self, default: T, key: &str, value: T) -> Self {
        if value == default { self } else { self.with(key, value) }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
            Self::Bool(_) | Self::Number(_) | Self::Text(_) => false,
        }
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(it) = self { Some(it) } else { None }
    }
}

impl From<&str> for Tree {
    fn from(it: &str) -> Self {
        Self::Text(it.to_owned())
    }
}

impl From<String> for Tree {
    fn from(it: String) -> Self {
        Self::Text(it)
    }
}

impl From<&String> for Tree {
    fn from(it: &String) -> Self {
        Self::Text(it.clone())
    }
}

impl From<bool> for Tree {
    fn from(it: bool) -> Self {
        Self::Bool(it)
    }
}

impl From<f64> for Tree {
    fn from(it: f64) -> Self {
        Self::Number(it)
    }
}

impl From<u32> for Tree {
    fn from(it: u32) -> Self {
        Self::Number(f64::from(it))
    }
}

impl<T: Into<Self>> From<Vec<T>> for Tree {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl From<&serde_json::Value> for Tree {
    fn from(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Bool(*it),
            Value::Number(it) => Self::Number(it.as_f64().unwrap_or_default()),
            Value::String(it) => Self::Text(it.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                Self::Map(map.iter().map(|(key, value)| (key.clone(), value.into())).collect())
            }
        }
    }
}

/// The shortest text that reads back as the same number; whole numbers without a point.
pub(crate) fn format_number(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value}") }
}

/// Compact JSON, or indented by two blanks.
pub fn tree_to_json(tree: &Tree, indented: bool) -> String {
    let mut out = String::new();
    write_json_value(tree, indented.then_some(0), &mut out);
    out
}

fn write_json_value(tree: &Tree, indent: Option<usize>, out: &mut String) {
    match tree {
        Tree::Null => out.push_str("null"),
        Tree::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Tree::Number(it) => out.push_str(&format_number(*it)),
        Tree::Text(it) => out.push_str(&quote_json_text(it)),
        Tree::List(items) => {
            json_block('[', ']', items.iter(), indent, out, write_json_value);
        }
        Tree::Map(entries) => {
            json_block('{', '}', entries.iter(), indent, out, |(key, value), indent, out| {
                out.push_str(&quote_json_text(key));
                out.push_str(if indent.is_some() { ": " } else { ":" });
                write_json_value(value, indent, out);
            });
        }
    }
}

fn json_block<'a, T: 'a>(
    open: char,
    close: char,
    items: impl ExactSizeIterator<Item = &'a T>,
    indent: Option<usize>,
    out: &mut String,
    write: impl Fn(&'a T, Option<usize>, &mut String),
) {
    out.push(open);
    let (inner, n_items) = (indent.map(|indent| indent + 1), items.len());
    for (at, item) in items.enumerate() {
        if 0 < at {
            out.push(',');
        }
        new_line(inner, out);
        write(item, inner, out);
    }
    if 0 < n_items {
        new_line(indent, out);
    }
    out.push(close);
}

fn new_line(indent: Option<usize>, out: &mut String) {
    if let Some(indent) = indent {
        let _ = write!(out, "\n{:width$}", "", width = 2 * indent);
    }
}

fn quote_json_text(text: &str) -> String {
    let json = serde_json::to_string(text).expect("text always serialises");
    if !json.contains(is_hidden_steering) {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_hidden_steering(letter) {
            let _ = write!(out, "\\u{:04x}", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
    out
}

/// Whether a letter changes how others are shown without being seen: C1 controls, and marks of direction.
pub fn is_hidden_steering(letter: char) -> bool {
    matches!(
        letter,
        '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// YAML that a person would have written: plain words where they are safe, blocks for long text.
pub fn to_yaml(tree: &Tree) -> String {
    let mut out = String::new();
    write_yaml_block(tree, 0, &mut out);
    out
}

/// Writes a value that starts on a line of its own.
fn write_yaml_block(tree: &Tree, indent: usize, out: &mut String) {
    match tree {
        Tree::List(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "{:indent$}- ", "");
                write_yaml_item(item, indent + 2, out);
            }
        }
        Tree::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                let _ = write!(out, "{:indent$}", "");
                write_yaml_entry(key, value, indent, out);
            }
        }
        _ => {
            let _ = write!(out, "{:indent$}", "");
            scalar(tree, indent, out);
        }
    }
}

fn write_yaml_item(item: &Tree, indent: usize, out: &mut String) {
    match item {
        Tree::Map(entries) if !entries.is_empty() => {
            for (at, (key, value)) in entries.iter().enumerate() {
                if 0 < at {
                    let _ = write!(out, "{:indent$}", "");
                }
                write_yaml_entry(key, value, indent, out);
            }
        }
        Tree::List(items) if !items.is_empty() && !is_short_list(item) => {
            out.push('\n');
            write_yaml_block(item, indent, out);
        }
        _ => scalar(item, indent, out),
    }
}

fn write_yaml_entry(key: &str, value: &Tree, indent: usize, out: &mut String) {
    // Keys are text to every reader of ours, so points of a scale need no quotes.
    let is_integer = key.parse::<i64>().is_ok_and(|n| n.to_string() == key);
    out.push_str(&if is_integer { key.to_owned() } else { inline_text(key) });
    out.push(':');
    match value {
        Tree::List(items) if !items.is_empty() && !is_short_list(value) => {
            out.push('\n');
            write_yaml_block(value, indent + 2, out);
        }
        Tree::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            write_yaml_block(value, indent + 2, out);
        }
        _ => {
            out.push(' ');
            scalar(value, indent, out);
        }
    }
}

/// A list of a few short scalars reads best on one line.
fn is_short_list(tree: &Tree) -> bool {
    let Tree::List(items) = tree else { return false };
    let width: Option<usize> = items
        .iter()
        .map(|tree| match tree {
            Tree::Text(text) if !text.contains('\n') => Some(text.len() + 2),
            Tree::Bool(_) | Tree::Number(_) | Tree::Null => Some(6),
            Tree::Text(_) | Tree::List(_) | Tree::Map(_) => None,
        })
        .sum();
    width.is_some_and(|width| width <= 60)
}

fn scalar(tree: &Tree, indent: usize, out: &mut String) {
    match tree {
        Tree::Text(text) if is_block_text(text) => {
            let keep = match text.len() - text.trim_end_matches('\n').len() {
                0 => "-",
                1 => "",
                _ => "+",
            };
            let _ = writeln!(out, "|{keep}");
            for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                if line.is_empty() {
                    out.push('\n');
                } else {
                    let _ = writeln!(out, "{:width$}{line}", "", width = indent + 2);
                }
            }
            return;
        }
        Tree::List(items) if !items.is_empty() => {
            let items: Vec<String> = items.iter().map(inline).collect();
            let _ = write!(out, "[{}]", items.join(", "));
        }
        _ => out.push_str(&inline(tree)),
    }
    out.push('\n');
}

fn inline(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".to_owned(),
        Tree::Bool(it) => it.to_string(),
        Tree::Number(it) => format_number(*it),
        Tree::Text(it) => inline_text(it),
        Tree::List(_) => "[]".to_owned(),
        Tree::Map(_) => "{}".to_owned(),
    }
}

fn is_block_text(text: &str) -> bool {
    let printable = |letter: char| {
        letter == '\n'
            || !(letter.is_control()
                || is_hidden_steering(letter)
                || matches!(letter, '\u{feff}' | '\u{85}' | '\u{2028}' | '\u{2029}'))
    };
    text.contains('\n')
        && text.chars().all(printable)
        && !text.starts_with([' ', '\n', '\t'])
        && !text.trim_matches('\n').is_empty()
        && text.lines().all(|line| line.trim_end() == line)
}

fn inline_text(text: &str) -> String {
    let scalar = Scalar { text: text.to_owned(), plain: true };
    let means_something_else = scalar.is_null() || scalar.as_bool().is_some() || scalar.as_number().is_some();
    let safe_start =
        text.starts_with(|text: char| text.is_alphanumeric() || matches!(text, '/' | '(' | '_' | '.' | '$'));
    let safe_inside = text.chars().all(|letter| {
        !letter.is_control()
            && !is_hidden_steering(letter)
            && !matches!(
                letter,
                '#' | '['
                    | ']'
                    | '{'
                    | '}'
                    | ','
                    | '"'
                    | '\u{feff}'
                    | '\u{85}'
                    | '\u{2028}'
                    | '\u{2029}'
                    | '\u{fffe}'
                    | '\u{ffff}'
            )
    });
    let safe_colon = !text.contains(": ") && !text.ends_with(':');
    let safe_end = !text.ends_with(' ') && !text.starts_with("---") && !text.starts_with("...");
    // Older readers take these words for booleans; quotes keep everyone of one mind.
    let older_bool = matches!(text.to_ascii_lowercase().as_str(), "yes" | "no" | "on" | "off" | "y" | "n");
    if !means_something_else && safe_start && safe_inside && safe_colon && safe_end && !older_bool {
        text.to_owned()
    } else {
        quote_json_text(text)
    }
}
