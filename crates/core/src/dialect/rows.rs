//! Data files: rows of JSONL, JSON, YAML, CSV or TSV.

use std::path::Path;

use serde_json::Value;

use super::context::{Context, tidy, unreadable};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Node, Span};
use crate::suite::Row;

/// The rows of the file, or of every file the pattern matches, in order.
pub(super) fn rows(cx: &Context<'_>, node: &Node) -> Option<(String, Vec<Row>)> {
    let written = cx.path(node, "data")?;
    let path = written.as_str();
    let files: Vec<FileId> = if path.contains(['*', '?', '[']) {
        let folder = cx.path_of(node.span.file).parent().unwrap_or(Path::new("")).to_owned();
        let found = match (cx.world.glob)(&tidy(&folder.join(path))) {
            Ok(found) => found,
            Err(error) => {
                cx.report(unreadable(&error, Path::new(path), node.span));
                return None;
            }
        };
        if found.is_empty() {
            cx.error(Code::Unreadable, node.span, format!("no file matches `{path}`"));
            return None;
        }
        found.iter().filter_map(|it| cx.open(it, node.span)).collect()
    } else {
        cx.find(path, node.span).into_iter().collect()
    };
    let before = cx.n_errors();
    let rows: Vec<Row> = files.iter().flat_map(|&it| rows_of(cx, it, node.span)).collect();
    if rows.is_empty() && !files.is_empty() && cx.n_errors() == before {
        cx.error(Code::Empty, node.span, format!("`{path}` holds no rows"));
    }
    Some((written, rows))
}

/// The rows of one file; what cannot be read is reported at its line.
pub(super) fn rows_of(cx: &Context<'_>, file: FileId, asked: Span) -> Vec<Row> {
    let path = cx.path_of(file);
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default().to_lowercase();
    match extension.as_str() {
        "jsonl" | "ndjson" => jsonl(cx, file),
        "json" | "yaml" | "yml" => document(cx, file),
        "csv" => table(cx, file, b','),
        "tsv" => table(cx, file, b'\t'),
        _ => {
            cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    asked,
                    format!("`{}` is not a data file", path.display()),
                )
                .note("understood: .jsonl, .ndjson, .json, .yaml, .yml, .csv, .tsv"),
            );
            Vec::new()
        }
    }
}

fn jsonl(cx: &Context<'_>, file: FileId) -> Vec<Row> {
    let objects = json_lines(cx, file).into_iter().filter_map(|(value, span)| match value {
        Value::Object(row) => Some(row),
        _ => {
            cx.error(Code::BadRow, span, "a row must be a JSON object");
            None
        }
    });
    objects.collect()
}

/// The lines of a JSONL file as nodes, each at the place of its line.
pub(super) fn lines(cx: &Context<'_>, file: FileId) -> Vec<Node> {
    json_lines(cx, file).iter().map(|(value, span)| Node::of_json(value, *span)).collect()
}

fn json_lines(cx: &Context<'_>, file: FileId) -> Vec<(Value, Span)> {
    let text = cx.text_of(file);
    let (mut values, mut start) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let span = Span { file, start: start as u32, end: (start + line.trim_end().len()) as u32 };
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line.trim_start_matches('\u{feff}')) {
            Ok(value) => values.push((value, span)),
            Err(error) => {
                let column = if error.is_eof() { u32::MAX } else { error.column().saturating_sub(1) as u32 };
                let at = span.start + column.min(span.end - span.start);
                let reason = error.to_string();
                let reason = reason.split(" at line").next().unwrap_or_default().to_owned();
                cx.report(
                    Diagnostic::error(Code::BadRow, Span { start: at, ..span }, "this line is not JSON")
                        .label(reason),
                );
            }
        }
    }
    values
}

fn document(cx: &Context<'_>, file: FileId) -> Vec<Row> {
    let Some(node) = cx.parse(file) else { return Vec::new() };
    let Some(items) = cx.list(&node, "data") else { return Vec::new() };
    let mut rows = Vec::new();
    for item in items {
        match item.to_json() {
            Value::Object(row) => rows.push(row),
            _ => cx.error(Code::BadRow, cx.head(item), "a row must be a mapping"),
        }
    }
    rows
}

fn table(cx: &Context<'_>, file: FileId, delimiter: u8) -> Vec<Row> {
    let text = cx.text_of(file);
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let whole = Span { file, start: 0, end: 0 };
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => {
            cx.error(Code::BadRow, whole, format!("not a table: {error}"));
            return Vec::new();
        }
    };
    let mut rows = Vec::new();
    for record in reader.records() {
        match record {
            Ok(record) => rows.push(
                headers.iter().zip(&record).map(|(key, cell)| (key.to_owned(), Value::from(cell))).collect(),
            ),
            Err(error) => {
                let at = error.position().map_or(0, csv::Position::byte) as u32;
                let message = match error.kind() {
                    csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                        let cells = if *len == 1 { "1 cell".to_owned() } else { format!("{len} cells") };
                        format!("this row has {cells}, the header has {expected_len}")
                    }
                    _ => error.to_string(),
                };
                cx.error(Code::BadRow, Span { file, start: at, end: at }, message);
            }
        }
    }
    rows
}
