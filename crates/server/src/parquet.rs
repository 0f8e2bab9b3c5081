//! Tables as Parquet: grades with one column for each of the catalogue, or answers with those that a task has. Every
//! column may be empty.

use std::io::Write;
use std::sync::Arc;

use axum::body::Bytes;
use jurist_core::report::{COLUMNS, ColumnKind, GradeCell, GradeRow};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::record::{Field, Row};
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value as Json;

/// What is collected before it is written as a group of rows. Readers skip groups by their statistics, and larger
/// groups would only take more memory.
#[derive(Debug, Clone, Copy)]
struct GroupLimits {
    rows: usize,
    /// About what the cells of a group take in memory.
    bytes: usize,
}

const GROUP_LIMITS: GroupLimits = GroupLimits { rows: 100_000, bytes: 32 << 20 };

/// What a cell takes in addition to its text, about: a value with its pointers, and whether it is there.
const CELL_BYTES: usize = size_of::<ByteArray>() + size_of::<i16>();

/// Writes a table row by row; a table without rows still has its columns.
#[derive(Debug)]
pub struct ParquetGradeWriter<W: Write + Send>(TableWriter<W>);

impl<W: Write + Send> ParquetGradeWriter<W> {
    pub fn new(out: W) -> Result<Self, ParquetError> {
        let columns = COLUMNS.iter().map(|column| (column.name, column.kind));
        Ok(Self(TableWriter::new(out, columns, GROUP_LIMITS)?))
    }

    pub fn add(&mut self, rows: &[GradeRow<'_>]) -> Result<(), ParquetError> {
        for row in rows {
            self.0.add(COLUMNS.iter().map(|column| (column.cell)(row)))?;
        }
        Ok(())
    }

    /// Finishes the table and returns the writer.
    pub fn end(self) -> Result<W, ParquetError> {
        self.0.end()
    }
}

/// A whole table: numbers where a column has nothing else, texts otherwise.
pub fn write_parquet_table(columns: &[String], rows: &[Vec<Json>]) -> Result<Vec<u8>, ParquetError> {
    let kind = |at: usize| {
        let cells = || rows.iter().map(|row| &row[at]);
        if cells().all(|cell| cell.is_number() || cell.is_null()) && cells().any(Json::is_number) {
            ColumnKind::Number
        } else {
            ColumnKind::Text
        }
    };
    let kinds: Vec<ColumnKind> = (0..columns.len()).map(kind).collect();
    let cell = |kind: ColumnKind, value: &Json| match (kind, value) {
        (_, Json::Null) => None,
        (ColumnKind::Number, value) => value.as_f64().map(GradeCell::Number),
        (_, Json::String(text)) => Some(GradeCell::Text(text.clone())),
        (_, other) => Some(GradeCell::Text(other.to_string())),
    };
    let named = columns.iter().map(String::as_str).zip(kinds.iter().copied());
    let mut table = TableWriter::new(Vec::new(), named, GROUP_LIMITS)?;
    for row in rows {
        table.add(kinds.iter().zip(row).map(|(kind, value)| cell(*kind, value)))?;
    }
    table.end()
}

/// Writes a table group by group. Its columns may all be empty.
#[derive(Debug)]
struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    /// The group that is collected.
    columns: Vec<ColumnCells>,
    n_rows: usize,
    n_bytes: usize,
    limits: GroupLimits,
}

impl<W: Write + Send> TableWriter<W> {
    fn new<'a>(
        out: W,
        columns: impl Iterator<Item = (&'a str, ColumnKind)> + Clone,
        limits: GroupLimits,
    ) -> Result<Self, ParquetError> {
        let fields = columns.clone().map(|(name, kind)| describe_column(name, kind));
        let fields = fields.collect::<Result<Vec<TypePtr>, _>>()?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(parquet_properties()))?;
        let columns = columns.map(|(_, kind)| ColumnCells::new(kind)).collect();
        Ok(Self { file, columns, n_rows: 0, n_bytes: 0, limits })
    }

    /// Adds a row: a cell for each column.
    fn add(&mut self, cells: impl Iterator<Item = Option<GradeCell>>) -> Result<(), ParquetError> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            self.n_bytes += CELL_BYTES + column.push(cell);
        }
        self.n_rows += 1;
        if self.limits.rows <= self.n_rows || self.limits.bytes <= self.n_bytes {
            self.write_group()?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.n_rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for cells in &mut self.columns {
            let Some(column) = group.next_column()? else { break };
            cells.write_to(column)?;
        }
        group.close()?;
        (self.n_rows, self.n_bytes) = (0, 0);
        Ok(())
    }

    fn end(mut self) -> Result<W, ParquetError> {
        self.write_group()?;
        self.file.into_inner()
    }
}

