//! Versions of datasets as files: JSON lines, a table, or a suite.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::dataset::{DatasetReference, DatasetSplit, SuiteCase, build_dataset_suite};
use jurist_store::datasets::{DatasetCaseFilter, StoredDatasetCase};
use jurist_store::{Cursor, ProjectId, RubricVersionId, Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use super::{DatasetError, FoundVersion, find_dataset_version};
use crate::blocking::block_in_place;

/// Cases in memory per page; one can have 32 MiB.
const PAGE: usize = 20;

/// Bytes of an export that is in memory as a whole.
const MAX_EXPORT_BYTES: usize = 512 << 20;

/// Columns of a table.
const MAX_COLUMNS: usize = 1_000;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DatasetExportFormat {
    /// A record per line.
    Jsonl,
    /// A table with a column per field.
    Parquet,
    /// A suite, in which each case is graded by its own rubric.
    Suite,
}

impl DatasetExportFormat {
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Jsonl => "application/x-ndjson",
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Suite => "application/json",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Suite => "suite.json",
        }
    }
}

/// A name for the file of an export, of plain letters only.
pub fn export_file_name(reference: &DatasetReference, format: DatasetExportFormat) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let plain = |letter: char| if is_plain(letter) { letter } else { '_' };
    let name: String = reference.name.chars().map(plain).collect();
    let version = reference.version.map(|version| format!("-v{version}")).unwrap_or_default();
    let split = reference.split.map(|split| format!("-{split}")).unwrap_or_default();
    format!("{name}{version}{split}.{}", format.extension())
}

/// A page of records as JSON lines, and where the next one begins. Erased cases are left out.
pub async fn format_export_page(
    store: &Store,
    dataset_version: &FoundVersion,
    split: Option<DatasetSplit>,
    after: Option<&Cursor>,
) -> Result<(String, Option<Cursor>), StoreError> {
    let filter =
        DatasetCaseFilter { version: dataset_version.version.number, split, ..DatasetCaseFilter::default() };
    let page = store.dataset_cases(dataset_version.dataset.id, &filter, true, after, PAGE).await?;
    let records = page.items.iter().filter_map(|case| case.record.as_ref());
    Ok((records.map(|record| format!("{record}\n")).collect(), page.next))
}

/// The rows of a version, for a suite that reads them.
#[derive(Debug, Clone)]
pub struct DatasetRows {
    /// With the number of the version.
    pub reference: DatasetReference,
    /// JSON lines.
    pub text: String,
}

/// The rows that a reference names.
pub async fn read_dataset_rows(
    store: &Store,
    project: ProjectId,
    reference: &DatasetReference,
) -> Result<DatasetRows, DatasetError> {
    let dataset_version = find_dataset_version(store, project, &reference.name, reference.version).await?;
    let (mut text, mut after) = (String::new(), None);
    loop {
        let (lines, next) =
            format_export_page(store, &dataset_version, reference.split, after.as_ref()).await?;
        text += &lines;
        check_export_size(text.len())?;
        after = next;
        if after.is_none() {
            return Ok(DatasetRows { reference: dataset_version.reference(reference.split), text });
        }
    }
}

fn check_export_size(n_bytes: usize) -> Result<(), DatasetError> {
    match MAX_EXPORT_BYTES < n_bytes {
        true => Err(DatasetError::TooLarge(format!(
            "the cases have more than {} MiB; choose a split, or export them as jsonl",
            MAX_EXPORT_BYTES >> 20
        ))),
        false => Ok(()),
    }
}

/// All cases that have a record.
async fn load_readable_cases(
    store: &Store,
    dataset_version: &FoundVersion,
    split: Option<DatasetSplit>,
) -> Result<Vec<StoredDatasetCase>, DatasetError> {
    let filter =
        DatasetCaseFilter { version: dataset_version.version.number, split, ..DatasetCaseFilter::default() };
    let (mut cases, mut n_bytes, mut after) = (Vec::new(), 0, None);
    loop {
        let page =
            store.dataset_cases(dataset_version.dataset.id, &filter, true, after.as_ref(), PAGE).await?;
        for case in page.items {
            if let Some(record) = &case.record {
                n_bytes += record.to_string().len();
                cases.push(case);
            }
        }
        check_export_size(n_bytes)?;
        after = page.next;
        if after.is_none() {
            return Ok(cases);
        }
    }
}

