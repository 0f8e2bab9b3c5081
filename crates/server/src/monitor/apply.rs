//! Applies a monitor file: it becomes a new version, unless its content is unchanged.

use std::sync::Arc;

use jurist_core::candidate::{Candidate, JudgeInput};
use jurist_core::grade::Time;
use jurist_core::rubric::{Anchor, Criterion, CriterionKind, Draft, Group, Rubric};
use jurist_core::suite::Monitor;
use jurist_store::monitors::{self, MonitorVersion, NewMonitorVersion};
use jurist_store::rubrics::NewRubricVersion;
use jurist_store::{AccountId, ProjectId, Region, Store, StoreError, TraceId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::alert_watch;
use super::figures::MonitorFigures;
use super::monitor_version::{
    LoadedMonitorVersion, StoredMonitorVersion, parse_monitor_source, render_monitor_yaml,
};
use super::pace::MonitorBudgetView;
use super::pause::hasten_unfunded_jobs;
use crate::job::{CONTEST, MONITOR, MonitorTask, Work, WorkRefusal, build_monitor_judges};

/// Characters of an anchor that a prompt shows; anchors are examples, so a part is enough.
const ANCHOR_TASK: usize = 500;
const ANCHOR_ANSWER: usize = 1_000;

/// A name that is not allowed, because `/monitors/check` is the endpoint that checks files.
const RESERVED: &str = "check";

/// Why a monitor is not applied.
#[derive(Debug, thiserror::Error)]
pub enum NotApplied {
    #[error("{0}")]
    File(String),
    #[error("there is no stored trace {0}; calibration anchors are ids of stored traces")]
    Anchors(String),
    #[error("the calibration anchors do not fit the rubric: {0}")]
    Rubric(String),
    #[error(transparent)]
    Judge(#[from] WorkRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A monitor and its settings
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MonitorView {
    /// Id of the monitor.
    #[schema(example = "mon_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    pub id: String,
    /// Name of the monitor.
    pub name: String,
    /// Why it judges nothing at the moment.
    pub paused: Option<String>,
    /// When the monitor was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<String>,
    /// When the monitor was created, in UTC (RFC 3339).
    pub created: String,
    /// Names of the agents whose traces are judged.
    pub agents: Vec<String>,
    /// Names of its judges.
    pub judges: Vec<String>,
    /// Share of finished traces that is judged; failed ones always are.
    pub sample_rate: f64,
    /// Largest accepted disagreement of judges, from 0 to 1.
    pub disagreement_margin: f64,
    /// On 0 to 1.
    pub pass_mark: f64,
    /// Names of the criteria of its rubric.
    pub criteria: Vec<String>,
    /// The monitor's own monthly budget; absent if only the project's cap limits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<MonitorBudgetView>,
    /// The version in use.
    pub version: VersionView,
    /// Where lists ask for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<MonitorFigures>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VersionView {
    /// Id of the version.
    #[schema(example = "monv_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    pub id: String,
    /// Id of the rubric version with which it judges.
    #[schema(example = "rubv_local_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    pub rubric_version: String,
    /// When the version was created, in UTC (RFC 3339).
    pub created: String,
    /// As it was written.
    pub source: String,
}

/// Result of applying a file
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Applied {
    /// Whether there is a new version; the same content changes nothing.
    pub is_changed: bool,
    /// Whether the rubric version is new, so that scores are not comparable with earlier ones.
    pub is_new_rubric: bool,
    /// The monitor after the file was applied.
    pub monitor: MonitorView,
}

/// Creates or updates a monitor from a file. `name` overrides the name in the file.
pub async fn apply_monitor_file(
    store: &Store,
    project: ProjectId,
    name: Option<&str>,
    source: &str,
    (region, work): (&Region, &Work),
    author: Option<AccountId>,
    now: Time,
) -> Result<Applied, NotApplied> {
    let mut monitor = parse_monitor_source(source).map_err(NotApplied::File)?;
    if let Some(name) = name {
        monitor.name = Some(name.to_owned());
    }
    if monitor.name() == RESERVED {
        let why = format!("a monitor cannot be named `{RESERVED}`: `/monitors/check` validates files");
        return Err(NotApplied::File(why));
    }
    // An unusable judge is reported now, not when the first trace arrives.
    build_monitor_judges(&monitor, work)?;
    let name = monitor.name().to_owned();
    monitor.rubric = Arc::new(with_anchors(store, project, &monitor).await?);
    let stored_version =
        StoredMonitorVersion { file: render_monitor_yaml(&monitor), source: source.to_owned() };
    let there = match store.monitor_named(project, &name).await? {
        Some(there) => there,
        None => store.add_monitor(project, &name, now).await?,
    };
    if let Some(newest) = there.newest.as_ref().filter(|_| there.removed.is_none())
        && serde_json::from_value::<StoredMonitorVersion>(newest.settings.clone())
            .is_ok_and(|stored_monitor_version| stored_monitor_version.file == stored_version.file)
    {
        return Ok(Applied { is_changed: false, is_new_rubric: false, monitor: build_monitor_view(&there)? });
    }
    let rubric = match store.rubric_named(project, &name).await? {
        Some(rubric) => rubric,
        None => store.add_rubric(project, &name, now).await?,
    };
    let version = NewRubricVersion {
        region: region.clone(),
        hash: monitor.rubric.version().clone(),
        canonical: monitor.rubric.to_json(),
        source: Some(stored_version.source.clone()),
        author,
    };
    let rubric_version = store.put_rubric_version(project, rubric.id, &version, None, now).await?.id;
    let is_new_rubric =
        there.newest.as_ref().is_none_or(|monitor_version| monitor_version.rubric_version != rubric_version);
    let agent = match monitor.agents.as_slice() {
        [(only, _)] => Some(only.clone()),
        _ => None,
    };
    let settings = serde_json::to_value(stored_version).expect("it is plain data");
    let new = NewMonitorVersion { rubric_version, agent, settings, author };
    store.put_monitor_version(project, there.id, &new, now).await?;
    // The budget may have been raised.
    hasten_unfunded_jobs(store, project, there.id, now).await?;
    let monitor = build_monitor_view(&store.monitor(project, there.id).await?)?;
    Ok(Applied { is_changed: true, is_new_rubric, monitor })
}

/// The monitor with the texts of its anchors in the rubric.
pub(super) async fn with_anchors(
    store: &Store,
    project: ProjectId,
    monitor: &Monitor,
) -> Result<Rubric, NotApplied> {
    let (mut anchors, mut missing) = (Vec::new(), Vec::new());
    for (ids, score) in [(&monitor.good_anchors, 1.0), (&monitor.bad_anchors, 0.0)] {
        for id in ids {
            let trace = match TraceId::new(id.clone()) {
                Ok(id) => store.trace_content(project, &id).await?,
                Err(_) => None,
            };
            match trace {
                Some(trace) => {
                    let material = JudgeInput::new(&Candidate::default(), Some(trace));
                    let (task, answer) = (
                        truncate_anchor_text(&material.task, ANCHOR_TASK),
                        truncate_anchor_text(material.answer(), ANCHOR_ANSWER),
                    );
                    anchors.push(Anchor {
                        response: format!("asked: {task}\nanswered: {answer}"),
                        score,
                        reason: None,
                    });
                }
                None => missing.push(format!("`{id}`")),
            }
        }
    }
    if !missing.is_empty() {
        return Err(NotApplied::Anchors(missing.join(", ")));
    }
    let mut draft = Draft::clone(&monitor.rubric);
    draft.criteria.iter_mut().for_each(|criterion| add_anchors(criterion, &anchors));
    Rubric::new(draft).map_err(|faults| {
        let problems: Vec<String> = faults.iter().map(|fault| fault.problem.to_string()).collect();
        NotApplied::Rubric(problems.join("; "))
    })
}

fn add_anchors(criterion: &mut Criterion, anchors: &[Anchor]) {
    match &mut criterion.ask {
        CriterionKind::Question(_) => criterion.anchors.extend_from_slice(anchors),
        CriterionKind::Group(Group { criteria, .. }) => {
            criteria.iter_mut().for_each(|criterion| add_anchors(criterion, anchors));
        }
        CriterionKind::Check(_) | CriterionKind::Recipe(_) | CriterionKind::Tree(_) => {}
    }
}

fn truncate_anchor_text(text: &str, most: usize) -> String {
    let mut cut: String = text.chars().take(most).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

/// The view of a monitor that the API returns.
pub fn build_monitor_view(monitor: &monitors::StoredMonitor) -> Result<MonitorView, StoreError> {
    let damaged = |why: String| StoreError::Damaged { what: "monitor", id: monitor.id.to_string(), why };
    let version = monitor.newest.as_ref().ok_or_else(|| damaged("it has no version".to_owned()))?;
    let watched = LoadedMonitorVersion::read(version).map_err(damaged)?;
    let settings = &watched.monitor;
    Ok(MonitorView {
        id: monitor.id.to_string(),
        name: monitor.name.clone(),
        paused: monitor.paused.clone(),
        removed: monitor.removed.map(|time| time.to_string()),
        created: monitor.created.to_string(),
        agents: settings.agents.iter().map(|agent| agent.0.clone()).collect(),
        judges: settings.judges.clone(),
        sample_rate: settings.sample_rate,
        disagreement_margin: settings.margin(),
        pass_mark: settings.rubric.pass_mark,
        criteria: settings.rubric.questions().map(|question| question.id()).collect(),
        budget: MonitorBudgetView::of(settings),
        version: VersionView::from(version),
        figures: None,
    })
}

impl From<&MonitorVersion> for VersionView {
    fn from(it: &MonitorVersion) -> Self {
        let source = it.settings["source"].as_str().unwrap_or_default().to_owned();
        Self {
            id: it.id.to_string(),
            rubric_version: it.rubric_version.to_string(),
            created: it.created.to_string(),
            source,
        }
    }
}

/// Removes a monitor; its results stay, and applying the file again restores it.
pub async fn remove_monitor(
    store: &Store,
    project: ProjectId,
    monitor: &monitors::StoredMonitor,
    now: Time,
) -> Result<(), StoreError> {
    store.remove_monitor(project, monitor.id, now).await?;
    alert_watch::resolve_monitor_alerts(store, project, &monitor.name, now).await?;
    for kind in [MONITOR, CONTEST] {
        store.discard_jobs(project, kind, &MonitorTask::prefix(monitor.id)).await?;
    }
    Ok(())
}
