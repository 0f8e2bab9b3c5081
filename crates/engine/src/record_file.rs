//! Files of records: JSON lines, JSON arrays and tables. They are read record by record in bounded memory.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jurist_core::candidate::{RecordField, expand_traces, record_field};
use serde_json::{Map, Value};

use crate::load::open_file;

/// Largest record in bytes. A larger one is most likely a file with an unclosed quote, and is refused.
const MAX_RECORD_BYTES: u64 = 256 << 20;

/// Names under which other tools keep the list of their records: Inspect's logs, lists of OpenAI's API, DeepEval.
const LIST_NAMES: [&str; 5] = ["samples", "data", "examples", "test_cases", "testCases"];

/// Why a file of records cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    #[error("cannot read `{name}`: {error}")]
    Unreadable { name: String, error: std::io::Error },
    #[error("{0}")]
    Malformed(String),
}

/// A file of records that is being read.
#[derive(Debug)]
pub struct RecordFile {
    name: Arc<str>,
    n_records: u64,
    form: RecordForm,
}

#[derive(Debug)]
enum RecordForm {
    Lines(ByteReader),
    Values { reader: ByteReader, within: Within, is_over: bool },
    Table { reader: Box<csv::Reader<LimitedReader>>, columns: Arc<[String]>, n_since: Arc<AtomicU64> },
}

/// The container of the JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    /// No container: values follow each other.
    Nothing,
    /// A list that is the whole file.
    List,
    /// A list inside an object, which may have further keys after it.
    HeldList,
}

/// The unparsed text of a record; the grading worker parses it.
#[derive(Debug)]
pub struct RawRecord {
    name: Arc<str>,
    line: u64,
    /// Position in a list; lines and rows are identified by their line number.
    number: Option<u64>,
    text: RawText,
}

#[derive(Debug)]
enum RawText {
    Json(Vec<u8>),
    Row { columns: Arc<[String]>, cells: csv::ByteRecord },
    Broken(String),
}

/// Separators of table columns that are tried.
const SEPARATORS: [u8; 3] = *b",;\t";

impl RecordFile {
    /// Opens a file, or standard input if the path is `-`. A table is recognised by the file extension or the first
    /// row, an array by the first byte.
    pub fn open(path: &Path) -> Result<Self, RecordsError> {
        Self::open_with(path, is_graded_field)
    }

    /// Like [`Self::open`], for records that need not have anything to grade: any known column makes a table.
    pub fn open_cases(path: &Path) -> Result<Self, RecordsError> {
        Self::open_with(path, |_| true)
    }

    fn open_with(path: &Path, is_wanted: fn(RecordField) -> bool) -> Result<Self, RecordsError> {
        let name: Arc<str> = path.display().to_string().into();
        let unreadable = |error| RecordsError::Unreadable { name: name.to_string(), error };
        let (input, extension) = if path.as_os_str() == "-" {
            (Box::new(std::io::stdin()) as Box<dyn Read + Send>, String::new())
        } else {
            let extension =
                path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_lowercase();
            (Box::new(open_file(path).map_err(unreadable)?) as Box<dyn Read + Send>, extension)
        };
        let mut reader = ByteReader::new(input);
        reader.skip_mark().map_err(unreadable)?;
        let form = match extension.as_str() {
            "csv" => open_table(reader, &name, SEPARATORS, is_wanted)?,
            "tsv" => open_table(reader, &name, *b"\t,;", is_wanted)?,
            _ => {
                let first = reader.skip_blank().map_err(unreadable)?;
                match first {
                    Some(b'[') => {
                        reader.next_byte().map_err(unreadable)?;
                        RecordForm::Values { reader, within: Within::List, is_over: false }
                    }
                    Some(b'{') if extension == "json" => open_objects(reader, path, &name)?,
                    // A line with only a brace begins an object that spans several lines.
                    Some(b'{') if reader.line_is_brace().map_err(unreadable)? => {
                        RecordForm::Values { reader, within: Within::Nothing, is_over: false }
                    }
                    Some(byte)
                        if byte != b'{'
                            && TableHeader::find(
                                reader.peek().map_err(unreadable)?,
                                SEPARATORS,
                                is_wanted,
                            )
                            .is_some() =>
                    {
                        open_table(reader, &name, SEPARATORS, is_wanted)?
                    }
                    _ => RecordForm::Lines(reader),
                }
            }
        };
        Ok(Self { name, n_records: 0, form })
    }

