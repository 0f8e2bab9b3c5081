//! YAML 1.2.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use super::MAX_DEPTH;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, NodeEntry, NodeShape, Scalar, SourceNode, SourceSpan};

/// How many comments without a blank before them are put right; each costs a reading.
const MAX_GLUED_COMMENTS: usize = 32;

/// How many nodes may be kept for aliases; anchors inside anchors keep theirs again.
const MAX_ANCHORED: usize = 1_000_000;

/// How many nodes aliases may add to a file in all.
const MAX_ALIAS_NODES: usize = 100_000;

/// A text counts as one node more for each so many bytes, since every alias copies it.
const BYTES_PER_NODE: usize = 256;

pub(super) fn parse_yaml(text: &str, file: FileId, found: &mut Diagnostics) -> Option<SourceNode> {
    let text = &*separate_comments(text);
    let reader = YamlReader {
        file,
        text,
        offsets: Offsets::new(text),
        anchors: HashMap::new(),
        n_alias_nodes: 0,
        n_anchored: 0,
        found,
        open: Vec::new(),
        root: None,
    };
    reader.read()
}

/// `}# comment` is read by other parsers, so it is read here; blanks in its place keep every position.
fn separate_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("}#") && !text.contains("]#") {
        return text.into();
    }
    let mut out = text.to_owned();
    for _ in 0..MAX_GLUED_COMMENTS {
        let error = Parser::new_from_str(&out).find_map(Result::err);
        let Some(error) = error.filter(|error| error.info().contains("comments must be separated")) else {
            break;
        };
        let at = Offsets::new(&out).byte(error.marker().index(), out.len()) as usize;
        let Some(start) = out[..(at + 1).min(out.len())].rfind('#') else { break };
        let end = out[start..].find('\n').map_or(out.len(), |n| start + n);
        let blanks = " ".repeat(end - start);
        out.replace_range(start..end, &blanks);
    }
    out.into()
}

/// Characters are what the parser counts, bytes are what everyone else counts.
struct Offsets(Option<Vec<u32>>);

impl Offsets {
    fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self(None);
        }
        let ends = std::iter::once(text.len());
        Self(Some(text.char_indices().map(|(at, _)| at).chain(ends).map(|n| n as u32).collect()))
    }

    fn byte(&self, char_index: usize, len: usize) -> u32 {
        let byte = match &self.0 {
            None => char_index as u32,
            Some(table) => table.get(char_index).copied().unwrap_or(len as u32),
        };
        byte.min(len as u32)
    }
}

/// A list or mapping that has begun and not ended.
struct OpenCollection {
    span: SourceSpan,
    anchor: usize,
    n_nodes: usize,
    shape: OpenShape,
}

enum OpenShape {
    List(Vec<SourceNode>),
    Map {
        entries: Vec<NodeEntry>,
        merges: Vec<(SourceSpan, SourceNode)>,
        /// Where each key is given first.
        keys: HashMap<String, SourceSpan>,
        key: Option<(MappingKey, SourceSpan)>,
    },
}

enum MappingKey {
    Text(String),
    Merge,
    /// Already reported; its value is read and dropped.
    Refused,
}

struct YamlReader<'a> {
    file: FileId,
    text: &'a str,
    offsets: Offsets,
    anchors: HashMap<usize, (SourceNode, usize)>,
    n_alias_nodes: usize,
    n_anchored: usize,
    found: &'a mut Diagnostics,
    open: Vec<OpenCollection>,
    root: Option<SourceNode>,
}

