//! Explains why a trace has a score or none.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::dialect::read_canonical_rubric;
use jurist_core::grade::VerdictStatus;
use jurist_core::report::{criterion_score_scale, rubric_score_scale};
use jurist_core::rubric::Rubric;
use jurist_store::decisions::{DecisionEvent, MonitorDecision};
use jurist_store::grades::VerdictHead;
use jurist_store::monitors::MonitorVersion;
use jurist_store::{ProjectId, RubricVersionId, Store, StoreError, TraceId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ScoreScale;

/// Decision of a monitor about a trace
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DecisionView {
    /// Id of the trace.
    pub trace: String,
    /// Title of the trace, from its first message; only in lists, and absent if the trace has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Id of the monitor.
    pub monitor: String,
    /// By its name.
    pub monitor_name: Option<String>,
    /// Id of the monitor version that decided.
    pub version: String,
    /// Id of the rubric version; `null` if it is unknown.
    pub rubric_version: Option<String>,
    /// Name of the agent; `null` if it is unknown.
    pub agent: Option<String>,
    /// failed, expensive or other.
    pub stratum: String,
    /// sampled, sampled_out, filtered, nothing_to_judge, over_budget, overloaded, pending, scored, cached, stale or judge_error.
    pub state: String,
    /// The same in four words: scored, error, pending or unscored.
    pub judge_status: String,
    /// Whether the trace was sampled.
    pub is_sampled: bool,
    /// With which it was, or would have been, sampled.
    pub probability: f64,
    /// Sampling probability of the sender.
    pub upstream: f64,
    /// Reason for the decision; in lists, reason for the current state.
    pub reason: String,
    /// Newest verdict of this monitor about the trace: pass, fail, error or deferred. Absent if the trace was not judged.
    #[schema(value_type = Option<String>)]
    pub verdict: Option<VerdictStatus>,
    /// Score of that verdict, from 0 to 1.
    pub score: Option<f64>,
    /// The author's scale for the score; absent if there is no score, or no other scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScoreScale>,
    /// Disagreement of its judges, from 0 to 1.
    pub spread: Option<f64>,
    /// The author's scale for the disagreement, if all criteria and the score share one; absent if that is 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_scale: Option<ScoreScale>,
    /// Whether its judges disagree by more than the margin of the monitor.
    pub is_disputed: bool,
    /// When the decision was made, in UTC (RFC 3339).
    pub decided: String,
    /// When the state last changed, in UTC (RFC 3339).
    pub updated: String,
    /// History of states, oldest first; only in the response for one trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<EventView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    /// State of the decision, such as `sampled` or `scored`.
    pub state: String,
    /// Reason for the state.
    pub note: String,
    /// When the state was reached, in UTC (RFC 3339).
    pub time: String,
}

/// The decisions of all monitors about a trace; there are none before it is finished.
pub async fn explain_trace_decisions(
    store: &Store,
    project: ProjectId,
    trace: &TraceId,
) -> Result<Vec<DecisionView>, StoreError> {
    store.trace(project, trace).await?;
    let mut all = Vec::new();
    let mut verdicts = load_newest_verdicts(store, project, &[trace.to_string()]).await?;
    for decision in store.decisions_of(project, trace).await? {
        let history = store.decision_events(project, trace, decision.monitor).await?;
        let monitor = store.monitor(project, decision.monitor).await?;
        let version = store.monitor_version(project, decision.version).await?;
        let mut view = DecisionView::new(&decision, Some(&version));
        view.set_verdict(verdicts.remove(&(trace.to_string(), monitor.name.clone())));
        view.monitor_name = Some(monitor.name);
        view.history = history.into_iter().map(EventView::from).collect();
        all.push(view);
    }
    Ok(all)
}

/// The newest verdict of a monitor about a trace, with the author's scales of its rubric.
#[derive(Debug)]
pub struct ScaledVerdict {
    verdict: VerdictHead,
    scales: VerdictScales,
}

/// The author's scales for the score of a verdict, and for the largest difference between judges.
#[derive(Debug, Clone, Copy, Default)]
struct VerdictScales {
    score: Option<ScoreScale>,
    spread: Option<ScoreScale>,
}

impl VerdictScales {
    fn of(rubric: &Rubric) -> Self {
        let score = rubric_score_scale(rubric);
        // The largest difference may be that of any criterion.
        let is_shared = |ends: &(f64, f64)| {
            rubric.questions().all(|question| criterion_score_scale(rubric, &question.id()) == Some(*ends))
        };
        Self { score: score.map(ScoreScale::from), spread: score.filter(is_shared).map(ScoreScale::from) }
    }
}

/// The newest verdict of each monitor about each of some traces, by trace and name of the monitor.
pub async fn load_newest_verdicts(
    store: &Store,
    project: ProjectId,
    traces: &[String],
) -> Result<BTreeMap<(String, String), ScaledVerdict>, StoreError> {
    let verdicts = store.newest_verdicts(project, traces).await?;
    let mut scales: BTreeMap<RubricVersionId, VerdictScales> = BTreeMap::new();
    for verdict in &verdicts {
        let version = &verdict.rubric_version;
        if !scales.contains_key(version) {
            let canonical = store.rubric_version(project, version).await?.canonical;
            let rubric = read_canonical_rubric(&canonical);
            scales.insert(version.clone(), rubric.as_ref().map(VerdictScales::of).unwrap_or_default());
        }
    }
    let by_monitor = |verdict: VerdictHead| {
        let (monitor, scales) = (verdict.monitor.clone()?, scales.get(&verdict.rubric_version).copied());
        let scales = scales.unwrap_or_default();
        Some(((verdict.candidate.clone(), monitor), ScaledVerdict { verdict, scales }))
    };
    Ok(verdicts.into_iter().filter_map(by_monitor).collect())
}

impl DecisionView {
    pub fn new(it: &MonitorDecision, version: Option<&MonitorVersion>) -> Self {
        Self {
            trace: it.trace.to_string(),
            title: None,
            monitor: it.monitor.to_string(),
            monitor_name: None,
            version: it.version.to_string(),
            rubric_version: version.map(|version| version.rubric_version.to_string()),
            agent: it.agent.clone(),
            stratum: it.stratum.as_str().to_owned(),
            state: it.state.as_str().to_owned(),
            judge_status: it.state.judge_status().to_owned(),
            is_sampled: it.is_sampled,
            probability: it.probability.get(),
            upstream: it.upstream.get(),
            reason: it.reason.clone(),
            verdict: None,
            score: None,
            scale: None,
            spread: it.spread,
            spread_scale: None,
            is_disputed: it.is_disputed,
            decided: it.decided.to_string(),
            updated: it.updated.to_string(),
            history: Vec::new(),
        }
    }
}

impl DecisionView {
    pub fn set_verdict(&mut self, newest: Option<ScaledVerdict>) {
        self.verdict = newest.as_ref().map(|newest| newest.verdict.status);
        self.score = newest.as_ref().and_then(|newest| newest.verdict.score);
        let scales = newest.map(|newest| newest.scales).unwrap_or_default();
        self.scale = scales.score.filter(|_| self.score.is_some());
        self.spread_scale = scales.spread.filter(|_| self.spread.is_some());
    }

    /// Hides the judges' results if the viewer has still to annotate the trace.
    pub fn hide_if_withheld(self, withheld: &BTreeSet<String>) -> Self {
        if withheld.contains(&self.trace) {
            Self {
                verdict: None,
                score: None,
                scale: None,
                spread: None,
                spread_scale: None,
                is_disputed: false,
                ..self
            }
        } else {
            self
        }
    }
}

impl From<DecisionEvent> for EventView {
    fn from(it: DecisionEvent) -> Self {
        Self { state: it.state.as_str().to_owned(), note: it.note, time: it.time.to_string() }
    }
}
