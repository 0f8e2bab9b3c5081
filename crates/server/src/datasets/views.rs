//! What the API takes and returns about datasets.

use std::collections::BTreeMap;

use jurist_core::dataset::DatasetSplit;
use jurist_store::datasets::{
    CaseDifference, Dataset, DatasetCaseRubric, DatasetVersion, StoredDatasetCase, WrittenVersion,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

/// A dataset
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatasetView {
    /// Id of the dataset.
    #[schema(example = "dst_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    pub id: String,
    /// Unique in the project.
    pub name: String,
    /// What the dataset is for, in its author's words.
    pub description: Option<String>,
    /// Share of tasks whose cases are in the split `test`.
    pub test_share: f64,
    /// When it was created, in UTC (RFC 3339).
    pub created: String,
    /// Name of the person who created it.
    pub created_by: Option<String>,
    /// When it was archived.
    pub archived: Option<String>,
    /// The newest version; absent before the first.
    pub newest: Option<DatasetVersionView>,
}

/// A version of a dataset, which never changes
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatasetVersionView {
    /// Number of the version, from 1.
    pub number: u64,
    /// When it was written, in UTC (RFC 3339).
    pub created: String,
    /// Name of the person who wrote it.
    pub created_by: Option<String>,
    /// Why the version was written, in its author's words.
    pub note: Option<String>,
    /// Number of cases.
    pub n_cases: u64,
    /// Cases in the split `dev`.
    pub n_dev: u64,
    /// Cases in the split `test`.
    pub n_test: u64,
    /// Cases that the version before does not have.
    pub n_added: u64,
    /// Cases whose record, rubric or trace differs from the version before.
    pub n_changed: u64,
    /// Cases that only the version before has.
    pub n_removed: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatasetVersionPage {
    /// Versions, the newest first.
    pub items: Vec<DatasetVersionView>,
    /// Where the next page begins; absent at the end.
    pub next: Option<String>,
}

/// The stored rubric of a case
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DatasetRubricView {
    /// Name of the rubric.
    pub name: String,
    /// Id of the rubric version.
    #[schema(example = "rubv_local_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    pub version: String,
}

/// A case without its record
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatasetCaseView {
    /// Unique within a version.
    pub key: String,
    /// Cases of one task are in one split.
    pub task: String,
    /// `dev` or `test`.
    #[schema(value_type = String)]
    pub split: DatasetSplit,
    /// Beginning of the input; absent if the case was erased.
    pub title: Option<String>,
    /// Id of the trace that it was made from.
    pub trace: Option<String>,
    /// The rubric that grades it.
    pub rubric: Option<DatasetRubricView>,
    /// The first version with the case in this form.
    pub added_in: u64,
    /// The first version without it.
    pub removed_in: Option<u64>,
    /// Its trace was erased, and its text with it.
    pub is_erased: bool,
}

/// A case with its record
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatasetCaseInFull {
    #[serde(flatten)]
    pub line: DatasetCaseView,
    /// As `jurist grade` reads it; absent if the case was erased.
    #[schema(value_type = Option<Object>)]
    pub record: Option<Json>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatasetCasePage {
    /// The version that is listed.
    pub version: u64,
    /// Cases of the version, whatever the filter.
    pub n_cases: u64,
    /// Cases, in the order in which they were added.
    pub items: Vec<DatasetCaseView>,
    /// Where the next page begins; absent at the end.
    pub next: Option<String>,
}

/// Differences between two versions
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatasetDiffView {
    /// Number of the old version.
    pub from: u64,
    /// Number of the new version.
    pub to: u64,
    /// Cases that only the new version has, over all pages.
    pub n_added: u64,
    /// Cases whose record, rubric or trace differs, over all pages.
    pub n_changed: u64,
    /// Cases that only the old version has, over all pages.
    pub n_removed: u64,
    /// Differences, by key of the case.
    pub items: Vec<CaseDifferenceView>,
    /// Where the next page begins; absent at the end.
    pub next: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CaseDifferenceView {
    /// What happened to the case.
    pub kind: CaseDifferenceKind,
    /// Key of the case.
    pub key: String,
    /// The case in the old version; absent for an added case.
    pub old: Option<DatasetCaseView>,
    /// The case in the new version; absent for a removed case.
    pub new: Option<DatasetCaseView>,
    /// Fields of a changed record that differ, and `rubric` or `trace`.
    pub fields: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaseDifferenceKind {
    Added,
    Changed,
    Removed,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDatasetRequest {
    /// Up to 100 letters on one line.
    #[schema(min_length = 1, max_length = 100, example = "support")]
    pub name: String,
    /// What the dataset is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Share of tasks whose cases are in the split `test` [default: 0.2].
    #[schema(minimum = 0, maximum = 1)]
    #[serde(default)]
    pub test_share: Option<f64>,
}

/// Changes that make a new version
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewDatasetVersion {
    /// The newest version that you know, 0 before the first. If there is a newer one, nothing is written [default: not
    /// checked].
    pub base: Option<u64>,
    /// Whether a dataset that does not exist is created, once the cases were read; otherwise it is an error.
    pub create: bool,
    /// Up to 1000 characters.
    pub note: Option<String>,
    /// Records, as `jurist grade` reads them. A record with the key of a case replaces it.
    #[schema(value_type = Vec<Object>)]
    pub records: Vec<Json>,
    /// Ids of traces, up to 10000.
    pub traces: Vec<String>,
    /// Traces, as `GET /traces` takes them; `limit` is from 1 to 10000 [default: 1000].
    #[schema(value_type = Option<Object>)]
    pub trace_filter: Option<BTreeMap<String, Json>>,
    /// Id of an annotation task: its items, with the labels that people agreed on as `reference`.
    pub annotation_task: Option<String>,
    /// Name of a stored rubric, or id of a version, for all cases of the request [default: of a trace, the rubric of
    /// its newest failed verdict; of a task, its rubric].
    pub rubric: Option<String>,
    /// Keys of cases.
    pub remove: Vec<String>,
    /// The cases of the request are all cases of the new version.
    pub replace: bool,
}

/// The result of a request for a new version
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatasetVersionReceipt {
    /// The new version, or the newest if nothing changed.
    pub version: u64,
    /// Whether a version was written.
    pub is_new: bool,
    /// Cases of that version.
    pub n_cases: u64,
    /// Cases that the version before does not have.
    pub n_added: u64,
    /// Cases whose record, rubric or trace changed.
    pub n_changed: u64,
    /// Cases of the request that the version before has in the same form.
    pub n_unchanged: u64,
    /// Cases that only the version before has.
    pub n_removed: u64,
    /// Traces of the filter that have no content.
    pub n_skipped: u64,
}

impl DatasetVersionReceipt {
    pub(super) fn new(written: WrittenVersion, n_skipped: usize) -> Self {
        Self {
            version: written.version,
            is_new: written.is_new,
            n_cases: written.n_cases as u64,
            n_added: written.n_added as u64,
            n_changed: written.n_changed as u64,
            n_unchanged: written.n_unchanged as u64,
            n_removed: written.n_removed as u64,
            n_skipped: n_skipped as u64,
        }
    }
}

impl From<Dataset> for DatasetView {
    fn from(dataset: Dataset) -> Self {
        Self {
            id: dataset.id.to_string(),
            name: dataset.name,
            description: dataset.description,
            test_share: dataset.test_share,
            created: dataset.created.to_string(),
            created_by: dataset.author,
            archived: dataset.archived.map(|time| time.to_string()),
            newest: dataset.newest.map(DatasetVersionView::from),
        }
    }
}

impl From<DatasetVersion> for DatasetVersionView {
    fn from(version: DatasetVersion) -> Self {
        Self {
            number: version.number,
            created: version.created.to_string(),
            created_by: version.author,
            note: version.note,
            n_cases: version.n_cases,
            n_dev: version.n_cases.saturating_sub(version.n_test),
            n_test: version.n_test,
            n_added: version.n_added,
            n_changed: version.n_changed,
            n_removed: version.n_removed,
        }
    }
}

impl From<DatasetCaseRubric> for DatasetRubricView {
    fn from(rubric: DatasetCaseRubric) -> Self {
        Self { name: rubric.name, version: rubric.version.to_string() }
    }
}

impl From<StoredDatasetCase> for DatasetCaseView {
    fn from(case: StoredDatasetCase) -> Self {
        Self {
            key: case.key,
            task: case.task,
            split: case.split,
            title: case.title,
            trace: case.trace.map(|trace| trace.to_string()),
            rubric: case.rubric.map(DatasetRubricView::from),
            added_in: case.added_in,
            removed_in: case.removed_in,
            is_erased: case.is_erased,
        }
    }
}

impl From<StoredDatasetCase> for DatasetCaseInFull {
    fn from(mut case: StoredDatasetCase) -> Self {
        let record = case.record.take();
        Self { line: case.into(), record }
    }
}

impl From<CaseDifference> for CaseDifferenceView {
    fn from(difference: CaseDifference) -> Self {
        let CaseDifference { key, old, new, mut fields } = difference;
        let kind = match (&old, &new) {
            (None, _) => CaseDifferenceKind::Added,
            (_, None) => CaseDifferenceKind::Removed,
            _ => CaseDifferenceKind::Changed,
        };
        if let (Some(old), Some(new)) = (&old, &new) {
            for (name, differs) in [("rubric", old.rubric != new.rubric), ("trace", old.trace != new.trace)] {
                if differs && !fields.iter().any(|field| field == name) {
                    fields.push(name.to_owned());
                }
            }
        }
        let view = |case: Option<StoredDatasetCase>| case.map(DatasetCaseView::from);
        Self { kind, key, old: view(old), new: view(new), fields }
    }
}
