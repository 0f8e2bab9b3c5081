//! Reads a suite for a run, with the rows of the datasets that it names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jurist_core::dataset::DatasetReference;
use jurist_core::dialect::ProjectSettings;
use jurist_core::suite::Suite;
use jurist_engine::load::{LoadOptions, ProvidedData, Reading, load_suite_with_data};
use jurist_engine::model::http::{NetworkOptions, client};
use jurist_engine::platform::find_real_path;
use jurist_server::datasets::{DatasetExportFormat, export_file_name};

use super::target::DatasetBackend;
use crate::connection::remote::EvalServerArgs;
use crate::database::DatabaseArgs;
use crate::suite_loading::{ValidSuite, show_loaded_suite};

/// What is to be run.
pub struct WantedSuite<'a> {
    /// A file, or `dataset:NAME@v3:test`.
    pub file: &'a Path,
    /// Rows that replace the `data` of the suite: a file, or a dataset.
    pub data: Option<&'a str>,
    /// Where datasets are, if not in the database of the project.
    pub server: &'a EvalServerArgs,
}

/// A suite without a fault.
pub struct SuiteForRun {
    /// Its file; one that does not exist, if the suite is a dataset.
    pub path: PathBuf,
    pub suite: Suite,
    pub settings: ProjectSettings,
    pub reading: Reading,
    /// A tag for each version of a dataset that was read.
    pub dataset_tags: Vec<String>,
}

impl WantedSuite<'_> {
    /// Prints the problems of the suite, and returns it if there are none.
    pub async fn load(&self, options: LoadOptions) -> anyhow::Result<Option<SuiteForRun>> {
        let mut datasets = DatasetReader { server: self.server, backend: None, tags: Vec::new() };
        let mut provided = ProvidedData { replacement: self.find_replacement()?, ..ProvidedData::default() };
        let mut path = self.file.to_owned();
        if let Some(reference) = parse_dataset_argument(self.file)? {
            anyhow::ensure!(self.data.is_none(), "--data goes with a suite; a dataset has its own cases");
            let suite = datasets.backend().await?.suite(&reference).await?;
            path = PathBuf::from(export_file_name(&suite.reference, DatasetExportFormat::Suite));
            datasets.add_tag(&suite.reference);
            provided.suite = Some(suite.text.into());
        }
        let (loaded, reading) = loop {
            let (loaded, reading) = load_suite_with_data(&path, &provided, options);
            let missing = reading.missing_datasets();
            if missing.is_empty() {
                break (loaded, reading);
            }
            anyhow::ensure!(
                path.as_os_str() != "-",
                "a suite from standard input cannot name a dataset; write it to a file"
            );
            for written in missing {
                let rows = datasets.read(&written).await?;
                provided.datasets.insert(written, rows);
            }
        };
        let Some(ValidSuite { suite, settings, reading }) = show_loaded_suite(loaded, reading)? else {
            return Ok(None);
        };
        let has_rows = suite.cases.iter().any(|case| case.data.is_some());
        anyhow::ensure!(
            self.data.is_none() || has_rows,
            "--data replaces the rows of `data:`, and no case of `{}` has any",
            path.display()
        );
        Ok(Some(SuiteForRun { path, suite, settings, reading, dataset_tags: datasets.tags }))
    }

    /// An absolute path, or the reference of a dataset as it is.
    fn find_replacement(&self) -> anyhow::Result<Option<String>> {
        let Some(data) = self.data else { return Ok(None) };
        if data.starts_with(DatasetReference::PREFIX) {
            return Ok(Some(data.to_owned()));
        }
        let path = find_real_path(Path::new(data)).with_context(|| format!("cannot read `{data}`"))?;
        let path = path.into_os_string().into_string();
        path.map(Some).map_err(|_| anyhow::anyhow!("the path of `{data}` is not text in UTF-8"))
    }
}

/// The dataset that an argument names, if it is none of a file.
fn parse_dataset_argument(file: &Path) -> anyhow::Result<Option<DatasetReference>> {
    let named = file.to_str().and_then(DatasetReference::from_prefixed);
    Ok(named.transpose()?)
}

/// Reads datasets from where they are, which is opened when the first one is needed.
struct DatasetReader<'a> {
    server: &'a EvalServerArgs,
    backend: Option<DatasetBackend>,
    tags: Vec<String>,
}

impl DatasetReader<'_> {
    async fn backend(&mut self) -> anyhow::Result<&DatasetBackend> {
        let backend = match self.backend.take() {
            Some(backend) => backend,
            None if self.server.is_named() => {
                DatasetBackend::Server(self.server.remote(&client(&NetworkOptions::default())?)?)
            }
            None => {
                let place = DatabaseArgs::default();
                anyhow::ensure!(
                    place.exists(),
                    "there is no database at `{}`; `jurist dataset add` creates one",
                    place.url()
                );
                DatasetBackend::open(&place, None).await?
            }
        };
        Ok(self.backend.insert(backend))
    }

    /// The rows of a reference, as the suite writes it.
    async fn read(&mut self, written: &str) -> anyhow::Result<Arc<str>> {
        let named = DatasetReference::from_prefixed(written).transpose()?;
        let reference = named.with_context(|| format!("`{written}` names no dataset"))?;
        let rows = self.backend().await?.rows(&reference).await?;
        self.add_tag(&rows.reference);
        Ok(rows.text.into())
    }

    fn add_tag(&mut self, reference: &DatasetReference) {
        let tag = format!("{}{reference}", DatasetReference::PREFIX);
        if !self.tags.contains(&tag) {
            self.tags.push(tag);
        }
    }
}