/// A version as a Parquet table, from which the same records are read.
pub async fn write_dataset_table(
    store: &Store,
    dataset_version: &FoundVersion,
    split: Option<DatasetSplit>,
) -> Result<Vec<u8>, DatasetError> {
    let cases = load_readable_cases(store, dataset_version, split).await?;
    block_in_place(|| build_dataset_table(cases))
}

fn build_dataset_table(cases: Vec<StoredDatasetCase>) -> Result<Vec<u8>, DatasetError> {
    let records: Vec<Map<String, Json>> = cases.into_iter().filter_map(take_record_fields).collect();
    let names: BTreeSet<&String> = records.iter().flat_map(Map::keys).collect();
    let mut columns: Vec<String> = names.into_iter().cloned().collect();
    columns.sort_by_key(|name| name != "id");
    if MAX_COLUMNS < columns.len() {
        return Err(DatasetError::Senseless(format!(
            "the records have {} fields, and a table has at most {MAX_COLUMNS} columns",
            columns.len()
        )));
    }
    write_dataset_columns(&columns, &records)
}

fn take_record_fields(case: StoredDatasetCase) -> Option<Map<String, Json>> {
    match case.record? {
        Json::Object(record) => Some(record),
        _ => None,
    }
}

#[cfg(feature = "parquet")]
fn write_dataset_columns(columns: &[String], records: &[Map<String, Json>]) -> Result<Vec<u8>, DatasetError> {
    let written = crate::parquet::write_record_table(columns, records);
    written.map_err(|error| DatasetError::Senseless(format!("cannot write the table: {error}")))
}

#[cfg(not(feature = "parquet"))]
fn write_dataset_columns(_: &[String], _: &[Map<String, Json>]) -> Result<Vec<u8>, DatasetError> {
    Err(DatasetError::Bad("this build of Jurist writes no Parquet".to_owned()))
}

/// A version as a suite in native spelling, in JSON.
pub async fn write_dataset_suite(
    store: &Store,
    project: ProjectId,
    dataset_version: &FoundVersion,
    split: Option<DatasetSplit>,
) -> Result<String, DatasetError> {
    let cases = load_readable_cases(store, dataset_version, split).await?;
    let reference = dataset_version.reference(split);
    if cases.is_empty() {
        return Err(DatasetError::Senseless(format!("`{reference}` has no cases")));
    }
    let without: Vec<&str> =
        cases.iter().filter(|case| case.rubric.is_none()).map(|case| case.key.as_str()).collect();
    if let Some(first) = without.first() {
        return Err(DatasetError::Senseless(format!(
            "{} of {} cases of `{reference}` have no rubric, such as `{first}`; add them again with a rubric, \
             or use the dataset as `data:` of a suite",
            without.len(),
            cases.len()
        )));
    }
    let (names, definitions) = load_suite_rubrics(store, project, &cases).await?;
    let suite_cases: Vec<SuiteCase<'_>> = cases
        .iter()
        .filter_map(|case| {
            Some(SuiteCase {
                key: &case.key,
                split: case.split,
                record: case.record.as_ref()?,
                rubric: names.get(&case.rubric.as_ref()?.version)?,
            })
        })
        .collect();
    block_in_place(|| {
        let suite = build_dataset_suite(&reference.to_string(), &definitions, &suite_cases);
        let suite = suite.map_err(|error| DatasetError::Senseless(error.to_string()))?;
        Ok(serde_json::to_string_pretty(&suite).expect("a suite is plain data") + "\n")
    })
}

/// Names of rubric versions in a suite, and their definitions by name. Two versions of one rubric have two names.
async fn load_suite_rubrics(
    store: &Store,
    project: ProjectId,
    cases: &[StoredDatasetCase],
) -> Result<(BTreeMap<RubricVersionId, String>, BTreeMap<String, Json>), DatasetError> {
    let used: BTreeMap<&RubricVersionId, &str> = cases
        .iter()
        .filter_map(|case| case.rubric.as_ref())
        .map(|rubric| (&rubric.version, rubric.name.as_str()))
        .collect();
    let (mut names, mut definitions) = (BTreeMap::new(), BTreeMap::new());
    for (id, name) in &used {
        let is_single = used.values().filter(|other| *other == name).count() == 1;
        let name = if is_single { (*name).to_owned() } else { format!("{name} ({id})") };
        definitions.insert(name.clone(), store.rubric_version(project, id).await?.canonical);
        names.insert((*id).clone(), name);
    }
    Ok((names, definitions))
}
