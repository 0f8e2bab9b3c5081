//! Where datasets are: in a database that is opened here, or behind a server.

use std::io::Write;

use anyhow::Context;
use jurist_core::dataset::DatasetReference;
use jurist_core::redact::Redactor;
use jurist_engine::load;
use jurist_server::datasets::{
    self, CaseSources, DatasetCaseInFull, DatasetCasePage, DatasetDiffView, DatasetExportFormat, DatasetRows,
    DatasetVersionPage, DatasetVersionReceipt, DatasetVersionView, DatasetView, NewDatasetRequest,
    NewDatasetVersion, find_dataset_version, parse_trace_ids,
};
use jurist_store::{Cursor, ProjectId, Store, TraceId, clock};
use serde_json::{Value as Json, json};

use super::trace_filter::TraceFilterArgs;
use crate::connection::remote::{Remote, encode_url_part};
use crate::database::{DatabaseArgs, project_of};
use crate::suite_loading::load_current_settings;

/// Rows of a page; the most that a server sends.
const PAGE: usize = 200;

pub enum DatasetBackend {
    Store { store: Store, project: ProjectId, redactor: Box<Redactor> },
    Server(Remote),
}

impl DatasetBackend {
    pub async fn open(place: &DatabaseArgs, project: Option<&str>) -> anyhow::Result<Self> {
        let store = place.open().await?;
        let project = project_of(&store, project).await?;
        Self::of_store(store, project)
    }

    pub(super) fn of_store(store: Store, project: ProjectId) -> anyhow::Result<Self> {
        let redactor = Box::new(Redactor::new(load::secrets(), &load_current_settings()?.redact)?);
        Ok(Self::Store { store, project, redactor })
    }

    pub(super) async fn list(&self, with_archived: bool) -> anyhow::Result<Vec<DatasetView>> {
        match self {
            Self::Store { store, project, .. } => {
                let all = store.datasets(*project, with_archived).await?;
                Ok(all.into_iter().map(DatasetView::from).collect())
            }
            Self::Server(remote) => {
                let all = remote.get(&format!("/datasets?archived={with_archived}")).await?;
                Ok(serde_json::from_value(all)?)
            }
        }
    }

    /// A dataset, also an archived one.
    pub(super) async fn find(&self, name: &str) -> anyhow::Result<Option<DatasetView>> {
        Ok(self.list(true).await?.into_iter().find(|dataset| dataset.name == name))
    }

    pub(super) async fn create(&self, new: &NewDatasetRequest) -> anyhow::Result<DatasetView> {
        match self {
            Self::Store { store, project, redactor } => {
                let now = clock::current_time();
                Ok(datasets::make_named_dataset(store, *project, new, redactor, None, now).await?.into())
            }
            Self::Server(remote) => {
                let made = remote.ask(reqwest::Method::POST, "/datasets", Some(&json!(new))).await?;
                Ok(serde_json::from_value(made)?)
            }
        }
    }

    /// The id of an annotation task, by its name or id.
    pub(super) async fn find_task(&self, named: &str) -> anyhow::Result<String> {
        let tasks: Vec<(String, String)> = match self {
            Self::Store { store, project, .. } => {
                let tasks = store.tasks(*project).await?;
                tasks.into_iter().map(|task| (task.id.to_string(), task.name)).collect()
            }
            Self::Server(remote) => {
                let tasks = remote.get("/tasks").await?;
                let text = |task: &Json, key: &str| task[key].as_str().unwrap_or_default().to_owned();
                let tasks = tasks["items"].as_array().into_iter().flatten();
                tasks.map(|task| (text(task, "id"), text(task, "name"))).collect()
            }
        };
        let mut matches = tasks.iter().filter(|(id, name)| id == named || name == named);
        match (matches.next(), matches.next()) {
            (Some((id, _)), None) => Ok(id.clone()),
            (Some(_), Some(_)) => {
                anyhow::bail!("several annotation tasks have the name `{named}`; use the id")
            }
            _ if tasks.is_empty() => {
                anyhow::bail!("there is no annotation task `{named}`; the project has none")
            }
            _ => {
                let names: Vec<&str> = tasks.iter().map(|(_, name)| name.as_str()).collect();
                anyhow::bail!("there is no annotation task `{named}`; there are {}", names.join(", "))
            }
        }
    }