/// Numbers are signed, because not all readers support unsigned integers.
fn describe_column(name: &str, kind: ColumnKind) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match kind {
        ColumnKind::Text | ColumnKind::Json => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnKind::Number => (PhysicalType::DOUBLE, None),
        ColumnKind::Count => (PhysicalType::INT64, None),
        ColumnKind::Flag => (PhysicalType::BOOLEAN, None),
        ColumnKind::Time => (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
    };
    let column = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(column))
}

/// Cells of a column that wait for the end of their group.
#[derive(Debug)]
enum ColumnCells {
    Texts(PresentCells<ByteArray>),
    Numbers(PresentCells<f64>),
    Counts(PresentCells<i64>),
    Flags(PresentCells<bool>),
    /// Microseconds since 1970.
    Times(PresentCells<i64>),
}

impl ColumnCells {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text | ColumnKind::Json => Self::Texts(PresentCells::new()),
            ColumnKind::Number => Self::Numbers(PresentCells::new()),
            ColumnKind::Count => Self::Counts(PresentCells::new()),
            ColumnKind::Flag => Self::Flags(PresentCells::new()),
            ColumnKind::Time => Self::Times(PresentCells::new()),
        }
    }

    /// Adds a cell, and returns the bytes of its text. A cell of another kind is empty.
    fn push(&mut self, cell: Option<GradeCell>) -> usize {
        match self {
            Self::Texts(cells) => {
                let text = cell.map(|cell| cell.to_string().into_bytes());
                let n_bytes = text.as_ref().map_or(0, Vec::len);
                cells.push(text.map(ByteArray::from));
                return n_bytes;
            }
            Self::Numbers(cells) => {
                cells.push(if let Some(GradeCell::Number(number)) = cell { Some(number) } else { None });
            }
            Self::Counts(cells) => cells.push(match cell {
                Some(GradeCell::Count(count)) => i64::try_from(count).ok(),
                _ => None,
            }),
            Self::Flags(cells) => {
                cells.push(if let Some(GradeCell::Flag(flag)) = cell { Some(flag) } else { None });
            }
            Self::Times(cells) => {
                cells.push(if let Some(GradeCell::Time(time)) = cell { Some(time.micros()) } else { None });
            }
        }
        0
    }

    /// Writes the cells, and has none afterwards.
    fn write_to(&mut self, column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Self::Texts(cells) => cells.write_to::<ByteArrayType>(column),
            Self::Numbers(cells) => cells.write_to::<DoubleType>(column),
            Self::Counts(cells) | Self::Times(cells) => cells.write_to::<Int64Type>(column),
            Self::Flags(cells) => cells.write_to::<BoolType>(column),
        }
    }
}

/// Values without those that are absent, and for every cell whether it is there: 1 or 0, which Parquet calls its
/// definition level.
#[derive(Debug)]
struct PresentCells<V> {
    values: Vec<V>,
    levels: Vec<i16>,
}

impl<V> PresentCells<V> {
    fn new() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }

    fn push(&mut self, value: Option<V>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn write_to<T: DataType<T = V>>(
        &mut self,
        mut column: SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        column.typed::<T>().write_batch(self.values.as_slice(), Some(self.levels.as_slice()), None)?;
        self.values.clear();
        self.levels.clear();
        column.close()
    }
}

/// How much of a table that others wrote is read.
#[derive(Debug, Clone, Copy)]
struct TableLimits {
    rows: usize,
    /// Of all rows together. A text that is repeated is once in the table.
    bytes: usize,
    /// Items of lists and mappings; a kilobyte of a table may be a billion.
    items: usize,
}

