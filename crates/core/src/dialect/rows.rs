//! Data files: rows of JSONL, JSON, YAML, CSV or TSV.

use std::path::Path;

use serde_json::Value;

use super::context::{Context, ReadError, remove_dots, unreadable};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, SourceNode, SourceSpan};
use crate::suite::{CompactRow, Data, DataRow, RowFile, RowStorage};

/// The prefix of a dataset's name, where the path of a data file is allowed as well.
pub const DATASET_PREFIX: &str = "dataset:";

/// A file whose text is the path of the rows that replace the `data` of every case. It exists only where a caller
/// replaces them.
pub const DATA_REPLACEMENT: &str = "<data>";

/// The rows of the file, or of every file the pattern matches, in order; or those of a dataset.
pub(super) fn read_data_rows(cx: &Context<'_>, node: &SourceNode) -> Option<Data> {
    let written = match (cx.world.read)(Path::new(DATA_REPLACEMENT)) {
        Ok(replacement) => replacement.to_string(),
        Err(_) => cx.path(node, "data")?,
    };
    if written.starts_with(DATASET_PREFIX) {
        return read_rows_of_dataset(cx, written, node.span);
    }
    let path = written.as_str();
    let before = cx.n_errors();
    let files: Vec<FileId> = if path.contains(['*', '?', '[']) {
        find_files(cx, path, node.span)
    } else {
        cx.find(path, node.span).into_iter().collect()
    };
    if files.is_empty() && before < cx.n_errors() {
        return None;
    }
    let mut data = Data { path: written.clone(), rows: Vec::<CompactRow>::new(), files: Vec::new() };
    for &file in &files {
        let path = cx.path_of(file).display().to_string().into();
        data.files.push(RowFile { path, first_row: data.rows.len() });
        data.rows.extend(rows_of::<CompactRow>(cx, file, node.span));
    }
    if data.rows.is_empty() && !files.is_empty() && cx.n_errors() == before {
        cx.error(Code::Empty, node.span, format!("`{path}` holds no rows"));
    }
    Some(data)
}

/// The rows of a dataset, which the caller looks up.
fn read_rows_of_dataset(cx: &Context<'_>, reference: String, span: SourceSpan) -> Option<Data> {
    let path = Path::new(&reference);
    let known = cx.sources.borrow().find(path);
    let file = match known {
        Some(file) => file,
        None => match (cx.world.read)(path) {
            Ok(text) => cx.sources.borrow_mut().add(path, text),
            Err(ReadError::Unresolved) => {
                let message = format!("the rows of `{reference}` are known only in a run");
                cx.report(Diagnostic::warning(Code::Unsupported, span, message));
                return None;
            }
            Err(error) => {
                cx.report(unreadable(&error, path, span));
                return None;
            }
        },
    };
    let rows: Vec<CompactRow> = jsonl(cx, file);
    if rows.is_empty() {
        cx.error(Code::Empty, span, format!("`{reference}` holds no rows"));
    }
    let files = vec![RowFile { path: reference.as_str().into(), first_row: 0 }];
    Some(Data { path: reference, rows, files })
}

/// The files that a pattern matches, sorted; none is an error at `span`.
pub(super) fn find_files(cx: &Context<'_>, pattern: &str, span: SourceSpan) -> Vec<FileId> {
    let folder = cx.path_of(span.file).parent().unwrap_or(Path::new("")).to_owned();
    let found = match (cx.world.glob)(&remove_dots(&folder.join(pattern))) {
        Ok(found) => found,
        Err(error) => {
            cx.report(unreadable(&error, Path::new(pattern), span));
            return Vec::new();
        }
    };
    if found.is_empty() {
        cx.error(Code::Unreadable, span, format!("no file matches `{pattern}`"));
    }
    found.iter().filter_map(|found| cx.open(found, span)).collect()
}