impl YamlReader<'_> {
    fn read(mut self) -> Option<SourceNode> {
        let mut n_documents = 0;
        for event in Parser::new_from_str(self.text) {
            let (event, span) = match event {
                Ok(it) => it,
                Err(error) => {
                    let start = self.offsets.byte(error.marker().index(), self.text.len());
                    self.syntax_error(start, error.info());
                    return None;
                }
            };
            let span = SourceSpan {
                file: self.file,
                start: self.offsets.byte(span.start.index(), self.text.len()),
                end: self.offsets.byte(span.end.index(), self.text.len()),
            };
            match event {
                Event::DocumentStart(_) => {
                    n_documents += 1;
                    if n_documents == 2 {
                        self.found.push(
                            Diagnostic::error(Code::Syntax, span, "a second document starts here").note(
                                "a file holds one YAML document; put the other one into a file of its own",
                            ),
                        );
                        return None;
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    let plain = style == ScalarStyle::Plain && !self.is_text_tag(tag.as_deref(), span);
                    let scalar = Scalar { text: text.into_owned(), plain };
                    let n_nodes = 1 + scalar.text.len() / BYTES_PER_NODE;
                    self.complete(
                        SourceNode { span: self.trim(span), shape: NodeShape::Scalar(scalar) },
                        anchor,
                        n_nodes,
                    );
                }
                Event::SequenceStart(anchor, tag) => {
                    self.is_text_tag(tag.as_deref(), span);
                    self.begin(span, anchor, OpenShape::List(Vec::new()))?;
                }
                Event::MappingStart(anchor, tag) => {
                    self.is_text_tag(tag.as_deref(), span);
                    let shape = OpenShape::Map {
                        entries: Vec::new(),
                        merges: Vec::new(),
                        keys: HashMap::new(),
                        key: None,
                    };
                    self.begin(span, anchor, shape)?;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    self.end(span);
                    if MAX_ANCHORED < self.n_anchored {
                        let message = "anchors inside anchors make this file too large";
                        self.found.push(Diagnostic::error(Code::TooLarge, span, message));
                        return None;
                    }
                }
                Event::Alias(anchor) => self.alias(anchor, span)?,
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            }
        }
        if self.root.is_none() {
            let start = SourceSpan { file: self.file, start: 0, end: 0 };
            self.found.push(Diagnostic::error(Code::Empty, start, "the file holds no value"));
        }
        self.root
    }

    fn begin(&mut self, span: SourceSpan, anchor: usize, shape: OpenShape) -> Option<()> {
        if MAX_DEPTH <= self.open.len() {
            self.found.push(
                Diagnostic::error(Code::TooDeep, span, "lists and mappings nest too deeply")
                    .note(format!("{MAX_DEPTH} levels are read")),
            );
            return None;
        }
        self.open.push(OpenCollection { span, anchor, n_nodes: 1, shape });
        Some(())
    }

    fn end(&mut self, end: SourceSpan) {
        let Some(OpenCollection { span, anchor, n_nodes, shape }) = self.open.pop() else { return };
        let (shape, last) = match shape {
            OpenShape::List(items) => {
                let last = items.last().map(|node| node.span.end);
                (NodeShape::List(items), last)
            }
            OpenShape::Map { mut entries, merges, keys, .. } => {
                let last = entries.last().map(|entry| entry.value.span.end.max(entry.key_span.end));
                self.merge(&mut entries, merges, keys);
                (NodeShape::Map(entries), last)
            }
        };
        // A block ends where its last value does, not at the blank lines behind it.
        let flow = matches!(self.text.as_bytes().get(span.start as usize), Some(b'[' | b'{'));
        let end = if flow { end.end } else { last.unwrap_or(span.end) };
        let span = SourceSpan { end: end.max(span.start), ..span };
        self.complete(SourceNode { span, shape }, anchor, n_nodes);
    }

    /// Explicit keys win over merged ones, earlier merges over later ones.
    fn merge(
        &mut self,
        entries: &mut Vec<NodeEntry>,
        merges: Vec<(SourceSpan, SourceNode)>,
        mut keys: HashMap<String, SourceSpan>,
    ) {
        for (span, merge) in merges {
            let maps = match merge.shape {
                NodeShape::List(items) => items,
                _ => vec![merge],
            };
            for map in maps {
                let NodeShape::Map(merged) = map.shape else {
                    self.found.push(
                        Diagnostic::error(Code::Syntax, span, "`<<` merges mappings only")
                            .help("write `<<: *name` where `&name` marks a mapping"),
                    );
                    continue;
                };
                for entry in merged {
                    if let Entry::Vacant(vacant) = keys.entry(entry.key.clone()) {
                        vacant.insert(entry.key_span);
                        entries.push(entry);
                    }
                }
            }
        }
    }

    fn alias(&mut self, anchor: usize, span: SourceSpan) -> Option<()> {
        let Some((node, n_nodes)) = self.anchors.get(&anchor).cloned() else {
            self.found.push(
                Diagnostic::error(Code::Syntax, span, "this alias is inside the value it refers to")
                    .note("a value cannot contain itself"),
            );
            return None;
        };
        self.n_alias_nodes += n_nodes;
        let depth = self.open.len() + nesting_depth(&node);
        if MAX_ALIAS_NODES < self.n_alias_nodes || MAX_DEPTH < depth {
            self.found.push(
                Diagnostic::error(Code::TooLarge, span, "aliases blow this file up")
                    .label("too much is repeated here")
                    .note(format!(
                        "aliases may add {MAX_ALIAS_NODES} values to a file; a long text counts once for each \
                         {BYTES_PER_NODE} bytes"
                    )),
            );
            return None;
        }
        self.complete(node, 0, n_nodes);
        Some(())
    }

    /// Puts a finished value where it belongs: into what is open, or at the root.
    fn complete(&mut self, node: SourceNode, anchor: usize, n_nodes: usize) {
        if anchor != 0 {
            self.n_anchored += n_nodes;
            self.anchors.insert(anchor, (node.clone(), n_nodes));
        }
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return;
        };
        open.n_nodes += n_nodes;
        match &mut open.shape {
            OpenShape::List(items) => items.push(node),
            OpenShape::Map { entries, merges, keys, key } => match key.take() {
                None => *key = Some(read_key(node, keys, self.found)),
                Some((MappingKey::Text(text), key_span)) => {
                    entries.push(NodeEntry { key: text, key_span, value: node });
                }
                Some((MappingKey::Merge, key_span)) => merges.push((key_span, node)),
                Some((MappingKey::Refused, _)) => {}
            },
        }
    }

    fn is_text_tag(&mut self, tag: Option<&Tag>, span: SourceSpan) -> bool {
        let Some(tag) = tag else { return false };
        if tag.handle == "tag:yaml.org,2002:" {
            return tag.suffix == "str";
        }
        if tag.handle.is_empty() || tag.suffix.is_empty() {
            return true; // `!` alone: not to be resolved.
        }
        self.found.push(
            Diagnostic::error(
                Code::Syntax,
                span,
                format!("the tag `{}{}` is not understood", tag.handle, tag.suffix),
            )
            .help("remove the tag; only YAML's own tags such as `!!str` are read"),
        );
        false
    }

    /// Block scalars end behind their last line break; excerpts look better without it.
    fn trim(&self, span: SourceSpan) -> SourceSpan {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        SourceSpan { end: span.start + text.trim_end().len() as u32, ..span }
    }

    fn syntax_error(&mut self, start: u32, info: &str) {
        let mut at = start as usize;
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let len = self.text[at..].chars().next().filter(|letter| *letter != '\n').map_or(0, char::len_utf8);
        let span = SourceSpan { file: self.file, start: at as u32, end: (at + len) as u32 };
        let mut diagnostic = Diagnostic::error(Code::Syntax, span, format!("not valid YAML: {info}"));
        let line_start = self.text[..at].rfind('\n').map_or(0, |n| n + 1);
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start().len()];
        // Inside a text the parser stops at the end of the line before the tab.
        let behind = || info.contains("tab").then(|| self.text[line_start..].find('\t')).flatten();
        if let Some(tab) = indent.find('\t').or_else(behind) {
            let start = (line_start + tab) as u32;
            diagnostic = Diagnostic::error(
                Code::Tab,
                SourceSpan { file: self.file, start, end: start + 1 },
                "this line is indented with a tab",
            )
            .label("YAML is indented with spaces")
            .help("replace each tab by two spaces");
        } else if info.contains("recursion limit") {
            diagnostic = Diagnostic::error(Code::TooDeep, span, "lists and mappings nest too deeply");
        } else if begins_with_braces(&self.text[line_start..at]) {
            diagnostic = diagnostic.help(QUOTE_BRACES);
        } else if let Some(help) = yaml_help(info) {
            diagnostic = diagnostic.help(help);
        }
        self.found.push(diagnostic);
    }
}

