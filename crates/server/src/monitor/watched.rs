//! A version of a monitor, as it was applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use jurist_core::dialect::{Loaded, to_native};
use jurist_core::source::{Tree, to_yaml};
use jurist_core::suite::{Monitor, Suite};
use jurist_engine::bundle::Bundle;
use jurist_store::monitors::MonitorVersion;
use jurist_store::{MonitorId, MonitorVersionId, RubricVersionId};
use serde::{Deserialize, Serialize};

use crate::work::problems;

/// A version that can be worked with.
#[derive(Debug, Clone)]
pub struct Watched {
    pub id: MonitorVersionId,
    pub monitor_id: MonitorId,
    pub rubric_version: RubricVersionId,
    /// Its anchors stand in the rubric, as texts.
    pub monitor: Arc<Monitor>,
}

/// What the database keeps of a version.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    /// In native form, with the texts of its anchors: complete, whatever happens to the traces.
    pub file: String,
    /// As it was written.
    pub source: String,
}

impl Watched {
    pub fn read(version: &MonitorVersion) -> Result<Self, String> {
        let kept: Kept = serde_json::from_value(version.settings.clone()).map_err(|it| it.to_string())?;
        Ok(Self {
            id: version.id,
            monitor_id: version.monitor,
            rubric_version: version.rubric_version.clone(),
            monitor: Arc::new(read(&kept.file)?),
        })
    }
}

/// The one monitor of a text.
pub(super) fn read(source: &str) -> Result<Monitor, String> {
    let loaded = load(source);
    let problems = problems(&loaded);
    one_of(loaded.suite.ok_or(problems)?)
}

pub(super) fn load(source: &str) -> Loaded {
    let files = BTreeMap::from([("monitor.yaml".to_owned(), source.to_owned())]);
    Bundle { suite: "monitor.yaml".to_owned(), files, ..Bundle::default() }.load()
}

/// The one monitor of a file.
pub(super) fn one_of(mut suite: Suite) -> Result<Monitor, String> {
    match (suite.monitors.pop(), suite.monitors.len()) {
        (Some(monitor), 0) => Ok(monitor),
        (None, _) => Err("the file has no monitor: it needs `agent`, or a list of `monitors`".to_owned()),
        (Some(_), n) => Err(format!("the file has {} monitors, and one is wanted", n + 1)),
    }
}

/// A monitor in native form.
pub(super) fn written(monitor: &Monitor) -> String {
    to_yaml(&native(monitor))
}

pub(super) fn native(monitor: &Monitor) -> Tree {
    to_native(&Suite { monitors: vec![monitor.clone()], ..Suite::default() })
}
