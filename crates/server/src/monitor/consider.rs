//! Decides about every trace that has finished, in the background: one record for each monitor that watches its
//! agent, and a job for each that is sampled.
//!
//! Several servers on one database do the same work at worst: a decision is made once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jurist_core::grade::{Time, Usd};
use jurist_core::plan::{Facts, Pick, Stratum, next_time, pick};
use jurist_store::decisions::{DecisionState, NewDecision};
use jurist_store::jobs::{JobState, NewJob};
use jurist_store::traces::TraceHead;
use jurist_store::{MonitorVersionId, Probability, ProjectId, Store, StoreError, TraceId, clock};
use tokio::sync::watch;

use super::Watched;
use crate::app::App;
use crate::metrics::Metrics;
use crate::work::{MONITOR, MonitorTask};

/// Between two looks for traces, when there are none.
const PAUSE: Duration = Duration::from_millis(250);
/// And when the database is away.
const AWAY: Duration = Duration::from_secs(5);
/// Traces of one look.
const BATCH: usize = 200;

/// What an agent's traces cost is looked up so often.
const COSTS_KEPT: i64 = 300_000_000;
/// Fewer costs do not say what is dear.
const FEWEST_COSTS: usize = 50;
const COSTS: usize = 1_000;

/// Decides until told to stop.
pub async fn run(app: App, mut stopped: watch::Receiver<bool>) {
    let mut known = Known::default();
    loop {
        let pause = match round(&app.store, &app.metrics, app.settings.max_waiting, &mut known).await {
            Ok(n) if n == BATCH => Duration::ZERO,
            Ok(_) => PAUSE.min(app.settings.settle),
            Err(error) => {
                tracing::warn!(%error, "nothing can be decided about traces at the moment");
                AWAY
            }
        };
        tokio::select! {
            _ = stopped.wait_for(|it| *it) => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Decides about everything that has finished, now, for those who run no server.
pub async fn consider_finished(app: &App) -> Result<(), StoreError> {
    let mut known = Known::default();
    while round(&app.store, &app.metrics, app.settings.max_waiting, &mut known).await? == BATCH {}
    Ok(())
}

/// What need not be read again for every trace.
#[derive(Default)]
struct Known {
    versions: HashMap<MonitorVersionId, Option<Arc<Watched>>>,
    dear: HashMap<(ProjectId, String), (Time, Option<Usd>)>,
}

async fn round(
    store: &Store,
    metrics: &Metrics,
    max_waiting: u64,
    known: &mut Known,
) -> Result<usize, StoreError> {
    let found = store.unconsidered(BATCH).await?;
    let n = found.len();
    let mut by_project: BTreeMap<ProjectId, Vec<TraceHead>> = BTreeMap::new();
    for (project, head) in found {
        by_project.entry(project).or_default().push(head);
    }
    for (project, heads) in by_project {
        let decisions = known.decisions(store, project, &heads, max_waiting).await?;
        let (now, paused) = (clock::now(), decisions.paused);
        let job = |it: &NewDecision| -> Option<NewJob> {
            let waits = paused.contains(&it.version) || it.state != DecisionState::Sampled;
            let schedule = decisions.schedules.get(&it.version);
            let ready = schedule.and_then(|it| next_time(it, now)).unwrap_or(now);
            let task = MonitorTask::live(it.monitor, it.version, it.trace.clone());
            (!waits).then(|| NewJob { ready, ..task.job(project, now) })
        };
        let traces: Vec<TraceId> = heads.into_iter().map(|it| it.id).collect();
        let made = store.consider(project, &traces, &decisions.made, job, now).await?;
        made.iter().for_each(|it| metrics.decided(it.state));
    }
    Ok(n)
}

/// What follows for some traces.
struct Decisions {
    made: Vec<NewDecision>,
    /// Versions of monitors that judge nothing at the moment.
    paused: Vec<MonitorVersionId>,
    schedules: HashMap<MonitorVersionId, String>,
}

impl Known {
    async fn decisions(
        &mut self,
        store: &Store,
        project: ProjectId,
        heads: &[TraceHead],
        max_waiting: u64,
    ) -> Result<Decisions, StoreError> {
        let mut all = Decisions { made: Vec::new(), paused: Vec::new(), schedules: HashMap::new() };
        let mut watching = Vec::new();
        for monitor in store.monitors(project).await? {
            let Some(version) = &monitor.newest else { continue };
            let read = || match Watched::read(version) {
                Ok(watched) => Some(Arc::new(watched)),
                Err(why) => {
                    tracing::error!(monitor = %monitor.id, why, "a monitor cannot be read");
                    None
                }
            };
            let Some(watched) = self.versions.entry(version.id).or_insert_with(read).clone() else {
                continue;
            };
            if monitor.paused.is_some() {
                all.paused.push(version.id);
            }
            if let Some(schedule) = &watched.monitor.schedule {
                all.schedules.insert(version.id, schedule.clone());
            }
            watching.push((monitor.created, watched));
        }
        if watching.is_empty() {
            return Ok(all);
        }
        let mut room = max_waiting.saturating_sub(waiting(store, project).await?);
        for head in heads {
            let dear = match &head.agent {
                Some(agent) => self.dear(store, project, agent).await?,
                None => None,
            };
            // What had finished before there was a monitor is none of its business.
            let since = |it: &&(Time, _)| head.finished.is_none_or(|finished| it.0 <= finished);
            for (_, watched) in watching.iter().filter(since) {
                all.made.extend(decision(watched, head, dear, &mut room));
            }
        }
        Ok(all)
    }

    /// From where on the dearest tenth of an agent's traces begins.
    async fn dear(
        &mut self,
        store: &Store,
        project: ProjectId,
        agent: &str,
    ) -> Result<Option<Usd>, StoreError> {
        let (now, key) = (clock::now(), (project, agent.to_owned()));
        if let Some((looked, dear)) = self.dear.get(&key)
            && now.micros() < looked.micros() + COSTS_KEPT
        {
            return Ok(*dear);
        }
        let mut costs = store.recent_costs(project, agent, COSTS).await?;
        costs.sort_unstable();
        // Where most cost the same, those are not dear.
        let tenth = costs.get(costs.len() * 9 / 10).filter(|_| FEWEST_COSTS <= costs.len());
        let dear = tenth.filter(|it| costs[costs.len() / 2] < **it).map(|it| Usd::from_nanos(*it));
        self.dear.insert(key, (now, dear));
        Ok(dear)
    }
}

async fn waiting(store: &Store, project: ProjectId) -> Result<u64, StoreError> {
    let counts = store.job_counts(Some(project)).await?;
    let own = counts.iter().filter(|it| it.kind == MONITOR && it.state != JobState::Dead);
    Ok(own.map(|it| it.n).sum())
}

fn decision(watched: &Watched, head: &TraceHead, dear: Option<Usd>, room: &mut u64) -> Option<NewDecision> {
    let facts = Facts {
        id: head.id.as_str(),
        agent: head.agent.as_deref(),
        session: head.session.as_deref(),
        status: head.status.as_deref(),
        is_failed: head.is_failed,
        cost: head.cost,
        duration: head.duration.map(|it| it as f64 / 1e6),
        n_steps: head.n_steps,
        metadata: head.metadata.as_object(),
    };
    let (stratum, probability, state, reason) = match pick(&watched.monitor, &facts, dear) {
        Pick::NotWatched => return None,
        Pick::Filtered(why) => (Stratum::Other, 1.0, DecisionState::Filtered, why),
        Pick::Drawn { stratum, probability, is_sampled } => {
            let share = (1e4 * probability).round() / 100.0;
            let (state, reason) = match (is_sampled, stratum) {
                (true, _) if *room == 0 => {
                    (DecisionState::Overloaded, "more waits to be judged than there is room for".to_owned())
                }
                (true, Stratum::Failed) => {
                    (DecisionState::Sampled, "it failed, and those are always looked at".to_owned())
                }
                (true, _) => (DecisionState::Sampled, format!("one of the {share} % that are looked at")),
                (false, _) => {
                    (DecisionState::SampledOut, format!("not one of the {share} % that are looked at"))
                }
            };
            (stratum, probability, state, reason)
        }
    };
    if state == DecisionState::Sampled {
        *room -= 1;
    }
    Some(NewDecision {
        trace: head.id.clone(),
        monitor: watched.monitor_id,
        version: watched.id,
        agent: head.agent.clone(),
        stratum,
        probability: Probability::new(probability).unwrap_or_default(),
        upstream: head.probability,
        state,
        reason,
    })
}