    /// Fails if traces, a filter or a rubric name nothing. The command asks before it creates a dataset, because a
    /// dataset without a version would stay, with a share for testing that cannot be changed.
    pub(super) async fn check_sources(
        &self,
        new: &NewDatasetVersion,
        filter: Option<&TraceFilterArgs>,
    ) -> anyhow::Result<()> {
        let traces = parse_trace_ids(&new.traces)?;
        match self {
            Self::Store { store, project, .. } => {
                for trace in &traces {
                    store.trace(*project, trace).await?;
                }
                if let Some(filter) = filter {
                    find_local_traces(store, *project, filter).await?;
                }
                if let Some(rubric) = &new.rubric {
                    datasets::find_case_rubric(store, *project, rubric).await?;
                }
            }
            Self::Server(remote) => {
                for trace in &traces {
                    remote.get(&format!("/traces/{}", encode_url_part(trace.as_str()))).await?;
                }
                if let Some(filter) = filter {
                    check_remote_filter(remote, filter).await?;
                }
            }
        }
        Ok(())
    }

    /// Writes a version, also with the traces of a filter.
    pub(super) async fn write(
        &self,
        name: &str,
        mut new: NewDatasetVersion,
        filter: Option<&TraceFilterArgs>,
    ) -> anyhow::Result<DatasetVersionReceipt> {
        match self {
            Self::Store { store, project, redactor } => {
                let dataset = store.dataset(*project, name).await?;
                let task = match &new.annotation_task {
                    Some(id) => Some(store.task(*project, id.parse()?).await?),
                    None => None,
                };
                let traces = match filter {
                    Some(filter) => find_local_traces(store, *project, filter).await?,
                    None => Vec::new(),
                };
                let sources = CaseSources {
                    base: new.base,
                    note: new.note,
                    records: new.records,
                    traces: parse_trace_ids(&new.traces)?,
                    found_traces: traces,
                    task,
                    rubric: new.rubric,
                    remove: new.remove,
                    is_complete: new.replace,
                    ..CaseSources::default()
                };
                let now = clock::current_time();
                Ok(datasets::write_dataset_version(store, *project, &dataset, sources, redactor, now).await?)
            }
            Self::Server(remote) => {
                // The server would name a field of the request instead of the flags.
                if let Some(filter) = filter {
                    check_remote_filter(remote, filter).await?;
                }
                new.trace_filter = filter.map(TraceFilterArgs::to_request);
                self.send_version(remote, name, new).await
            }
        }
    }

