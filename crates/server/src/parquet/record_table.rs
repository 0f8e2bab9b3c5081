//! Records as a table, from which the same records are read.
//!
//! A column has texts, numbers or flags if its field has nothing else; an empty cell is an absent field. Any other field
//! is JSON as text, which other programs read as a text. The metadata of the file says which columns these are.

use std::collections::BTreeSet;

use jurist_core::dataset::{MAX_CASE_BYTES, MAX_EXACT_FLOAT};
use jurist_core::report::ColumnKind;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value as Json};

use super::{GROUP_LIMITS, TableWriter};

/// The key in the metadata of a file that has records.
const RECORD_COLUMNS: &str = "jurist.record_columns";

/// Columns whose cells are not simply the values of their field.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordColumns {
    /// Each cell is JSON.
    json: BTreeSet<String>,
    /// Each whole number is an integer, and the others are not.
    whole: BTreeSet<String>,
}

/// Records as a table with these columns, which are the names of all their fields.
pub fn write_record_table(
    columns: &[String],
    records: &[Map<String, Json>],
) -> Result<Vec<u8>, ParquetError> {
    let mut described = RecordColumns::default();
    let mut named = Vec::with_capacity(columns.len());
    for name in columns {
        named.push((name.as_str(), described.choose_kind(name, records)));
    }
    let metadata = serde_json::to_string(&described).expect("names of columns are plain data");
    let metadata = KeyValue::new(RECORD_COLUMNS.to_owned(), metadata);
    let mut table = TableWriter::new(Vec::new(), named.iter().copied(), GROUP_LIMITS, Some(metadata))?;
    for record in records {
        table.add_fields(named.iter().map(|(name, kind)| (record.get(*name), *kind)))?;
    }
    table.end()
}

impl RecordColumns {
    fn choose_kind(&mut self, name: &str, records: &[Map<String, Json>]) -> ColumnKind {
        let all = |test: fn(&Json) -> bool| records.iter().filter_map(|record| record.get(name)).all(test);
        if all(Json::is_string) {
            ColumnKind::Text
        } else if all(Json::is_boolean) {
            ColumnKind::Flag
        } else if all(Json::is_i64) {
            ColumnKind::Count
        } else if all(Json::is_f64) {
            ColumnKind::Number
        } else if all(is_integer_or_fraction) {
            self.whole.insert(name.to_owned());
            ColumnKind::Number
        } else {
            self.json.insert(name.to_owned());
            ColumnKind::Json
        }
    }

    /// `None` for a table that was not written from records.
    pub(super) fn read(metadata: Option<&[KeyValue]>) -> Result<Option<Self>, ParquetError> {
        let own = metadata.into_iter().flatten().find(|entry| entry.key == RECORD_COLUMNS);
        let damaged = |error: serde_json::Error| {
            ParquetError::General(format!("`{RECORD_COLUMNS}` of the table: {error}"))
        };
        own.map(|entry| serde_json::from_str(entry.value.as_deref().unwrap_or_default()).map_err(damaged))
            .transpose()
    }

    /// The record of a row.
    pub(super) fn restore_record(&self, row: Json) -> Result<Json, ParquetError> {
        let Json::Object(cells) = row else { return Ok(row) };
        let present = cells.into_iter().filter(|(_, cell)| !cell.is_null());
        let fields = present.map(|(name, cell)| {
            let value = match cell {
                Json::String(text) if self.json.contains(&name) => parse_json_cell(&name, &text)?,
                Json::Number(number) if self.whole.contains(&name) => restore_integer(number),
                other => other,
            };
            Ok::<_, ParquetError>((name, value))
        });
        fields.collect::<Result<Map<String, Json>, ParquetError>>().map(Json::Object)
    }
}

/// A number that is an integer of its own type exactly if it is whole.
fn is_integer_or_fraction(value: &Json) -> bool {
    match value.as_f64() {
        Some(number) if value.is_f64() => number.fract() != 0.0,
        Some(number) => number.abs() < MAX_EXACT_FLOAT,
        None => false,
    }
}

fn restore_integer(number: Number) -> Json {
    match number.as_f64() {
        Some(whole) if whole.fract() == 0.0 && whole.abs() < MAX_EXACT_FLOAT => Json::from(whole as i64),
        _ => Json::Number(number),
    }
}

fn parse_json_cell(name: &str, text: &str) -> Result<Json, ParquetError> {
    // Before a long list, whose items take more memory than its text, is read.
    if MAX_CASE_BYTES < text.len() {
        return Err(ParquetError::General(format!(
            "a cell of `{name}` has {} bytes of JSON; at most {MAX_CASE_BYTES} are read",
            text.len()
        )));
    }
    serde_json::from_str(text)
        .map_err(|error| ParquetError::General(format!("a cell of `{name}` is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use axum::body::Bytes;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use serde_json::json;

    use super::super::read_parquet_rows;
    use super::*;

    fn write_records(records: &[Json]) -> Vec<u8> {
        let records: Vec<Map<String, Json>> =
            records.iter().map(|record| record.as_object().unwrap().clone()).collect();
        let names: BTreeSet<&String> = records.iter().flat_map(Map::keys).collect();
        let columns: Vec<String> = names.into_iter().cloned().collect();
        write_record_table(&columns, &records).unwrap()
    }

    #[test]
    fn the_same_records_are_read_from_a_table_of_records() {
        let long: u64 = 9_007_199_254_740_993;
        let records = [
            json!({ "id": "a", "text": "{\"n\":1}", "object": { "n": [1, null] }, "n": long, "whole": 1 }),
            json!({ "id": "b", "text": "", "object": "text", "n": -3, "whole": 0.5, "flag": true }),
            json!({ "id": "c", "fraction": 2.0, "null": null, "mixed": 1 }),
            json!({ "id": "d", "fraction": 0.5, "null": "null", "mixed": 1.0, "huge": u64::MAX }),
            json!({ "id": "e", "object": {}, "whole": -2, "list": [] }),
        ];
        let table = write_records(&records);
        assert_eq!(read_parquet_rows(table, 10).unwrap(), records);
    }

    #[test]
    fn other_programs_read_texts_numbers_and_flags() {
        let table = write_records(&[json!({ "flag": false, "id": 7, "object": { "n": 1 }, "score": 1 })]);
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(table)).unwrap().build().unwrap();
        let batch = reader.map(Result::unwrap).next().unwrap();
        assert!(!batch.column_by_name("flag").unwrap().as_boolean().value(0));
        let id = batch.column_by_name("id").unwrap().as_primitive::<arrow_array::types::Int64Type>();
        assert_eq!(id.value(0), 7);
        assert_eq!(batch.column_by_name("object").unwrap().as_string::<i32>().value(0), "{\"n\":1}");
    }

    #[test]
    fn a_cell_that_is_not_json_is_an_error() {
        let columns = RecordColumns { json: ["a".to_owned()].into(), ..RecordColumns::default() };
        let error = columns.restore_record(json!({ "a": "{" })).unwrap_err().to_string();
        assert!(error.contains("a cell of `a` is not JSON"), "{error}");
        let damaged = KeyValue::new(RECORD_COLUMNS.to_owned(), "no JSON".to_owned());
        assert!(RecordColumns::read(Some(&[damaged])).is_err());
        assert_eq!(RecordColumns::read(None).unwrap(), None);
    }
}
