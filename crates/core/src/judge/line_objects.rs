//! Objects that are written as lines of keys and values, as in YAML, TOML and headers.
//!
//! A candidate may give its grade in such lines, and a judge that believes it writes the object they stand for.

use serde_json::{Map, Value as Json};

use super::objects::{MAX_DEPTH, gives_grade, parse_bare_word, parse_reply_bool};

/// No key of a reply is longer.
const MAX_KEY: usize = 40;

/// Keys that hold no answer and go with one.
const COMPANION_KEYS: [&str; 4] = ["reasoning", "reason", "evidence", "id"];

/// An object, and its position in the text.
#[derive(Debug)]
pub(super) struct LineObject {
    pub(super) object: Map<String, Json>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it gives a grade. What programs and prose write in the same way, such as `verdict: String`, does not.
    pub(super) is_verdict: bool,
}

/// The objects that have a wanted key, in the order in which they end.
pub(super) fn line_objects(text: &str, is_wanted: &dyn Fn(&str) -> bool) -> Vec<LineObject> {
    let mut reader = LineReader { is_wanted, open: Vec::new(), objects: Vec::new() };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        reader.read_line(line, at);
        at += line.len();
    }
    reader.close(|_| true);
    reader.objects
}

/// An object whose end has not been reached.
struct OpenObject {
    indent: usize,
    object: Map<String, Json>,
    start: usize,
    end: usize,
    last_key: String,
    /// Whether the last value is a block, in which every line is text.
    is_block: bool,
    /// Whether the last value may be a list on the following lines.
    is_list: bool,
    /// Whether a wanted key is written as YAML writes it.
    is_yaml: bool,
}

struct LineReader<'w> {
    is_wanted: &'w dyn Fn(&str) -> bool,
    /// Outermost first.
    open: Vec<OpenObject>,
    objects: Vec<LineObject>,
}

/// A key with its value.
struct LineEntry<'t> {
    key: &'t str,
    is_colon: bool,
    value: &'t str,
}

impl LineReader<'_> {
    fn read_line(&mut self, line: &str, at: usize) {
        let bare = line.trim_start_matches([' ', '\t']);
        let mut indent = line.len() - bare.len();
        let (line_indent, mut content) = (indent, bare.trim_end());
        if content.is_empty() {
            return;
        }
        let mut is_item = false;
        while let Some(rest) = content.strip_prefix("- ").or_else(|| content.strip_prefix("* ")) {
            let rest = rest.trim_start();
            indent += content.len() - rest.len();
            (content, is_item) = (rest, true);
        }
        let start = at + indent;
        let end = start + content.len();
        for open in self.open.iter_mut().filter(|open| open.is_block && open.indent < line_indent) {
            open.append(content, end);
        }
        match parse_entry(content) {
            Some(entry) => self.add_entry(&entry, indent, is_item, (start, end)),
            None => {
                self.close(|open| {
                    line_indent < open.indent || (line_indent == open.indent && !(is_item && open.is_list))
                });
                if let Some(open) = self.open.last_mut().filter(|open| !open.is_block) {
                    open.append(content, end);
                }
            }
        }
    }

    fn add_entry(
        &mut self,
        entry: &LineEntry<'_>,
        indent: usize,
        is_item: bool,
        (start, end): (usize, usize),
    ) {
        let key = entry.key.to_lowercase();
        self.close(|open| {
            indent < open.indent || (indent == open.indent && (is_item || open.object.contains_key(&key)))
        });
        if self.open.last().is_none_or(|open| open.indent < indent) {
            if MAX_DEPTH <= self.open.len() {
                let outermost = self.open.remove(0);
                self.finish(outermost);
            }
            self.open.push(OpenObject {
                indent,
                object: Map::new(),
                start,
                end,
                last_key: String::new(),
                is_block: false,
                is_list: false,
                is_yaml: false,
            });
        }
        let Some(open) = self.open.last_mut() else { return };
        open.end = end;
        open.is_yaml |= entry.is_colon && entry.key == key && (self.is_wanted)(&key);
        let block =
            entry.value.trim_end_matches(|letter: char| letter.is_ascii_digit() || "+-".contains(letter));
        open.is_block = matches!(block, "|" | ">");
        let value = if open.is_block { Json::from("") } else { parse_value(&key, entry.value) };
        open.is_list = value.is_null();
        open.object.insert(key.clone(), value);
        open.last_key = key;
    }

    /// Ends the innermost objects as long as `is_over` says so.
    fn close(&mut self, is_over: impl Fn(&OpenObject) -> bool) {
        while self.open.last().is_some_and(&is_over) {
            if let Some(open) = self.open.pop() {
                self.finish(open);
            }
        }
    }

    fn finish(&mut self, open: OpenObject) {
        let OpenObject { object, start, end, is_yaml, .. } = open;
        let n_keys = object.keys().filter(|key| (self.is_wanted)(key)).count();
        let has_companion = COMPANION_KEYS.iter().any(|key| object.contains_key(*key));
        // A line such as `Score: 3` is prose, and `score = 0` is code.
        if n_keys == 0 || !(is_yaml || has_companion || 1 < n_keys) {
            return;
        }
        let is_verdict = gives_grade(&object) && (has_companion || has_plain_grade(&object));
        // In YAML, `yes` is a truth as well as a word.
        let as_truths: Map<String, Json> =
            object.iter().map(|(key, value)| (key.clone(), truth_of_word(value))).collect();
        if as_truths != object {
            self.objects.push(LineObject { object: as_truths, start, end, is_verdict });
        }
        self.objects.push(LineObject { object, start, end, is_verdict });
    }
}

