//! Checks a monitor file without applying it.

use jurist_core::diagnostic::Code;
use jurist_core::dialect::LoadedSuite;
use jurist_core::source::tree_to_json;
use jurist_core::suite::Monitor;
use jurist_store::{ProjectId, Store, StoreError};
use serde_json::Value as Json;

use super::NotApplied;
use super::apply::with_anchors;
use super::monitor_version::{load_monitor_bundle, monitor_to_native, take_only_monitor};
use crate::job::{Work, build_monitor_judges};

/// Result of checking a monitor file.
#[derive(Debug)]
pub struct MonitorFileCheck {
    pub loaded: LoadedSuite,
    /// Problems outside of the text, such as a judge without an API key.
    pub obstacles: Vec<(Code, String)>,
    /// In native form, if nothing is wrong.
    pub canonical: Option<Json>,
}

/// Checks a file in the same way as applying it does.
pub async fn check_monitor_file(
    store: &Store,
    project: ProjectId,
    source: &str,
    work: &Work,
) -> Result<MonitorFileCheck, StoreError> {
    let mut loaded = load_monitor_bundle(source);
    let Some(suite) = loaded.suite.take() else {
        return Ok(MonitorFileCheck { loaded, obstacles: Vec::new(), canonical: None });
    };
    let monitor = match take_only_monitor(suite) {
        Ok(monitor) => monitor,
        Err(why) => {
            return Ok(MonitorFileCheck {
                loaded,
                obstacles: vec![(Code::MissingKey, why)],
                canonical: None,
            });
        }
    };
    let mut obstacles = Vec::new();
    if let Err(refused) = build_monitor_judges(&monitor, work) {
        obstacles.push((Code::Unsupported, refused.to_string()));
    }
    match with_anchors(store, project, &monitor).await {
        Ok(_) => {}
        Err(NotApplied::Store(error)) => return Err(error),
        Err(error) => obstacles.push((Code::UnknownName, error.to_string())),
    }
    let canonical = obstacles.is_empty().then(|| canonical_monitor_json(&monitor));
    Ok(MonitorFileCheck { loaded, obstacles, canonical })
}

fn canonical_monitor_json(monitor: &Monitor) -> Json {
    let text = tree_to_json(&monitor_to_native(monitor), false);
    let mut suite: Json = serde_json::from_str(&text).expect("what is written as JSON is JSON");
    suite["monitors"][0].take()
}