/// Rows of a table that others wrote, as JSON objects; at most `max_rows`.
pub fn read_parquet_rows(bytes: Vec<u8>, max_rows: usize) -> Result<Vec<Json>, ParquetError> {
    let limits = TableLimits { rows: max_rows, bytes: 2_000_000_000, items: 20_000_000 };
    // The reader panics on some damaged tables.
    let read = std::panic::catch_unwind(|| read_limited_rows(Bytes::from(bytes), limits));
    read.unwrap_or_else(|_| Err(ParquetError::General("the table is damaged".to_owned())))
}

fn read_limited_rows(bytes: Bytes, limits: TableLimits) -> Result<Vec<Json>, ParquetError> {
    let too_large = |what: &str, most: usize| {
        ParquetError::General(format!("the table has more than {most} {what}; split it"))
    };
    let reader = SerializedFileReader::new(bytes)?;
    if limits.items < count_items(&reader)? {
        return Err(too_large("items in lists", limits.items));
    }
    let (mut rows, mut left) = (Vec::new(), limits.bytes);
    for row in reader.get_row_iter(None)?.take(limits.rows) {
        let row = row_to_json(&row?);
        left = left.checked_sub(json_bytes(&row)).ok_or_else(|| too_large("bytes", limits.bytes))?;
        rows.push(row);
    }
    Ok(rows)
}

/// Items of lists and mappings, by the heads of the pages that hold them.
fn count_items(reader: &SerializedFileReader<Bytes>) -> Result<usize, ParquetError> {
    let mut n_items = 0_usize;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        for column in 0..group.num_columns() {
            if group.metadata().column(column).column_descr().max_rep_level() == 0 {
                continue;
            }
            let mut pages = group.get_column_page_reader(column)?;
            while let Some(page) = pages.peek_next_page()? {
                n_items = n_items.saturating_add(page.num_levels.unwrap_or(0));
                pages.skip_next_page()?;
            }
        }
    }
    Ok(n_items)
}