const QUOTE_BRACES: &str = "quote text that begins with `{{`: `\"{{ name }} …\"`";

/// Whether a value in this beginning of a line begins with `{{` and is not quoted: to YAML it is a mapping.
fn begins_with_braces(line: &str) -> bool {
    let mut places = line.match_indices("{{").map(|(place, _)| line[..place].trim_end());
    places.any(|before| {
        before.ends_with([':', ',', '[', '-']) && before.matches(['"', '\'']).count().is_multiple_of(2)
    })
}

/// What usually is behind the parser's words.
fn yaml_help(info: &str) -> Option<&'static str> {
    let causes = [
        (
            "mapping values are not allowed",
            "text that contains `: ` needs quotes around it; or this line is indented too far",
        ),
        ("simple key", "a key needs a colon and a blank behind it: `name: value`"),
        ("escape", "in double quotes `\\` starts an escape; put patterns in single quotes"),
        ("comments must be separated", "put a blank before `#`"),
        ("block collection", "this line is indented differently from those it belongs to"),
        ("block mapping", "this line is indented differently from those it belongs to"),
        ("illegal placement of ':'", "a bracket or a quote above may not be closed"),
        ("unknown anchor", "a name after `*` must be given with `&name` above"),
        ("unexpected character", "text that starts with a special character needs quotes around it"),
        ("quoted scalar", "a quote may not be closed"),
    ];
    causes.iter().find(|(words, _)| info.contains(*words)).map(|(_, help)| *help)
}