    /// All versions, the newest first.
    pub(super) async fn versions(&self, name: &str) -> anyhow::Result<Vec<DatasetVersionView>> {
        let (mut versions, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = match self {
                Self::Store { store, project, .. } => {
                    let dataset = store.dataset(*project, name).await?;
                    let cursor = parse_cursor(after.as_deref())?;
                    let page = store.dataset_versions(dataset.id, cursor.as_ref(), PAGE).await?;
                    DatasetVersionPage {
                        items: page.items.into_iter().map(DatasetVersionView::from).collect(),
                        next: page.next.map(|cursor| cursor.to_string()),
                    }
                }
                Self::Server(remote) => {
                    let after = after.as_deref().map(format_after).unwrap_or_default();
                    let path = format!("/datasets/{}/versions?limit={PAGE}{after}", encode_url_part(name));
                    serde_json::from_value(remote.get(&path).await?)?
                }
            };
            versions.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(versions);
            }
        }
    }

    /// The first cases of a version.
    pub(super) async fn cases(
        &self,
        reference: &DatasetReference,
        limit: usize,
    ) -> anyhow::Result<DatasetCasePage> {
        let mut cases: Option<DatasetCasePage> = None;
        loop {
            let n_known = cases.as_ref().map_or(0, |page| page.items.len());
            let after = cases.as_ref().and_then(|page| page.next.clone());
            let wanted = (limit - n_known).min(PAGE);
            let page = self.case_page(reference, after.as_deref(), wanted).await?;
            let all = match cases.take() {
                None => page,
                Some(mut known) => {
                    known.items.extend(page.items);
                    DatasetCasePage { next: page.next, ..known }
                }
            };
            if all.next.is_none() || limit <= all.items.len() {
                return Ok(all);
            }
            cases = Some(all);
        }
    }

    async fn case_page(
        &self,
        reference: &DatasetReference,
        after: Option<&str>,
        limit: usize,
    ) -> anyhow::Result<DatasetCasePage> {
        match self {
            Self::Store { store, project, .. } => {
                let version =
                    find_dataset_version(store, *project, &reference.name, reference.version).await?;
                let after = parse_cursor(after)?;
                let page =
                    datasets::load_case_page(store, &version, reference.split, None, after.as_ref(), limit);
                Ok(page.await?)
            }
            Self::Server(remote) => {
                let after = after.map(format_after).unwrap_or_default();
                let path = format!("{}limit={limit}{after}", dataset_path(reference, "cases"));
                Ok(serde_json::from_value(remote.get(&path).await?)?)
            }
        }
    }

    pub(super) async fn case(
        &self,
        reference: &DatasetReference,
        key: &str,
    ) -> anyhow::Result<DatasetCaseInFull> {
        match self {
            Self::Store { store, project, .. } => {
                let version =
                    find_dataset_version(store, *project, &reference.name, reference.version).await?;
                Ok(datasets::load_dataset_case(store, &version, key).await?)
            }
            Self::Server(remote) => {
                let path = dataset_path(reference, &format!("cases/{}", encode_url_part(key)));
                Ok(serde_json::from_value(remote.get(&path).await?)?)
            }
        }
    }

    /// All differences between two versions.
    pub(super) async fn diff(
        &self,
        name: &str,
        from: Option<u64>,
        to: Option<u64>,
    ) -> anyhow::Result<DatasetDiffView> {
        let mut diff: Option<DatasetDiffView> = None;
        loop {
            let after = diff.as_ref().and_then(|diff| diff.next.clone());
            let page = match self {
                Self::Store { store, project, .. } => {
                    let after = parse_cursor(after.as_deref())?;
                    let range = (from, to);
                    datasets::compare_dataset_versions(store, *project, name, range, after.as_ref(), PAGE)
                        .await?
                }
                Self::Server(remote) => {
                    let number = |key: &str, number: Option<u64>| {
                        number.map(|number| format!("&{key}={number}")).unwrap_or_default()
                    };
                    let path = format!(
                        "/datasets/{}/diff?limit={PAGE}{}{}{}",
                        encode_url_part(name),
                        number("from", from),
                        number("to", to),
                        after.as_deref().map(format_after).unwrap_or_default()
                    );
                    serde_json::from_value(remote.get(&path).await?)?
                }
            };
            let all = match diff.take() {
                None => page,
                Some(mut known) => {
                    known.items.extend(page.items);
                    DatasetDiffView { next: page.next, ..known }
                }
            };
            if all.next.is_none() {
                return Ok(all);
            }
            diff = Some(all);
        }
    }

    /// Writes a version as a file.
    pub(super) async fn export(
        &self,
        reference: &DatasetReference,
        format: DatasetExportFormat,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let (store, project) = match self {
            Self::Store { store, project, .. } => (store, *project),
            Self::Server(remote) => {
                let format = match format {
                    DatasetExportFormat::Jsonl => "jsonl",
                    DatasetExportFormat::Parquet => "parquet",
                    DatasetExportFormat::Suite => "suite",
                };
                let path = format!("{}format={format}", dataset_path(reference, "export"));
                return remote.download(&path, out).await;
            }
        };
        let split = reference.split;
        let version = find_dataset_version(store, project, &reference.name, reference.version).await?;
        match format {
            DatasetExportFormat::Jsonl => {
                let mut after: Option<Cursor> = None;
                loop {
                    let page = datasets::format_export_page(store, &version, split, after.as_ref());
                    let (lines, next) = page.await?;
                    out.write_all(lines.as_bytes())?;
                    after = next;
                    if after.is_none() {
                        return Ok(());
                    }
                }
            }
            DatasetExportFormat::Parquet => {
                Ok(out.write_all(&datasets::write_dataset_table(store, &version, split).await?)?)
            }
            DatasetExportFormat::Suite => {
                let suite = datasets::write_dataset_suite(store, project, &version, split).await?;
                Ok(out.write_all(suite.as_bytes())?)
            }
        }
    }

    /// The rows that a reference names, for a suite that reads them.
    pub async fn rows(&self, reference: &DatasetReference) -> anyhow::Result<DatasetRows> {
        if let Self::Store { store, project, .. } = self {
            return Ok(datasets::read_dataset_rows(store, *project, reference).await?);
        }
        let reference = self.with_version(reference).await?;
        let mut text = Vec::new();
        self.export(&reference, DatasetExportFormat::Jsonl, &mut text).await?;
        let text = String::from_utf8(text).context("the server sent rows that are not text")?;
        Ok(DatasetRows { reference, text })
    }

    /// A suite that grades the cases of a version by their own rubrics.
    pub async fn suite(&self, reference: &DatasetReference) -> anyhow::Result<DatasetRows> {
        let reference = self.with_version(reference).await?;
        let mut text = Vec::new();
        self.export(&reference, DatasetExportFormat::Suite, &mut text).await?;
        let text = String::from_utf8(text).context("the server sent a suite that is not text")?;
        Ok(DatasetRows { reference, text })
    }

    /// The reference with the number of the newest version, if it has none.
    async fn with_version(&self, reference: &DatasetReference) -> anyhow::Result<DatasetReference> {
        let version = match reference.version {
            Some(version) => version,
            None => self.cases(reference, 1).await?.version,
        };
        Ok(DatasetReference { version: Some(version), ..reference.clone() })
    }
}

