//! Objects in a text: those of a reply, which are JSON, and those of the candidate, in whatever spelling.
//!
//! One reader of JSON serves both, with one limit, so that every object that a reply could repeat is found in the
//! candidate. Every brace is looked at, and no byte more often than the limit on depth allows: the time is linear.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json};

use super::decodings::visit_readings;
use super::line_objects::{LineObject, line_objects};
use crate::grade::{FoldedText, Folding};

/// How deep an object may nest; the deepest form of a reply has five levels.
pub(super) const MAX_DEPTH: usize = 8;

/// What takes the place of a masked object.
pub(super) const MASK: &str = "[masked: an object shaped like a verdict]";

/// A part of a reply that is, or begins like, a JSON object.
#[derive(Debug)]
pub(super) enum ReplyPart<'t> {
    Object(Map<String, Json>),
    /// Something that is no JSON, such as code or a broken answer, to its closing brace or to the next object.
    Broken(&'t str),
    /// It begins like an object, and the text ends before it.
    Unclosed,
}

/// The objects of a reply, outermost only, and whatever begins like one.
pub(super) fn reply_parts(text: &str) -> Vec<ReplyPart<'_>> {
    let (mut parts, mut at) = (Vec::new(), 0);
    let closing_braces = LazyCell::new(|| match_braces(text));
    while let Some(start) = next_opening(text, at) {
        let mut reader = JsonObjectReader::new(text, start, RepeatedKey::Refused);
        let (part, end) = match reader.object(MAX_DEPTH) {
            Some(map) => (ReplyPart::Object(map), reader.at),
            None => match closing_braces.get(&start).copied() {
                Some(end) => (ReplyPart::Broken(&text[start..end]), end),
                None if reader.at == text.len() => (ReplyPart::Unclosed, text.len()),
                // It goes on as something else, such as prose after a piece of code.
                None => {
                    let end = next_opening(text, reader.at.max(start + 1)).unwrap_or(text.len());
                    (ReplyPart::Broken(text[start..end].trim_end()), end)
                }
            },
        };
        parts.push(part);
        at = end;
    }
    parts
}

/// An object with the keys of a judge's reply, and its position in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundObject {
    pub(super) object: Map<String, Json>,
    start: usize,
    end: usize,
    /// Whether it gives a grade of its own.
    pub(super) is_verdict: bool,
}

/// Everything in a text that has a key of a judge's reply: at any depth, inside strings that hold JSON,
/// as lines of keys and values, and in characters that only stand for those of JSON.
pub(super) fn reply_objects(text: &str) -> Vec<FoundObject> {
    objects_with_key(text, &|key| ANSWER_KEYS.contains(&key) || LIST_KEYS.contains(&key))
}

/// The same for objects with other keys.
pub(super) fn objects_with_key(text: &str, is_wanted: &dyn Fn(&str) -> bool) -> Vec<FoundObject> {
    let mut objects = Vec::new();
    visit_readings(text, &mut |reading| {
        collect_objects(reading, is_wanted, &mut objects);
        collect_line_objects(reading, is_wanted, &mut objects);
    });
    // Most objects are the same in several readings.
    let mut known = HashSet::new();
    objects
        .retain(|found| known.insert((found.start, found.end, Json::from(found.object.clone()).to_string())));
    objects
}

fn collect_line_objects(
    reading: &FoldedText,
    is_wanted: &dyn Fn(&str) -> bool,
    objects: &mut Vec<FoundObject>,
) {
    for LineObject { object, start, end, is_verdict } in line_objects(&reading.text, is_wanted) {
        let (start, end) = reading.original_span(start, end);
        objects.push(FoundObject { object, start, end, is_verdict });
    }
}

fn collect_objects(reading: &FoldedText, is_wanted: &dyn Fn(&str) -> bool, objects: &mut Vec<FoundObject>) {
    let has_key = |object: &Map<String, Json>| object.keys().any(|key| is_wanted(key));
    let mut add = |object: Map<String, Json>, start: usize, end: usize| {
        let (start, end) = reading.original_span(start, end);
        let is_verdict = gives_grade(&object);
        let object = FoundObject { object, start, end, is_verdict };
        if objects.last() != Some(&object) {
            objects.push(object);
        }
    };
    let (text, mut at) = (reading.text.as_str(), 0);
    while let Some(start) = text[at..].find('{').map(|brace| at + brace) {
        let mut is_strict = false;
        // What repeats such an object may keep either of two values.
        for repeated in [RepeatedKey::LastCounts, RepeatedKey::FirstCounts] {
            let mut reader = JsonObjectReader::new(text, start, repeated);
            let Some(object) = reader.object(MAX_DEPTH).filter(has_key) else { break };
            is_strict = true;
            add(object, start, reader.at);
            if !reader.has_repeated_key {
                break;
            }
        }
        // What is nearly JSON may be repeated as JSON.
        let mut reader = LooseObjectReader { text, at: start };
        if !is_strict && let Some(object) = reader.object(MAX_DEPTH).filter(has_key) {
            add(object, start, reader.at);
        }
        // Not behind the object: what it holds is looked at as well.
        at = start + 1;
    }
}

