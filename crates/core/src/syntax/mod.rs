//! YAML and JSON text to nodes, with limits against files that are made to explode.

mod json;
mod json_size;
mod yaml;

pub use json_size::estimate_json_bytes;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, SourceFile, SourceNode, SourceSpan, Sources};

/// Files larger than this are refused before they are read as YAML or JSON.
pub const MAX_BYTES: usize = 64 << 20;

/// How deep lists and mappings may nest.
const MAX_DEPTH: usize = 600;

/// Reads one YAML or JSON document; `None` when nothing can be made of it, and `found` says why.
pub fn parse_document(sources: &Sources, file: FileId, found: &mut Diagnostics) -> Option<SourceNode> {
    let SourceFile { path, text, .. } = sources.get(file);
    let start = SourceSpan { file, start: 0, end: 0 };
    if MAX_BYTES < text.len() {
        found.push(
            Diagnostic::error(Code::TooLarge, start, format!("the file has {} MiB", text.len() >> 20))
                .label("too large to read whole")
                .note(format!(
                    "files of up to {} MiB are read; rows of data belong in a JSONL file",
                    MAX_BYTES >> 20
                )),
        );
        return None;
    }
    if let Some(at) = text.find('\0') {
        let message = format!("this is not a text file: byte {at} is NUL");
        found.push(Diagnostic::error(Code::Unreadable, start, message).label("binary data"));
        return None;
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        found.push(
            Diagnostic::error(Code::Empty, start, "the file is empty")
                .help("`jurist init` writes a small suite to start from"),
        );
        return None;
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        json::parse_json(text, file, found)
    } else {
        yaml::parse_yaml(text, file, found)
    }
}