    /// The next record; after an error, the file cannot be read any further.
    pub fn next_record(&mut self) -> Result<Option<RawRecord>, RecordsError> {
        let name = Arc::clone(&self.name);
        let unreadable = |error| RecordsError::Unreadable { name: self.name.to_string(), error };
        let (line, number, text) = match &mut self.form {
            RecordForm::Lines(reader) => loop {
                let line = reader.line;
                match reader.read_line().map_err(unreadable)? {
                    None => return Ok(None),
                    Some(text) if text.trim_ascii().is_empty() => {}
                    Some(text) => break (line, None, RawText::Json(text)),
                }
            },
            RecordForm::Values { reader, within, is_over } => {
                if *is_over {
                    return Ok(None);
                }
                let value = next_value(reader, *within, is_over).map_err(unreadable)?;
                let Some((line, text)) = value else { return Ok(None) };
                self.n_records += 1;
                (line, Some(self.n_records), text)
            }
            RecordForm::Table { reader, columns, n_since } => {
                n_since.store(0, Ordering::Relaxed);
                let mut cells = csv::ByteRecord::new();
                match reader.read_byte_record(&mut cells) {
                    Ok(false) => return Ok(None),
                    Ok(true) => {}
                    Err(error) => return Err(RecordsError::Malformed(format!("{name}: {error}"))),
                }
                let line = cells.position().map_or(0, csv::Position::line);
                let text = if cells.len() == columns.len() {
                    RawText::Row { columns: Arc::clone(columns), cells }
                } else {
                    let n_cells =
                        if cells.len() == 1 { "1 cell".to_owned() } else { format!("{} cells", cells.len()) };
                    RawText::Broken(format!(
                        "this row has {n_cells}, the header has {}; a value that contains the separator or a quote must be in double quotes",
                        columns.len()
                    ))
                };
                (line, None, text)
            }
        };
        Ok(Some(RawRecord { name, line, number, text }))
    }
}

impl RawRecord {
    /// Position for messages: file, line, and index in a list.
    pub fn place(&self) -> String {
        match self.number {
            Some(number) => format!("{}:{} (record {number})", self.name, self.line),
            None => format!("{}:{}", self.name, self.line),
        }
    }

    /// Whether its text contains a word; table cells are not searched.
    pub fn mentions(&self, word: &str) -> bool {
        match &self.text {
            RawText::Json(text) => text.windows(word.len()).any(|part| part == word.as_bytes()),
            RawText::Row { .. } => true,
            RawText::Broken(_) => false,
        }
    }

    /// The record as a JSON object, or what is wrong with it.
    pub fn parse(&self) -> Result<Value, String> {
        let mut record = match &self.text {
            RawText::Broken(problem) => return Err(problem.clone()),
            RawText::Row { columns, cells } => row_object(columns, cells)?,
            RawText::Json(text) => {
                let text = std::str::from_utf8(text).map_err(|_| "not text in UTF-8".to_owned())?;
                serde_json::from_str(text).map_err(|error| {
                    // The message already has the record's line; the parser's own line number would be misleading.
                    let reason = error.to_string();
                    match (self.number, reason.split_once(" at line ")) {
                        (Some(_), Some((reason, _))) => format!("not JSON: {reason}"),
                        _ => format!("not JSON: {reason}"),
                    }
                })?
            }
        };
        if !record.is_object() {
            return Err("a record must be a JSON object".to_owned());
        }
        expand_traces(&mut record);
        Ok(record)
    }
}

/// A row as an object of texts. An empty cell is left out, except in the column that is graded.
fn row_object(columns: &[String], cells: &csv::ByteRecord) -> Result<Value, String> {
    let mut record = Map::new();
    for (column, cell) in columns.iter().zip(cells) {
        let cell = std::str::from_utf8(cell).map_err(|_| format!("`{column}` is not text in UTF-8"))?;
        let is_graded = record_field(column) == Some(RecordField::Response);
        if column.is_empty() || (cell.is_empty() && !is_graded) {
            continue;
        }
        // `inputs.question` is how LangSmith writes a mapping into columns.
        match column.split_once('.').filter(|(holder, _)| record_field(holder).is_some()) {
            Some((holder, key)) => {
                let inner = record.entry(holder).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(inner) = inner {
                    inner.insert(key.to_owned(), Value::from(cell));
                }
            }
            None => drop(record.insert(column.clone(), Value::from(cell))),
        }
    }
    Ok(Value::Object(record))
}

/// The first row of a table, if it names something that can be graded.
struct TableHeader {
    separator: u8,
    columns: Vec<String>,
}