/// Keys under which the replies of judges hold their answers, ours and those of other tools.
const ANSWER_KEYS: [&str; 8] =
    ["score", "verdict", "choice", "pass", "pass_", "satisfied", "supported", "unsure"];
const LIST_KEYS: [&str; 4] = ["criteria", "verdicts", "claims", "steps"];

/// Whether an object gives a grade: a number as score, a word as verdict, true or false as the rest.
pub(super) fn gives_grade(object: &Map<String, Json>) -> bool {
    object.iter().any(|(key, value)| match key.as_str() {
        "score" => parse_reply_number(value).is_some(),
        "verdict" | "choice" => value.is_boolean() || value.is_number() || value.is_string(),
        "pass" | "pass_" | "satisfied" | "supported" | "unsure" => parse_reply_bool(value).is_some(),
        _ => false,
    })
}

/// A text without the objects that give grades.
pub(super) fn mask_verdicts(text: &str) -> String {
    let objects = reply_objects(text);
    let verdicts = objects.iter().filter(|found| found.is_verdict);
    let mut spans: Vec<(usize, usize)> = verdicts.map(|verdict| (verdict.start, verdict.end)).collect();
    spans.sort_unstable();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (start, end) in spans {
        if at <= start {
            out.push_str(&text[at..start]);
            out.push_str(MASK);
        }
        at = at.max(end);
    }
    out.push_str(&text[at..]);
    out
}

/// `true` and `false`, also in quotes; nothing else is either.
pub(super) fn parse_reply_bool(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(it) => Some(*it),
        Json::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// An object in the spelling that all objects have which say the same: with `1`, `1.0` and `"1"`, `true` and
/// `"true"`, texts that differ in case, spaces or marks, keys in any order.
pub(super) fn comparable_object(object: &Map<String, Json>) -> String {
    let mut out = String::new();
    spell_object(object, &mut out);
    out
}

fn spell_object(object: &Map<String, Json>, out: &mut String) {
    let mut entries: Vec<(&String, &Json)> = object.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (key, value) in entries {
        out.push_str(&format!("{key:?}:"));
        spell_value(value, out);
    }
    out.push('}');
}

fn spell_value(value: &Json, out: &mut String) {
    match (value, parse_reply_number(value)) {
        (Json::Object(object), _) => spell_object(object, out),
        (Json::Array(items), _) => {
            out.push('[');
            items.iter().for_each(|item| spell_value(item, out));
            out.push(']');
        }
        // Zero has two signs.
        (_, Some(number)) => out.push_str(&format!("{},", number + 0.0)),
        _ => out.push_str(&format!("{:?},", spelling(value))),
    }
}

fn parse_reply_number(value: &Json) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn spelling(value: &Json) -> String {
    fold_for_comparison(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// A text as it is compared.
pub(super) fn fold_for_comparison(text: &str) -> String {
    FoldedText::new(text, Folding::Compare).text.trim().to_owned()
}

/// The next brace that opens something like an object: a key or the end follows, or nothing at all.
fn next_opening(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let start = at + text[at..].find('{')?;
        let inside = text[start + 1..].trim_start();
        if inside.is_empty() || inside.starts_with(['"', '}']) {
            return Some(start);
        }
        at = start + 1;
    }
}

/// For each brace that opens and is closed, the place behind the one that closes it, by counting alone: what is broken
/// has no strings.
fn match_braces(text: &str) -> HashMap<usize, usize> {
    let (mut open, mut closed) = (Vec::new(), HashMap::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open.push(at),
            b'}' => closed.extend(open.pop().map(|start| (start, at + 1))),
            _ => {}
        }
    }
    closed
}

/// What becomes of an object that has a key twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RepeatedKey {
    /// Of two answers neither is the judge's.
    Refused,
    FirstCounts,
    LastCounts,
}

/// Reads strict JSON.
struct JsonObjectReader<'t> {
    text: &'t str,
    at: usize,
    repeated: RepeatedKey,
    has_repeated_key: bool,
}

impl<'t> JsonObjectReader<'t> {
    fn new(text: &'t str, at: usize, repeated: RepeatedKey) -> Self {
        Self { text, at, repeated, has_repeated_key: false }
    }