async fn find_local_traces(
    store: &Store,
    project: ProjectId,
    filter: &TraceFilterArgs,
) -> anyhow::Result<Vec<TraceId>> {
    let traces =
        datasets::list_filtered_traces(store, project, &filter.list_filter(), filter.limit()).await?;
    anyhow::ensure!(!traces.is_empty(), filter.describe_no_match());
    Ok(traces)
}

async fn check_remote_filter(remote: &Remote, filter: &TraceFilterArgs) -> anyhow::Result<()> {
    let found = remote.get(&format!("/traces?{}", filter.to_query(1))).await?;
    // A page may be empty, and later ones not: traces whose verdicts are hidden from the caller are left out.
    let is_empty = found["items"].as_array().is_none_or(Vec::is_empty) && found["next"].is_null();
    anyhow::ensure!(!is_empty, filter.describe_no_match());
    Ok(())
}

fn parse_cursor(text: Option<&str>) -> anyhow::Result<Option<Cursor>> {
    Ok(text.map(str::parse).transpose()?)
}

fn format_after(cursor: &str) -> String {
    format!("&after={}", encode_url_part(cursor))
}

/// The path of something of a version, up to where further parameters follow.
fn dataset_path(reference: &DatasetReference, what: &str) -> String {
    let version = reference.version.map(|version| format!("version={version}&")).unwrap_or_default();
    let split = reference.split.map(|split| format!("split={split}&")).unwrap_or_default();
    format!("/datasets/{}/{what}?{version}{split}", encode_url_part(&reference.name))
}