/// What a value takes in memory, about.
fn json_bytes(value: &Json) -> usize {
    let own = size_of::<Json>();
    match value {
        Json::String(text) => own + text.len(),
        Json::Array(items) => own + items.iter().map(json_bytes).sum::<usize>(),
        Json::Object(map) => {
            own + map.iter().map(|(key, value)| key.len() + json_bytes(value)).sum::<usize>()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => own,
    }
}

fn row_to_json(row: &Row) -> Json {
    row.get_column_iter().map(|(name, field)| (name.clone(), field_to_json(field))).collect()
}

/// Dates and times are texts; bytes that are no text are left out.
fn field_to_json(field: &Field) -> Json {
    match field {
        Field::Null => Json::Null,
        Field::Bool(value) => Json::from(*value),
        Field::Byte(value) => Json::from(*value),
        Field::Short(value) => Json::from(*value),
        Field::Int(value) => Json::from(*value),
        Field::Long(value) => Json::from(*value),
        Field::UByte(value) => Json::from(*value),
        Field::UShort(value) => Json::from(*value),
        Field::UInt(value) => Json::from(*value),
        Field::ULong(value) => Json::from(*value),
        Field::Float(value) => Json::from(f64::from(*value)),
        Field::Double(value) => Json::from(*value),
        Field::Str(value) => Json::from(value.as_str()),
        Field::Bytes(value) => value.as_utf8().map_or(Json::Null, Json::from),
        Field::Group(row) => row_to_json(row),
        Field::ListInternal(list) => list.elements().iter().map(field_to_json).collect(),
        Field::MapInternal(map) => {
            let entries = map.entries().iter();
            entries
                .map(|(key, value)| (key.to_string().trim_matches('"').to_owned(), field_to_json(value)))
                .collect()
        }
        other => Json::from(other.to_string()),
    }
}

fn parquet_properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("jurist ", env!("CARGO_PKG_VERSION")).to_owned())
        .build()
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
    use arrow_array::{ArrayRef, ListArray, RecordBatch};
    use jurist_core::grade::{Grade, MetadataFields};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::metadata::RowGroupMetaData;
    use serde_json::json;

    use super::*;

    /// Written and read back, with two rows at a time.
    fn round(rows: &[GradeRow<'_>]) -> Vec<RecordBatch> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut table = ParquetGradeWriter::new(file.reopen().unwrap()).unwrap();
        rows.chunks(2).for_each(|rows| table.add(rows).unwrap());
        table.end().unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file.reopen().unwrap()).unwrap();
        assert_eq!(reader.schema().fields().len(), COLUMNS.len());
        reader.with_batch_size(100).build().unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn grade(outcome: &serde_json::Value) -> Grade {
        serde_json::from_value(json!({
            "candidate": "größe", "criterion": "a", "grader": { "kind": "judge", "name": "m1" }, "outcome": outcome,
            "spend": { "tokens_in": 12, "tokens_cached": 0, "tokens_out": 3, "from_cache": false },
            "evidence": [{ "quote": "q" }], "time": "2026-03-20T10:15:32.250Z",
        }))
        .unwrap()
    }

    #[test]
    fn rows_of_a_table_are_read_as_json() {
        let columns = ["question".to_owned(), "score".to_owned()];
        let rows = [vec![json!("Why?"), json!(0.5)], vec![Json::Null, json!(1.0)]];
        let table = write_parquet_table(&columns, &rows).unwrap();
        let expected =
            [json!({ "question": "Why?", "score": 0.5 }), json!({ "question": null, "score": 1.0 })];
        assert_eq!(read_parquet_rows(table.clone(), 10).unwrap(), expected);
        assert_eq!(read_parquet_rows(table, 1).unwrap(), expected[..1]);
        assert!(read_parquet_rows(b"PAR1 and nothing".to_vec(), 10).is_err());
    }

    #[test]
    fn a_small_table_does_not_become_large() {
        let limits = TableLimits { rows: 10_000, bytes: 1_000_000, items: 1_000 };
        let rows = vec![vec![json!("x".repeat(10_000))]; 1_000];
        let table = write_parquet_table(&["text".to_owned()], &rows).unwrap();
        assert!(table.len() < 50_000, "{}", table.len());
        let error = read_limited_rows(Bytes::from(table), limits).unwrap_err().to_string();
        assert!(error.contains("more than 1000000 bytes"), "{error}");

        let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(7); 100_000])]);
        let list: ArrayRef = Arc::new(list);
        let batch = RecordBatch::try_from_iter([("list", list)]).unwrap();
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(parquet_properties())).unwrap();
        writer.write(&batch).unwrap();
        let table = writer.into_inner().unwrap();
        assert!(table.len() < 5_000, "{}", table.len());
        let error = read_limited_rows(Bytes::from(table), limits).unwrap_err().to_string();
        assert!(error.contains("more than 1000 items"), "{error}");
    }

    #[test]
    fn a_damaged_table_is_an_error_and_no_panic() {
        let rows = [vec![json!("Why?"), json!(0.5)], vec![Json::Null, json!(1.0)]];
        let table = write_parquet_table(&["question".to_owned(), "score".to_owned()], &rows).unwrap();
        for at in 0..table.len() {
            let mut damaged = table.clone();
            damaged[at] ^= 0xff;
            let _ = read_parquet_rows(damaged, 10);
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_no_score_is_null() {
        let grades = [
            grade(&json!({ "kind": "scored", "value": 4, "unit": 0.75 })),
            grade(&json!({ "kind": "scored", "value": "yes" })),
            grade(&json!({ "kind": "failed", "failure": "timeout", "detail": "60 s" })),
        ];
        let fields: MetadataFields = [("language".to_owned(), json!("fr"))].into_iter().collect();
        let row = |grade| GradeRow { grade, of: None, fields: Some(&fields) };
        let rows: Vec<GradeRow<'_>> = grades.iter().map(row).collect();
        let batches = round(&rows);
        let [batch] = batches.as_slice() else { panic!("{} batches", batches.len()) };
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let texts = |name: &str| -> Vec<Option<String>> {
            column(name).as_string::<i32>().iter().map(|string| string.map(str::to_owned)).collect()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(texts("candidate"), [some("größe"), some("größe"), some("größe")]);
        assert_eq!(texts("value"), [some("4"), some("yes"), None]);
        assert_eq!(texts("why"), [None, None, some("timeout")]);
        assert_eq!(texts("evidence")[0], some(r#"[{"quote":"q"}]"#));
        assert_eq!(texts("metadata")[2], some(r#"{"language":"fr"}"#));
        assert_eq!(texts("run"), [None, None, None]);
        let numbers = |name: &str| column(name).as_primitive::<Float64Type>().iter().collect::<Vec<_>>();
        assert_eq!(numbers("unit"), [Some(0.75), None, None]);
        assert_eq!(numbers("number"), [Some(4.0), None, None]);
        assert_eq!(column("tokens_in").as_primitive::<Int64Type>().value(2), 12);
        let time = column("time").as_primitive::<TimestampMicrosecondType>();
        assert_eq!((time.value(0), time.timezone()), (1_774_001_732_250_000, Some("UTC")));
        assert!(column("from_cache").as_boolean().iter().all(|boolean| boolean == Some(false)));
    }

    /// Rows of each group of a table of a text and a number, and all cells as they are read back.
    fn write_groups(limits: GroupLimits, rows: &[(Option<&str>, Option<f64>)]) -> (Vec<i64>, Vec<Json>) {
        let columns = [("text", ColumnKind::Text), ("number", ColumnKind::Number)];
        let mut table = TableWriter::new(Vec::new(), columns.into_iter(), limits).unwrap();
        for (text, number) in rows {
            let text = text.map(|text| GradeCell::Text(text.to_owned()));
            table.add([text, number.map(GradeCell::Number)].into_iter()).unwrap();
        }
        let bytes = table.end().unwrap();
        let reader = SerializedFileReader::new(Bytes::from(bytes.clone())).unwrap();
        let n_rows = reader.metadata().row_groups().iter().map(RowGroupMetaData::num_rows).collect();
        (n_rows, read_parquet_rows(bytes, 100).unwrap())
    }

    #[test]
    fn a_long_table_has_several_groups_and_every_row_once() {
        let no_limit = GroupLimits { rows: usize::MAX, bytes: usize::MAX };
        let rows = [(Some("a"), Some(1.0)), (None, Some(2.0)), (Some("c"), None), (Some("d"), Some(4.0))];
        let expected = [
            json!({ "text": "a", "number": 1.0 }),
            json!({ "text": null, "number": 2.0 }),
            json!({ "text": "c", "number": null }),
            json!({ "text": "d", "number": 4.0 }),
        ];
        // Cells count also if they have no text: two rows of two cells reach this limit.
        let by_bytes = GroupLimits { bytes: 4 * CELL_BYTES, ..no_limit };
        for (limits, groups) in [
            (no_limit, vec![4]),
            (GroupLimits { rows: 3, ..no_limit }, vec![3, 1]),
            (GroupLimits { rows: 2, ..no_limit }, vec![2, 2]),
            (by_bytes, vec![2, 2]),
        ] {
            assert_eq!(write_groups(limits, &rows), (groups, expected.to_vec()), "{limits:?}");
        }
        let long = "x".repeat(3 * CELL_BYTES);
        let rows = [(Some(long.as_str()), None), (None, None), (None, None)];
        let (groups, _) = write_groups(by_bytes, &rows);
        assert_eq!(groups, [1, 2], "a long text counts as well");
    }

    #[test]
    fn a_column_of_numbers_is_one_and_what_is_missing_is_null() {
        let columns = ["id", "score", "note"].map(str::to_owned);
        let rows = [vec![json!("a"), json!(3.56), json!(null)], vec![json!("b"), json!(null), json!(["x"])]];
        let bytes = Bytes::from(write_parquet_table(&columns, &rows).unwrap());
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap();
        let batch = reader.map(Result::unwrap).next().unwrap();
        let score = batch.column_by_name("score").unwrap().as_primitive::<Float64Type>();
        assert_eq!(score.iter().collect::<Vec<_>>(), [Some(3.56), None]);
        let note = batch.column_by_name("note").unwrap().as_string::<i32>();
        assert_eq!(note.iter().collect::<Vec<_>>(), [None, Some(r#"["x"]"#)]);
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        assert!(round(&[]).iter().all(|round| round.num_rows() == 0));
    }
}