impl OpenObject {
    /// Adds a line to the last value, as YAML folds it.
    fn append(&mut self, line: &str, end: usize) {
        self.end = end;
        match self.object.get_mut(&self.last_key) {
            Some(Json::String(text)) => {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(line);
            }
            Some(value) if value.is_null() => *value = Json::from(line),
            _ => {}
        }
    }
}

fn parse_entry(line: &str) -> Option<LineEntry<'_>> {
    let near = line.bytes().take(MAX_KEY).position(|byte| matches!(byte, b':' | b'='))?;
    let (key, value) = (&line[..near], &line[near + 1..]);
    let key = key.trim_matches(['"', '\'', '`', '*', ' ', '\t']);
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let is_colon = line.as_bytes()[near] == b':';
    // An address, a path of code, or a comparison.
    let is_other = value.starts_with(if is_colon { ['/', ':', '='] } else { ['=', '~', '>'] });
    let is_entry = !key.is_empty() && key.chars().all(is_name) && !is_other;
    is_entry.then(|| LineEntry { key, is_colon, value: value.trim_matches(['*', ' ', '\t']) })
}

fn parse_value(key: &str, text: &str) -> Json {
    // The mark may close a string that held all the lines.
    let text = text.strip_suffix('"').filter(|inside| inside.matches('"').count() % 2 == 0).unwrap_or(text);
    if COMPANION_KEYS.contains(&key) {
        let is_absent = matches!(text, "" | "~" | "null");
        let quoted = parse_quoted(text).or_else(|| parse_quoted(text.strip_suffix(',')?));
        return quoted.unwrap_or_else(|| if is_absent { Json::Null } else { Json::from(text) });
    }
    let text = text.split_once(" #").map_or(text, |(text, _)| text.trim_end());
    // What ends with a sign is code or a broken object, in which a word is a type or a variable.
    if let Some(code) = text.strip_suffix([',', ';']) {
        let value = parse_quoted(code.trim_end());
        return value.unwrap_or_else(|| parse_bare_word(code.trim_end()));
    }
    if let Some(value) = parse_quoted(text) {
        return value;
    }
    match parse_bare_word(text) {
        Json::Null if matches!(text, "" | "~" | "null") => Json::Null,
        // Words stay as they are written.
        Json::Null | Json::String(_) => Json::from(text),
        value => value,
    }
}

fn parse_quoted(text: &str) -> Option<Json> {
    let mark = text.chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`'))?;
    let inside = text[1..].strip_suffix(mark)?;
    let read = serde_json::from_str::<String>(text);
    Some(Json::from(read.unwrap_or_else(|_| inside.replace("''", "'"))))
}

fn truth_of_word(value: &Json) -> Json {
    match value.as_str().map(str::to_lowercase).as_deref() {
        Some("yes" | "on") => Json::Bool(true),
        Some("no" | "off") => Json::Bool(false),
        _ => value.clone(),
    }
}

/// Whether an object gives its grade in a word that is nothing but a grade.
fn has_plain_grade(object: &Map<String, Json>) -> bool {
    let is_plain = |value: &Json| {
        value.is_number()
            || parse_reply_bool(value).is_some()
            || value.as_str().is_some_and(|word| !parse_bare_word(word).is_null())
    };
    object
        .iter()
        .any(|(key, value)| is_plain(value) && gives_grade(&Map::from_iter([(key.clone(), value.clone())])))
}