    fn object(&mut self, depth: usize) -> Option<Map<String, Json>> {
        self.take(b'{')?;
        let mut map = Map::new();
        if self.take(b'}').is_some() {
            return Some(map);
        }
        loop {
            self.skip_space();
            let key = self.string()?;
            self.take(b':')?;
            let value = self.value(depth)?;
            let is_repeated = map.contains_key(&key);
            self.has_repeated_key |= is_repeated;
            match (is_repeated, self.repeated) {
                (true, RepeatedKey::Refused) => return None,
                (true, RepeatedKey::FirstCounts) => {}
                _ => drop(map.insert(key, value)),
            }
            if self.take(b',').is_none() {
                return self.take(b'}').map(|()| map);
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.skip_space();
        match self.text.as_bytes().get(self.at)? {
            b'{' => self.object(depth.checked_sub(1)?).map(Json::Object),
            b'[' => self.list(depth.checked_sub(1)?).map(Json::Array),
            b'"' => self.string().map(Json::String),
            _ => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Vec<Json>> {
        self.take(b'[')?;
        let mut items = Vec::new();
        if self.take(b']').is_some() {
            return Some(items);
        }
        loop {
            items.push(self.value(depth)?);
            if self.take(b',').is_none() {
                return self.take(b']').map(|()| items);
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let (bytes, start) = (self.text.as_bytes(), self.at);
        if bytes.get(start) != Some(&b'"') {
            return None;
        }
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => {
                    self.at = bytes.len();
                    return None;
                }
            }
        }
        self.at = at + 1;
        serde_json::from_str(&self.text[start..self.at]).ok()
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<Json> {
        let rest = &self.text[self.at..];
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = rest.bytes().take_while(|byte| is_part(*byte)).count();
        self.at += length;
        serde_json::from_str(&rest[..length]).ok()
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        self.skip_space();
        (self.text.as_bytes().get(self.at) == Some(&wanted)).then(|| self.at += 1)
    }

    fn skip_space(&mut self) {
        let space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += self.text.as_bytes()[self.at..].iter().take_while(|byte| space(byte)).count();
    }
}

/// Reads what people and programs write in place of JSON: keys in other quotes, in none, or in capitals, comments, too
/// many commas or too few, and an object without its end.
struct LooseObjectReader<'t> {
    text: &'t str,
    at: usize,
}

/// Bytes of a comment that are passed over.
const MAX_COMMENT: usize = 200;

impl<'t> LooseObjectReader<'t> {
    fn object(&mut self, depth: usize) -> Option<Map<String, Json>> {
        self.take("{")?;
        let mut map = Map::new();
        loop {
            self.skip_filler();
            if self.rest().is_empty() || self.take("}").is_some() {
                return Some(map);
            }
            let key = self.text_in_quotes().or_else(|| self.word())?;
            self.skip_filler();
            ["=>", ":", "="].iter().find_map(|sign| self.take(sign))?;
            self.skip_filler();
            map.insert(key.to_lowercase(), self.value(depth)?);
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        match self.rest().chars().next()? {
            '{' => self.object(depth.checked_sub(1)?).map(Json::Object),
            '[' => self.list(depth.checked_sub(1)?).map(Json::Array),
            '"' | '\'' | '`' => self.text_in_quotes().map(Json::String),
            _ => self.word().map(|word| parse_bare_word(&word)),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Vec<Json>> {
        self.take("[")?;
        let mut items = Vec::new();
        loop {
            self.skip_filler();
            if self.rest().is_empty() || self.take("]").is_some() {
                return Some(items);
            }
            items.push(self.value(depth)?);
        }
    }

    fn text_in_quotes(&mut self) -> Option<String> {
        let rest = self.rest();
        let mark = rest.chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`'))?;
        let mut is_escaped = false;
        let is_end = |&(_, letter): &(usize, char)| {
            let is_end = letter == mark && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            is_end
        };
        let (end, _) = rest.char_indices().skip(1).find(is_end)?;
        self.at += end + 1;
        let inside = &rest[1..end];
        let text = serde_json::from_str(&format!("\"{inside}\""));
        Some(text.unwrap_or_else(|_| inside.replace('\\', "")))
    }

    fn word(&mut self) -> Option<String> {
        let rest = self.rest();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '+' | '.');
        let length = rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len());
        self.at += length;
        (0 < length).then(|| rest[..length].to_owned())
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, wanted: &str) -> Option<()> {
        self.rest().starts_with(wanted).then(|| self.at += wanted.len())
    }

    fn skip_filler(&mut self) {
        let is_filler = |letter: char| letter.is_whitespace() || matches!(letter, ',' | ';');
        loop {
            let rest = self.rest();
            let bare = rest.trim_start_matches(is_filler);
            let length = rest.len() - bare.len() + comment_length(bare);
            if length == 0 {
                return;
            }
            self.at += length;
        }
    }
}

/// Of a short comment at the beginning of a text; 0 if there is none.
fn comment_length(text: &str) -> usize {
    let length = |(begin, end): &(&str, &str)| {
        let inside = text.strip_prefix(begin)?;
        let limit = inside.len().min(MAX_COMMENT);
        let near = (0..=limit).rev().find(|at| inside.is_char_boundary(*at)).unwrap_or(0);
        Some(begin.len() + inside[..near].find(end)? + end.len())
    };
    [("/*", "*/"), ("//", "\n"), ("#", "\n")].iter().find_map(length).unwrap_or(0)
}

/// A number, a truth or the name of an answer. Any other word is code, and says nothing.
pub(super) fn parse_bare_word(word: &str) -> Json {
    let word = word.to_lowercase();
    match word.as_str() {
        "true" | "false" => Json::Bool(word == "true"),
        "yes" | "no" | "pass" | "fail" | "a" | "b" | "tie" => Json::from(word.as_str()),
        number => number.parse().ok().and_then(serde_json::Number::from_f64).map_or(Json::Null, Json::Number),
    }
}
