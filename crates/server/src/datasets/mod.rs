//! Datasets: cases from records, traces and annotation tasks, their versions, and exports.

mod collect;
mod export;
mod run_data;
mod views;

pub use collect::{
    CaseSources, DEFAULT_FILTERED_TRACES, FirstVersion, MOST_ADDED_TRACES, find_case_rubric,
    list_filtered_traces, parse_trace_ids, write_dataset_version, write_first_version,
};
pub use export::{
    DatasetExportFormat, DatasetRows, export_file_name, format_export_page, read_dataset_rows,
    write_dataset_suite, write_dataset_table,
};
pub use run_data::provide_run_datasets;
pub use views::{
    CaseDifferenceKind, CaseDifferenceView, DatasetCaseInFull, DatasetCasePage, DatasetCaseView,
    DatasetDiffView, DatasetRubricView, DatasetVersionPage, DatasetVersionReceipt, DatasetVersionView,
    DatasetView, NewDatasetRequest, NewDatasetVersion,
};

use jurist_core::dataset::{DEFAULT_TEST_SHARE, DatasetReference, DatasetSplit};
use jurist_core::grade::Time;
use jurist_core::redact::Redactor;
use jurist_store::datasets::{Dataset, DatasetCaseFilter, DatasetVersion, NewDataset};
use jurist_store::{AccountId, Cursor, ProjectId, Store, StoreError};

/// Letters of a description or a note.
const MAX_TEXT: usize = 1000;

/// Why a dataset cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Bad(String),
    #[error("{0}")]
    Unknown(String),
    #[error("{0}")]
    Conflict(String),
    #[error("{0}")]
    TooLarge(String),
    /// The request is right, and cannot be done with these cases.
    #[error("{0}")]
    Senseless(String),
}

/// A version of a dataset that exists.
#[derive(Debug, Clone)]
pub struct FoundVersion {
    pub dataset: Dataset,
    pub version: DatasetVersion,
}

impl FoundVersion {
    /// As a reference, with the number of the version.
    pub fn reference(&self, split: Option<DatasetSplit>) -> DatasetReference {
        DatasetReference { name: self.dataset.name.clone(), version: Some(self.version.number), split }
    }
}

/// A version by its number, or the newest.
pub async fn find_dataset_version(
    store: &Store,
    project: ProjectId,
    name: &str,
    number: Option<u64>,
) -> Result<FoundVersion, DatasetError> {
    let dataset = store.dataset(project, name).await?;
    let version = match number {
        Some(number) => store.dataset_version(&dataset, number).await?,
        None => {
            let empty = || DatasetError::Unknown(format!("dataset `{name}` has no version yet"));
            dataset.newest.clone().ok_or_else(empty)?
        }
    };
    Ok(FoundVersion { dataset, version })
}

/// Creates a dataset without cases.
pub async fn make_named_dataset(
    store: &Store,
    project: ProjectId,
    request: &NewDatasetRequest,
    redactor: &Redactor,
    author: Option<AccountId>,
    now: Time,
) -> Result<Dataset, DatasetError> {
    let new = read_new_dataset(request, redactor, author)?;
    Ok(store.add_dataset(project, &new, now).await?)
}

/// A dataset that is to be created, with the defaults of what the request leaves out.
pub fn read_new_dataset(
    request: &NewDatasetRequest,
    redactor: &Redactor,
    author: Option<AccountId>,
) -> Result<NewDataset, DatasetError> {
    let name = validate_dataset_name(&request.name)?.to_owned();
    let test_share = request.test_share.unwrap_or(DEFAULT_TEST_SHARE);
    if !(0.0..=1.0).contains(&test_share) {
        return Err(DatasetError::Bad(format!("`test_share` is from 0 to 1, not {test_share}")));
    }
    let description = clean_dataset_text("description", request.description.as_deref(), redactor)?;
    Ok(NewDataset { name, description, test_share, author })
}

