//! Rows of data files, as a case keeps them.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

/// Rows of data files: one case each.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// Path or pattern as written.
    pub path: String,
    pub rows: Vec<CompactRow>,
    /// The files that the rows come from, in their order.
    pub files: Vec<RowFile>,
}

/// A data file, for reports that point into it.
#[derive(Debug, Clone)]
pub struct RowFile {
    pub path: Arc<str>,
    /// The place of its first row among all rows.
    pub first_row: usize,
}

/// Rows that say the same are equal whatever file they are from.
impl PartialEq for RowFile {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Data {
    /// The path of the file that holds a row, by the row's place.
    pub(super) fn file_of(&self, row: usize) -> Option<&Arc<str>> {
        let n_begun = self.files.partition_point(|file| file.first_row <= row);
        self.files[..n_begun].last().map(|file| &file.path)
    }
}

pub type DataRow = Map<String, Value>;

/// A row as it is kept while a run goes on. A map takes five times the memory of its text.
#[derive(Debug, Clone)]
pub struct CompactRow {
    form: RowForm,
    /// Where it begins in its file, from 1.
    pub(super) line: u32,
}

#[derive(Debug, Clone)]
enum RowForm {
    /// A JSON object in a file, read each time.
    Line {
        file: Arc<str>,
        start: u32,
        end: u32,
    },
    Json(Arc<str>),
    Map(Arc<DataRow>),
}

impl CompactRow {
    pub fn read(&self) -> DataRow {
        let parse = |text: &str| serde_json::from_str(text).expect("it was read before");
        match &self.form {
            RowForm::Line { file, start, end } => parse(&file[*start as usize..*end as usize]),
            RowForm::Json(text) => parse(text),
            RowForm::Map(row) => (**row).clone(),
        }
    }
}

impl PartialEq for CompactRow {
    fn eq(&self, other: &Self) -> bool {
        self.read() == other.read()
    }
}

/// How rows are kept once they are read from a file.
pub trait RowStorage {
    /// `line` is where the row begins in its file, from 1.
    fn of_row(row: DataRow, line: u32) -> Self;

    /// From the bytes of a line of JSON that was read as `row`.
    fn of_line(file: &Arc<str>, bytes: Range<u32>, row: DataRow, line: u32) -> Self;
}

impl RowStorage for DataRow {
    fn of_row(row: DataRow, _: u32) -> Self {
        row
    }

    fn of_line(_: &Arc<str>, _: Range<u32>, row: DataRow, _: u32) -> Self {
        row
    }
}

impl RowStorage for CompactRow {
    /// Written numbers may be read with another last digit, so only texts become text.
    fn of_row(row: DataRow, line: u32) -> Self {
        let form = match row.values().all(Value::is_string) {
            true => RowForm::Json(Value::Object(row).to_string().into()),
            false => RowForm::Map(Arc::new(row)),
        };
        Self { form, line }
    }

    fn of_line(file: &Arc<str>, bytes: Range<u32>, _: DataRow, line: u32) -> Self {
        Self { form: RowForm::Line { file: Arc::clone(file), start: bytes.start, end: bytes.end }, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compact_row_reads_as_what_was_kept() {
        let line = r#"{"a": "x", "n": 0.1234567890123456789, "deep": {"b": [1, null]}}"#;
        let file: Arc<str> = format!("\u{feff}{line}\n").into();
        let row: DataRow = serde_json::from_str(line).unwrap();
        let bytes = 3..3 + u32::try_from(line.len()).unwrap();
        assert_eq!(CompactRow::of_line(&file, bytes, row.clone(), 1).read(), row);
        assert_eq!(CompactRow::of_row(row.clone(), 1).read(), row);
        let cells = DataRow::from_iter([("a".to_owned(), "\"0.10\"\n".into()), ("b".to_owned(), "".into())]);
        assert_eq!(CompactRow::of_row(cells.clone(), 1).read(), cells);
    }
}
