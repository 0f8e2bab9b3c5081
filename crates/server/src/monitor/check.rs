//! A file that is not applied yet: everything that stands against it.

use jurist_core::diagnostic::Code;
use jurist_core::dialect::Loaded;
use jurist_core::source::to_json;
use jurist_core::suite::Monitor;
use jurist_store::{ProjectId, Store, StoreError};
use serde_json::Value as Json;

use super::NotApplied;
use super::apply::with_anchors;
use super::watched::{load, native, one_of};
use crate::work::{Work, benches};

/// What a file of a monitor came to.
#[derive(Debug)]
pub struct Tried {
    pub loaded: Loaded,
    /// What is wrong with it apart from what is written.
    pub obstacles: Vec<(Code, String)>,
    /// In native form, if nothing is wrong.
    pub canonical: Option<Json>,
}

/// Reads a file as if it were applied.
pub async fn check(
    store: &Store,
    project: ProjectId,
    source: &str,
    work: &Work,
) -> Result<Tried, StoreError> {
    let mut loaded = load(source);
    let Some(suite) = loaded.suite.take() else {
        return Ok(Tried { loaded, obstacles: Vec::new(), canonical: None });
    };
    let monitor = match one_of(suite) {
        Ok(monitor) => monitor,
        Err(why) => return Ok(Tried { loaded, obstacles: vec![(Code::MissingKey, why)], canonical: None }),
    };
    let mut obstacles = Vec::new();
    if let Err(refused) = benches(&monitor, work) {
        obstacles.push((Code::Unsupported, refused.to_string()));
    }
    match with_anchors(store, project, &monitor).await {
        Ok(_) => {}
        Err(NotApplied::Store(error)) => return Err(error),
        Err(error) => obstacles.push((Code::UnknownName, error.to_string())),
    }
    let canonical = obstacles.is_empty().then(|| canonical(&monitor));
    Ok(Tried { loaded, obstacles, canonical })
}

fn canonical(monitor: &Monitor) -> Json {
    let text = to_json(&native(monitor), false);
    let mut suite: Json = serde_json::from_str(&text).expect("what is written as JSON is JSON");
    suite["monitors"][0].take()
}