/// A name that a reference can have.
fn validate_dataset_name(name: &str) -> Result<&str, DatasetError> {
    let name = name.trim();
    if name.is_empty() || 100 < name.chars().count() || name.chars().any(char::is_control) {
        return Err(DatasetError::Bad("a dataset has a name of up to 100 letters, on one line".to_owned()));
    }
    // In an address, these names would refer to the folder above.
    if matches!(name, "." | "..") {
        return Err(DatasetError::Bad(format!("`{name}` cannot be the name of a dataset")));
    }
    if !DatasetReference::is_plain_name(name) {
        return Err(DatasetError::Bad(format!(
            "`{name}` cannot be the name of a dataset: its end reads as a version or a split"
        )));
    }
    Ok(name)
}

/// A text without secrets and the spaces around it; none if it is empty.
pub fn clean_dataset_text(
    field: &str,
    text: Option<&str>,
    redactor: &Redactor,
) -> Result<Option<String>, DatasetError> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    if text.is_some_and(|text| MAX_TEXT < text.chars().count()) {
        return Err(DatasetError::Bad(format!("`{field}` is a text of up to {MAX_TEXT} characters")));
    }
    Ok(text.map(|text| redactor.text(text).into_owned()))
}

/// A page of cases.
pub async fn load_case_page(
    store: &Store,
    dataset_version: &FoundVersion,
    split: Option<DatasetSplit>,
    search: Option<&str>,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<DatasetCasePage, StoreError> {
    let number = dataset_version.version.number;
    let filter = DatasetCaseFilter { version: number, split, key: None, search };
    let page = store.dataset_cases(dataset_version.dataset.id, &filter, false, after, limit).await?;
    Ok(DatasetCasePage {
        version: number,
        n_cases: dataset_version.version.n_cases,
        items: page.items.into_iter().map(DatasetCaseView::from).collect(),
        next: page.next.map(|cursor| cursor.to_string()),
    })
}

/// A case with its record.
pub async fn load_dataset_case(
    store: &Store,
    dataset_version: &FoundVersion,
    key: &str,
) -> Result<DatasetCaseInFull, DatasetError> {
    let filter = DatasetCaseFilter {
        version: dataset_version.version.number,
        key: Some(key),
        ..DatasetCaseFilter::default()
    };
    let page = store.dataset_cases(dataset_version.dataset.id, &filter, true, None, 1).await?;
    let unknown = || {
        DatasetError::Unknown(format!("there is no case `{key}` in `{}`", dataset_version.reference(None)))
    };
    Ok(page.items.into_iter().next().ok_or_else(unknown)?.into())
}

/// A page of the differences between two versions; 0 is the empty version before the first. `to` is the newest by
/// default, and `from` the one before `to`.
pub async fn compare_dataset_versions(
    store: &Store,
    project: ProjectId,
    name: &str,
    (from, to): (Option<u64>, Option<u64>),
    after: Option<&Cursor>,
    limit: usize,
) -> Result<DatasetDiffView, DatasetError> {
    let dataset = store.dataset(project, name).await?;
    let newest = dataset.newest.as_ref().map_or(0, |version| version.number);
    let to = to.unwrap_or(newest);
    let from = from.unwrap_or_else(|| to.saturating_sub(1));
    if let Some(number) = [from, to].into_iter().find(|number| newest < *number) {
        return Err(DatasetError::Unknown(format!("there is no dataset version `{name}@v{number}`")));
    }
    let diff = store.diff_dataset_versions(dataset.id, from, to, after, limit).await?;
    Ok(DatasetDiffView {
        from,
        to,
        n_added: diff.n_added,
        n_changed: diff.n_changed,
        n_removed: diff.n_removed,
        items: diff.page.items.into_iter().map(CaseDifferenceView::from).collect(),
        next: diff.page.next.map(|cursor| cursor.to_string()),
    })
}