impl TableHeader {
    fn find(start: &[u8], separators: [u8; 3], is_wanted: fn(RecordField) -> bool) -> Option<Self> {
        let is_named = |column: &String| {
            record_field(column.split('.').next().unwrap_or_default()).is_some_and(is_wanted)
        };
        separators.into_iter().find_map(|separator| {
            let mut reader =
                csv::ReaderBuilder::new().delimiter(separator).has_headers(false).from_reader(start);
            let header = reader.records().next()?.ok()?;
            let columns: Vec<String> = header.iter().map(|cell| cell.trim().to_owned()).collect();
            columns.iter().any(is_named).then_some(Self { separator, columns })
        })
    }
}

/// A table whose header names something that can be graded, with the separator by which it does.
fn is_graded_field(field: RecordField) -> bool {
    matches!(field, RecordField::Response | RecordField::Trace | RecordField::Diff)
}

fn open_table(
    mut reader: ByteReader,
    name: &str,
    separators: [u8; 3],
    is_wanted: fn(RecordField) -> bool,
) -> Result<RecordForm, RecordsError> {
    let unreadable = |error| RecordsError::Unreadable { name: name.to_owned(), error };
    let start = reader.peek().map_err(unreadable)?;
    let Some(TableHeader { separator, columns }) = TableHeader::find(start, separators, is_wanted) else {
        let first = String::from_utf8_lossy(start.split(|byte| *byte == b'\n').next().unwrap_or_default());
        let first: String = first.trim().chars().take(80).collect();
        return Err(RecordsError::Malformed(format!(
            "`{name}`: the first row must name the columns, separated by commas, semicolons or tabs, and one of them \
             must be `output` or another name for it, such as `response` or `answer`; it is `{first}`"
        )));
    };
    if let Some((_, twice)) =
        columns.iter().enumerate().find(|(at, column)| !column.is_empty() && columns[..*at].contains(column))
    {
        return Err(RecordsError::Malformed(format!("`{name}`: two columns are called `{twice}`")));
    }
    let n_since = Arc::new(AtomicU64::new(0));
    let limited = LimitedReader { reader, n_since: Arc::clone(&n_since) };
    let reader = csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(limited);
    Ok(RecordForm::Table { reader: Box::new(reader), columns: columns.into(), n_since })
}

/// A `.json` file that begins with an object: a list inside it, JSON lines, or objects spread over lines.
fn open_objects(reader: ByteReader, path: &Path, name: &str) -> Result<RecordForm, RecordsError> {
    let unreadable = |error| RecordsError::Unreadable { name: name.to_owned(), error };
    let again = || -> std::io::Result<ByteReader> {
        let mut reader = ByteReader::new(Box::new(open_file(path)?));
        reader.skip_mark()?;
        reader.skip_blank()?;
        Ok(reader)
    };
    let outline = Outline::read(reader).map_err(unreadable)?;
    let is_graded = |key: &String| record_field(key).is_some_and(is_graded_field);
    let list = outline.lists.iter().find(|key| LIST_NAMES.contains(&key.as_str()));
    let mut reader = again().map_err(unreadable)?;
    match list.filter(|_| !outline.keys.iter().any(is_graded)) {
        Some(list) => {
            enter_list(&mut reader, list).map_err(unreadable)?;
            Ok(RecordForm::Values { reader, within: Within::HeldList, is_over: false })
        }
        None if outline.is_one_line => Ok(RecordForm::Lines(reader)),
        None => Ok(RecordForm::Values { reader, within: Within::Nothing, is_over: false }),
    }
}

/// The keys of the first object of a file.
#[derive(Default)]
struct Outline {
    keys: Vec<String>,
    /// Those that hold a list of objects.
    lists: Vec<String>,
    is_one_line: bool,
}

impl Outline {
    fn read(mut reader: ByteReader) -> std::io::Result<Self> {
        let mut outline = Self::default();
        let start = reader.line;
        reader.next_byte()?;
        while let Some(key) = next_key(&mut reader)? {
            let first = reader.skip_blank()?;
            let is_list = first == Some(b'[') && {
                reader.next_byte()?;
                let is_list = reader.skip_blank()? == Some(b'{');
                skip_until_closed(&mut reader)?;
                is_list
            };
            if is_list {
                outline.lists.push(key.clone());
            }
            outline.keys.push(key);
            if first != Some(b'[') {
                reader.take_value(None)?;
            }
        }
        outline.is_one_line = reader.line == start;
        Ok(outline)
    }
}

