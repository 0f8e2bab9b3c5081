//! Stored versions of monitors.

use std::collections::BTreeMap;
use std::sync::Arc;

use jurist_core::dialect::{LoadedSuite, to_native};
use jurist_core::source::{Tree, to_yaml};
use jurist_core::suite::{Monitor, Suite};
use jurist_engine::bundle::Bundle;
use jurist_store::monitors::MonitorVersion;
use jurist_store::{MonitorId, MonitorVersionId, RubricVersionId};
use serde::{Deserialize, Serialize};

use crate::blocking::block_in_place;
use crate::job::format_load_errors;

/// A parsed version.
#[derive(Debug, Clone)]
pub struct LoadedMonitorVersion {
    pub id: MonitorVersionId,
    pub monitor_id: MonitorId,
    pub rubric_version: RubricVersionId,
    /// The monitor with the texts of its anchors in the rubric.
    pub monitor: Arc<Monitor>,
}

/// The stored form of a version.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredMonitorVersion {
    /// In native form, with the texts of its anchors, so that it does not depend on stored traces.
    pub file: String,
    /// As it was written.
    pub source: String,
}

impl LoadedMonitorVersion {
    pub fn read(version: &MonitorVersion) -> Result<Self, String> {
        let stored: StoredMonitorVersion =
            serde_json::from_value(version.settings.clone()).map_err(|error| error.to_string())?;
        Ok(Self {
            id: version.id,
            monitor_id: version.monitor,
            rubric_version: version.rubric_version.clone(),
            monitor: Arc::new(parse_monitor_source(&stored.file)?),
        })
    }
}

/// The one monitor of a text.
pub(super) fn parse_monitor_source(source: &str) -> Result<Monitor, String> {
    let loaded = load_monitor_bundle(source);
    let problems = format_load_errors(&loaded);
    take_only_monitor(loaded.suite.ok_or(problems)?)
}

pub(super) fn load_monitor_bundle(source: &str) -> LoadedSuite {
    let files = BTreeMap::from([("monitor.yaml".to_owned(), source.to_owned())]);
    let bundle = Bundle { suite: "monitor.yaml".to_owned(), files, ..Bundle::default() };
    block_in_place(|| bundle.load())
}

/// The one monitor of a file.
pub(super) fn take_only_monitor(mut suite: Suite) -> Result<Monitor, String> {
    match (suite.monitors.pop(), suite.monitors.len()) {
        (Some(monitor), 0) => Ok(monitor),
        (None, _) => Err("the file has no monitor: it needs `agent`, or a list of `monitors`".to_owned()),
        (Some(_), n) => Err(format!("the file has {} monitors, and one is wanted", n + 1)),
    }
}

/// A monitor in native form.
pub(super) fn render_monitor_yaml(monitor: &Monitor) -> String {
    to_yaml(&monitor_to_native(monitor))
}

pub(super) fn monitor_to_native(monitor: &Monitor) -> Tree {
    to_native(&Suite { monitors: vec![monitor.clone()], ..Suite::default() })
}
