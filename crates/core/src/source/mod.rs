//! Text of users' files as trees that remember where everything stood.
//!
//! YAML and JSON become the same [`SourceNode`]s.
//! A scalar keeps the text it was written as; what `yes` or `1.10` means is decided by the caller.

mod node;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use node::{NodeEntry, NodeShape, Scalar, SourceNode, json_number};
pub(crate) use write::format_number;
pub use write::{Tree, is_hidden_steering, to_yaml, tree_to_json};

/// Which file of a [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

/// A stretch of bytes in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceSpan {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

/// One file that was read.
#[derive(Debug, Clone)]
pub struct SourceFile {
    pub path: PathBuf,
    pub text: Arc<str>,
    /// Where each line begins.
    lines: Vec<u32>,
}

/// Every file that took part in loading, so that a [`SourceSpan`] can be shown.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

/// A path as text, with `/` between its parts on every system: a run names the same files wherever it was made.
pub fn path_text(path: &Path) -> String {
    let text = path.display().to_string();
    if cfg!(windows) { text.replace('\\', "/") } else { text }
}

/// A place as people count: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    pub line: usize,
    pub column: usize,
}

impl Sources {
    pub fn add(&mut self, path: impl Into<PathBuf>, text: Arc<str>) -> FileId {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
        let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() as u32 } else { 0 };
        let lines = std::iter::once(first).chain(breaks).collect();
        self.files.push(SourceFile { path: path.into(), text, lines });
        FileId(u32::try_from(self.files.len() - 1).expect("fewer than 2^32 files are read"))
    }

    pub fn get(&self, file: FileId) -> &SourceFile {
        &self.files[file.0 as usize]
    }

    pub fn find(&self, path: &Path) -> Option<FileId> {
        let at = self.files.iter().position(|file| file.path == path)?;
        Some(FileId(u32::try_from(at).expect("fewer than 2^32 files are read")))
    }

    /// Shows paths below `folder` relative to it.
    pub fn shorten(&mut self, folder: &Path) {
        for source in &mut self.files {
            if let Ok(short) = source.path.strip_prefix(folder) {
                source.path = if short.as_os_str().is_empty() { ".".into() } else { path_text(short).into() };
            }
        }
    }

    /// The position of the first byte of `span`.
    pub fn place(&self, span: SourceSpan) -> SourcePosition {
        self.place_of(span.file, span.start)
    }

    /// The position of the byte behind `span`.
    pub fn place_end(&self, span: SourceSpan) -> SourcePosition {
        self.place_of(span.file, span.end)
    }

    fn place_of(&self, file: FileId, offset: u32) -> SourcePosition {
        let source = self.get(file);
        let at = floor_char(&source.text, offset as usize);
        let line = source.line_at(at);
        let column =
            source.text.get(source.lines[line] as usize..at).map_or(0, |text| text.chars().count()) + 1;
        SourcePosition { line: line + 1, column }
    }

    /// The line on which `span` starts, without its line break.
    pub fn line(&self, span: SourceSpan) -> &str {
        let source = self.get(span.file);
        source.lines_around(span.start..span.start, 0).1.trim_end_matches(['\r', '\n'])
    }
}

impl SourceFile {
    fn line_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|&line| line as usize <= offset).saturating_sub(1)
    }

    /// The line of a byte, from 1.
    pub fn line_number(&self, offset: u32) -> u32 {
        u32::try_from(self.line_at(offset as usize) + 1).unwrap_or(u32::MAX)
    }

    /// The bytes of a line, which is counted from 1, without its line break.
    pub fn bytes_of_line(&self, line: u32) -> std::ops::Range<u32> {
        let end_of_text = self.text.len() as u32;
        let start = self.lines.get((line as usize).saturating_sub(1)).copied().unwrap_or(end_of_text);
        let text = self.text.get(start as usize..).unwrap_or_default();
        start..start + text.find(['\r', '\n']).unwrap_or(text.len()) as u32
    }

    /// The whole lines that hold `bytes` with `margin` lines on either side: byte offset and text.
    pub fn lines_around(&self, bytes: std::ops::Range<u32>, margin: usize) -> (usize, &str) {
        let first = self.line_at(bytes.start as usize).saturating_sub(margin);
        let last = self.line_at((bytes.end as usize).min(self.text.len())) + margin + 1;
        let start = self.lines[first] as usize;
        let end = self.lines.get(last).map_or(self.text.len(), |&n| n as usize);
        (start, &self.text[start..end])
    }
}

fn floor_char(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