/// Reads the next key of an object whose brace has been read; leaves the reader before the value.
fn next_key(reader: &mut ByteReader) -> std::io::Result<Option<String>> {
    loop {
        match reader.skip_blank()? {
            Some(b',') => drop(reader.next_byte()?),
            Some(b'"') => break,
            _ => return Ok(None),
        }
    }
    let mut written = Vec::new();
    reader.take_value(Some(&mut written))?;
    if reader.skip_blank()? != Some(b':') {
        return Ok(None);
    }
    reader.next_byte()?;
    Ok(serde_json::from_slice(&written).ok())
}

/// Moves the reader to the first element of the list under a key.
fn enter_list(reader: &mut ByteReader, list: &str) -> std::io::Result<()> {
    reader.next_byte()?;
    while let Some(key) = next_key(reader)? {
        if reader.skip_blank()? == Some(b'[') && key == list {
            reader.next_byte()?;
            return Ok(());
        }
        reader.take_value(None)?;
    }
    Ok(())
}

/// Reads past the end of a list whose bracket has been read.
fn skip_until_closed(reader: &mut ByteReader) -> std::io::Result<()> {
    loop {
        match reader.skip_blank()? {
            None => return Ok(()),
            Some(b']') => return reader.next_byte().map(drop),
            Some(b',') => drop(reader.next_byte()?),
            Some(_) => drop(reader.take_value(None)?),
        }
    }
}

/// The next element of a list, or the next of several values, with the line at which it begins.
fn next_value(
    reader: &mut ByteReader,
    within: Within,
    is_over: &mut bool,
) -> std::io::Result<Option<(u64, RawText)>> {
    let broken = |line, problem: &str| Ok(Some((line, RawText::Broken(problem.to_owned()))));
    let first = reader.skip_blank()?;
    let (line, in_list) = (reader.line, within != Within::Nothing);
    match first {
        None if in_list => {
            *is_over = true;
            return broken(line, "the file ends before the list does; a `]` is missing");
        }
        None => return Ok(None),
        Some(b']') if in_list => {
            *is_over = true;
            reader.next_byte()?;
            if within == Within::List && reader.skip_blank()?.is_some() {
                return broken(reader.line, "there is more after the end of the list");
            }
            return Ok(None);
        }
        Some(_) => {}
    }
    let mut text = Vec::new();
    let is_whole = reader.take_value(Some(&mut text))?;
    if !is_whole {
        *is_over = true;
        return broken(line, "the file ends in the middle of this record");
    }
    if text.is_empty() {
        // A byte that belongs to no value, such as a second comma.
        reader.next_byte()?;
        return broken(line, "here is no record; entries of a list are separated by one comma");
    }
    if in_list && reader.skip_blank()? == Some(b',') {
        reader.next_byte()?;
    }
    Ok(Some((line, RawText::Json(text))))
}

/// A reader that counts lines.
struct ByteReader {
    input: BufReader<Box<dyn Read + Send>>,
    line: u64,
}

impl std::fmt::Debug for ByteReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteReader").field("line", &self.line).finish_non_exhaustive()
    }
}

