//! Rows of datasets for submitted runs.

use jurist_core::dataset::DatasetReference;
use jurist_store::{ProjectId, Store};

use super::{DatasetError, read_dataset_rows};
use crate::work::NewRun;

/// Bytes of all rows of one run: they are stored with it, and each worker has them in memory.
const MAX_RUN_BYTES: usize = 128 << 20;

/// Adds the rows of the datasets that a suite names to its files, and the versions to the tags of the run.
pub async fn provide_run_datasets(
    store: &Store,
    project: ProjectId,
    run: &mut NewRun,
) -> Result<(), DatasetError> {
    let mut n_bytes = 0;
    for written in run.bundle().missing_datasets() {
        let named = DatasetReference::from_prefixed(&written);
        let reference = named.transpose().map_err(|error| DatasetError::Senseless(error.to_string()))?;
        let Some(reference) = reference else { continue };
        let rows = read_dataset_rows(store, project, &reference).await?;
        n_bytes += rows.text.len();
        if MAX_RUN_BYTES < n_bytes {
            return Err(DatasetError::TooLarge(format!(
                "the datasets of a run have at most {} MiB together; choose a split, or run the suite without --server",
                MAX_RUN_BYTES >> 20
            )));
        }
        let tag = format!("{}{}", DatasetReference::PREFIX, rows.reference);
        if !run.provenance.tags.contains(&tag) {
            run.provenance.tags.push(tag);
        }
        run.files.insert(written, rows.text);
    }
    Ok(())
}
