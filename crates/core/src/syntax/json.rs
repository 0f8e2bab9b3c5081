//! JSON.
//!
//! `serde_json` keeps no places, and YAML readers do not join `\ud83d\ude00`, so JSON has its own reader.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::MAX_DEPTH;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, NodeEntry, NodeShape, Scalar, SourceNode, SourceSpan};

pub(super) fn parse_json(text: &str, file: FileId, found: &mut Diagnostics) -> Option<SourceNode> {
    let mut reader = JsonReader { bytes: text.as_bytes(), text, at: 0, file, found };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let node = reader.value(0)?;
    reader.blank();
    if reader.at < text.len() {
        return reader.fail("there is more text after the end of the value");
    }
    Some(node)
}

struct JsonReader<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    file: FileId,
    found: &'a mut Diagnostics,
}

impl JsonReader<'_> {
    fn value(&mut self, depth: usize) -> Option<SourceNode> {
        self.blank();
        let start = self.at;
        let shape = match self.peek() {
            Some(b'{' | b'[') if MAX_DEPTH <= depth => {
                self.found.push(
                    Diagnostic::error(Code::TooDeep, self.here(), "lists and mappings nest too deeply")
                        .note(format!("{MAX_DEPTH} levels are read")),
                );
                return None;
            }
            Some(b'{') => NodeShape::Map(self.object(depth)?),
            Some(b'[') => NodeShape::List(self.array(depth)?),
            Some(b'"') => NodeShape::Scalar(Scalar { text: self.string()?, plain: false }),
            Some(_) => NodeShape::Scalar(Scalar { text: self.word()?, plain: true }),
            None => return self.fail("the file ends where a value is expected"),
        };
        Some(SourceNode { span: self.span(start), shape })
    }

    fn object(&mut self, depth: usize) -> Option<Vec<NodeEntry>> {
        let (mut entries, mut keys) = (Vec::<NodeEntry>::new(), HashMap::new());
        self.at += 1;
        self.blank();
        if self.eat(b'}') {
            return Some(entries);
        }
        loop {
            self.blank();
            let start = self.at;
            match self.peek() {
                Some(b'"') => {}
                Some(b'}') => return self.fail("there is a comma before this closing bracket"),
                Some(b'/') => return self.fail("JSON has no comments"),
                None => return self.fail("the file ends inside an object"),
                Some(_) => return self.fail("a key in double quotes is missing here"),
            }
            let key = self.string()?;
            let key_span = self.span(start);
            self.blank();
            if !self.eat(b':') {
                return self.fail("a `:` is missing here");
            }
            let value = self.value(depth + 1)?;
            match keys.entry(key.clone()) {
                Entry::Vacant(vacant) => {
                    vacant.insert(key_span);
                    entries.push(NodeEntry { key, key_span, value });
                }
                Entry::Occupied(first) => {
                    let diagnostic =
                        Diagnostic::error(Code::DuplicateKey, key_span, format!("`{key}` is given twice"))
                            .label("given again here")
                            .help("keep one of them")
                            .also(*first.get(), "first given here");
                    self.found.push(diagnostic);
                }
            }
            self.blank();
            if self.eat(b'}') {
                return Some(entries);
            }
            if !self.eat(b',') {
                return self.fail(if self.peek().is_none() {
                    "the file ends inside an object"
                } else {
                    "a `,` or `}` is missing here"
                });
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Vec<SourceNode>> {
        let mut items = Vec::new();
        self.at += 1;
        self.blank();
        if self.eat(b']') {
            return Some(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blank();
            if self.eat(b']') {
                return Some(items);
            }
            if !self.eat(b',') {
                return self.fail(if self.peek().is_none() {
                    "the file ends inside a list"
                } else {
                    "a `,` or `]` is missing here"
                });
            }
        }
    }

    /// `serde_json` knows the escapes; only the end of the string is found here.
    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => {
                    self.at = start;
                    return self.fail("this text has no closing quote");
                }
            }
        }
        self.at += 1;
        match serde_json::from_str(&self.text[start..self.at]) {
            Ok(text) => Some(text),
            Err(_) => {
                self.at = start;
                self.fail("this text holds a control character or an escape that JSON does not know")
            }
        }
    }

    fn word(&mut self) -> Option<String> {
        let rest = &self.bytes[self.at..];
        let len =
            rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
        let word = &self.text[self.at..self.at + len];
        if serde_json::from_str::<serde_json::Value>(word).is_err() {
            return self
                .fail("a value is text in double quotes, a number, true, false, null, [list] or {object}");
        }
        self.at += len;
        Some(word.to_owned())
    }

    fn blank(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let hit = self.peek() == Some(byte);
        self.at += usize::from(hit);
        hit
    }

    fn span(&self, start: usize) -> SourceSpan {
        SourceSpan { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn here(&self) -> SourceSpan {
        let len = self.text.get(self.at..).and_then(|text| text.chars().next()).map_or(0, char::len_utf8);
        SourceSpan { file: self.file, start: self.at as u32, end: (self.at + len) as u32 }
    }

    fn fail<T>(&mut self, message: &str) -> Option<T> {
        self.found.push(Diagnostic::error(Code::Syntax, self.here(), format!("not valid JSON: {message}")));
        None
    }
}