fn read_key(
    node: SourceNode,
    keys: &mut HashMap<String, SourceSpan>,
    found: &mut Diagnostics,
) -> (MappingKey, SourceSpan) {
    let span = node.span;
    let is_mapping = matches!(node.shape, NodeShape::Map(_));
    let NodeShape::Scalar(Scalar { text, plain }) = node.shape else {
        let mut diagnostic = Diagnostic::error(Code::WrongType, span, "a key must be text")
            .label("this is a list or a mapping");
        if is_mapping {
            diagnostic = diagnostic.help(QUOTE_BRACES);
        }
        found.push(diagnostic);
        return (MappingKey::Refused, span);
    };
    if plain && text == "<<" {
        return (MappingKey::Merge, span);
    }
    match keys.entry(text.clone()) {
        Entry::Vacant(vacant) => {
            vacant.insert(span);
            (MappingKey::Text(text), span)
        }
        Entry::Occupied(first) => {
            let diagnostic = Diagnostic::error(Code::DuplicateKey, span, format!("`{text}` is given twice"))
                .label("given again here")
                .help("keep one of them")
                .also(*first.get(), "first given here");
            found.push(diagnostic);
            (MappingKey::Refused, span)
        }
    }
}

fn nesting_depth(node: &SourceNode) -> usize {
    match &node.shape {
        NodeShape::Scalar(_) => 0,
        NodeShape::List(items) => 1 + items.iter().map(nesting_depth).max().unwrap_or(0),
        NodeShape::Map(entries) => {
            1 + entries.iter().map(|entry| nesting_depth(&entry.value)).max().unwrap_or(0)
        }
    }
}