impl ByteReader {
    fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input: BufReader::with_capacity(1 << 20, input), line: 1 }
    }

    fn peek(&mut self) -> std::io::Result<&[u8]> {
        self.input.fill_buf()
    }

    /// Skips a byte order mark.
    fn skip_mark(&mut self) -> std::io::Result<()> {
        if self.peek()?.starts_with("\u{feff}".as_bytes()) {
            self.input.consume(3);
        }
        Ok(())
    }

    fn next_byte(&mut self) -> std::io::Result<Option<u8>> {
        let byte = self.peek()?.first().copied();
        if byte.is_some() {
            self.input.consume(1);
            self.line += u64::from(byte == Some(b'\n'));
        }
        Ok(byte)
    }

    /// Skips white space, and returns the next byte without consuming it.
    fn skip_blank(&mut self) -> std::io::Result<Option<u8>> {
        loop {
            match self.peek()?.first() {
                Some(byte) if byte.is_ascii_whitespace() => drop(self.next_byte()?),
                byte => return Ok(byte.copied()),
            }
        }
    }

    /// Whether the line that begins here is nothing but a brace.
    fn line_is_brace(&mut self) -> std::io::Result<bool> {
        let line = self.peek()?.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(line.trim_ascii() == b"{")
    }

    fn read_line(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        let n_read = (&mut self.input).take(MAX_RECORD_BYTES).read_until(b'\n', &mut text)?;
        self.line += 1;
        if MAX_RECORD_BYTES <= n_read as u64 {
            return Err(too_long());
        }
        Ok((0 < n_read).then_some(text))
    }

    /// Reads one JSON value: up to a comma or bracket that does not belong to it, or white space after it. Returns
    /// whether the value is complete; the JSON parser finds out whether it is valid.
    fn take_value(&mut self, mut into: Option<&mut Vec<u8>>) -> std::io::Result<bool> {
        let (mut depth, mut in_text, mut is_escaped, mut n_bytes) = (0_u32, false, false, 0_u64);
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(depth == 0 && !in_text);
            }
            let mut end = None;
            for (at, byte) in bytes.iter().enumerate() {
                self.line += u64::from(*byte == b'\n');
                if in_text {
                    in_text = is_escaped || *byte != b'"';
                    is_escaped = !is_escaped && *byte == b'\\';
                    if !in_text && depth == 0 {
                        end = Some(at + 1);
                        break;
                    }
                    continue;
                }
                match byte {
                    b'"' => in_text = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' | b',' if depth == 0 => {
                        end = Some(at);
                        break;
                    }
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            end = Some(at + 1);
                            break;
                        }
                    }
                    byte if depth == 0 && byte.is_ascii_whitespace() => {
                        // The newline is counted again when it is skipped.
                        self.line -= u64::from(*byte == b'\n');
                        end = Some(at);
                        break;
                    }
                    _ => {}
                }
            }
            let n_taken = end.unwrap_or(bytes.len());
            if let Some(into) = &mut into {
                into.extend_from_slice(&bytes[..n_taken]);
                n_bytes += n_taken as u64;
            }
            self.input.consume(n_taken);
            if end.is_some() {
                return Ok(true);
            }
            if MAX_RECORD_BYTES <= n_bytes {
                return Err(too_long());
            }
        }
    }
}

/// Passes bytes on, and fails if a row has too many.
#[derive(Debug)]
struct LimitedReader {
    reader: ByteReader,
    n_since: Arc<AtomicU64>,
}

impl Read for LimitedReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n_read = self.reader.input.read(buffer)?;
        let n_since = self.n_since.fetch_add(n_read as u64, Ordering::Relaxed);
        if MAX_RECORD_BYTES <= n_since { Err(too_long()) } else { Ok(n_read) }
    }
}

fn too_long() -> std::io::Error {
    let problem =
        format!("a record has more than {} MB; is a quote or bracket left open?", MAX_RECORD_BYTES >> 20);
    std::io::Error::new(ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places and parsed records of a file with this name and text.
    fn read(name: &str, text: &str) -> Vec<(String, Result<Value, String>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut file = RecordFile::open(&path).unwrap();
        let mut all = Vec::new();
        while let Some(record) = file.next_record().unwrap() {
            let place = record.place().rsplit('/').next().unwrap_or_default().to_owned();
            all.push((place, record.parse()));
        }
        all
    }

    #[test]
    fn records_that_cross_the_edge_of_the_buffer_are_whole() {
        // Brackets, quotes and backslashes inside texts, at every distance from the edge of 1 MiB.
        for shift in 0..12 {
            let output = format!("{}{}", "x".repeat((1 << 20) - 24 + shift), r#"\"]},{\"#);
            let records = [serde_json::json!({ "output": output }), serde_json::json!({ "output": "short" })];
            let texts = records.each_ref().map(Value::to_string);
            for (name, text) in
                [("list.json", format!("[{}]", texts.join(", "))), ("lines.jsonl", texts.join("\n"))]
            {
                let read: Vec<Value> =
                    read(name, &text).into_iter().map(|(_, record)| record.unwrap()).collect();
                assert!(read == records, "{name} {shift}");
            }
        }
    }

    #[test]
    fn a_list_inside_an_object_is_read_unless_the_object_is_a_record() {
        let lists = |text: &str| read("file.json", text).len();
        assert_eq!(
            lists(r#"{"object": "list", "data": [{"output": "a"}, {"output": "b"}], "has_more": false}"#),
            2
        );
        assert_eq!(lists(r#"{"samples": [{"output": "a"}]}"#), 1);
        let record = r#"{"examples": [{"q": 1}, {"q": 2}], "output": "a"}"#;
        assert_eq!(read("file.json", record)[0].1.as_ref().unwrap()["output"], "a");
    }

    #[test]
    fn lines_and_numbers_of_records_are_those_of_the_file() {
        let places: Vec<String> = read("list.json", "[\n {\"output\":\n \"a\"},\n\n {\"output\": \"b\"}\n]")
            .into_iter()
            .map(|(place, _)| place)
            .collect();
        assert_eq!(places, ["list.json:2 (record 1)", "list.json:5 (record 2)"]);
    }
}