/// The rows of one file; what cannot be read is reported at its line.
pub(super) fn rows_of<R: RowStorage>(cx: &Context<'_>, file: FileId, asked: SourceSpan) -> Vec<R> {
    let path = cx.path_of(file);
    let extension =
        path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_lowercase();
    match extension.as_str() {
        "jsonl" | "ndjson" => jsonl(cx, file),
        // Some tools call JSON lines `.json`.
        "json" if has_json_lines(&cx.text_of(file)) => jsonl(cx, file),
        "json" | "yaml" | "yml" => document(cx, file),
        "csv" => read_delimited_rows(cx, file, b','),
        "tsv" => read_delimited_rows(cx, file, b'\t'),
        _ if has_json_lines(&cx.text_of(file)) => jsonl(cx, file),
        _ => {
            cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    asked,
                    format!("`{}` is not a data file", path.display()),
                )
                .note("understood: .jsonl, .ndjson, .json, .yaml, .yml, .csv, .tsv, and JSON lines with any name"),
            );
            Vec::new()
        }
    }
}

/// Whether the first line of a text is a JSON object of its own.
fn has_json_lines(text: &str) -> bool {
    let first = text.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| {
        line.trim_start().starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
    })
}

fn jsonl<R: RowStorage>(cx: &Context<'_>, file: FileId) -> Vec<R> {
    let mut rows = Vec::new();
    let text = cx.text_of(file);
    for_each_json_line(cx, file, |value, span| match value {
        Value::Object(row) => {
            rows.push(R::of_line(&text, span.start..span.end, row, cx.line_of(span)));
        }
        _ => cx.error(Code::BadRow, span, "a row must be a JSON object"),
    });
    rows
}

/// The lines of a JSONL file as nodes, each at the place of its line.
pub(super) fn lines(cx: &Context<'_>, file: FileId) -> Vec<SourceNode> {
    let mut nodes = Vec::new();
    for_each_json_line(cx, file, |value, span| nodes.push(SourceNode::of_json(&value, span)));
    nodes
}

fn for_each_json_line(cx: &Context<'_>, file: FileId, mut each: impl FnMut(Value, SourceSpan)) {
    let text = cx.text_of(file);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let json = line.trim_start_matches('\u{feff}');
        let from = start + line.len() - json.len();
        let span = SourceSpan { file, start: from as u32, end: (from + json.trim_end().len()) as u32 };
        start += line.len();
        if json.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(json) {
            Ok(value) => each(value, span),
            Err(error) => {
                let column = if error.is_eof() { u32::MAX } else { error.column().saturating_sub(1) as u32 };
                let at = span.start + column.min(span.end - span.start);
                let reason = error.to_string();
                let reason = reason.split(" at line").next().unwrap_or_default().to_owned();
                cx.report(
                    Diagnostic::error(
                        Code::BadRow,
                        SourceSpan { start: at, ..span },
                        "this line is not JSON",
                    )
                    .label(reason),
                );
            }
        }
    }
}

fn document<R: RowStorage>(cx: &Context<'_>, file: FileId) -> Vec<R> {
    let Some(node) = cx.parse(file) else { return Vec::new() };
    let Some(items) = cx.list(&node, "data") else { return Vec::new() };
    let mut rows = Vec::new();
    for item in items {
        match item.to_json() {
            Value::Object(row) => rows.push(R::of_row(row, cx.line_of(item.span))),
            _ => cx.error(Code::BadRow, cx.head(item), "a row must be a mapping"),
        }
    }
    rows
}

fn read_delimited_rows<R: RowStorage>(cx: &Context<'_>, file: FileId, delimiter: u8) -> Vec<R> {
    let all = cx.text_of(file);
    let text = all.trim_start_matches('\u{feff}');
    let n_skipped = all.len() - text.len();
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let whole = SourceSpan { file, start: 0, end: 0 };
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
            Ok(record) => {
                let cells = headers.iter().zip(&record);
                let row: DataRow = cells.map(|(key, cell)| (key.to_owned(), Value::from(cell))).collect();
                // The position of a record includes the rest of the last line break and empty lines before the row.
                let at = record.position().map_or(0, |position| position.byte() as usize);
                let n_breaks = text[at..].bytes().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
                let start = (n_skipped + at + n_breaks) as u32;
                rows.push(R::of_row(row, cx.line_of(SourceSpan { file, start, end: start })));
            }
            Err(error) => {
                let at = error.position().map_or(0, csv::Position::byte) as u32;
                let message = match error.kind() {
                    csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                        let cells = if *len == 1 { "1 cell".to_owned() } else { format!("{len} cells") };
                        format!("this row has {cells}, the header has {expected_len}")
                    }
                    _ => error.to_string(),
                };
                cx.error(Code::BadRow, SourceSpan { file, start: at, end: at }, message);
            }
        }
    }
    rows
}
