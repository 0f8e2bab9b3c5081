//! Sampling decisions for finished traces, in the background: one decision for each monitor of the trace's agent, and
//! a job for each sampled trace.
//!
//! Several servers on one database may do the same work, but the store keeps one decision per revision of a trace.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jurist_core::grade::{Time, Usd};
use jurist_core::money::Rates;
use jurist_core::plan::{SamplingDecision, TraceFacts, TraceStratum, next_time, pick_trace};
use jurist_store::decisions::{DecisionState, NewMonitorDecision, TraceRevision};
use jurist_store::jobs::{JobState, NewJob};
use jurist_store::traces::TraceHead;
use jurist_store::{MonitorVersionId, Probability, ProjectId, Store, StoreError, clock};
use tokio::sync::watch;

use super::LoadedMonitorVersion;
use super::pace::{FOR_FAILURES, SamplingPace, compute_sampling_pace};
use crate::job::{MONITOR, MonitorTask, NOTHING_TO_JUDGE};
use crate::metrics::Metrics;

/// Interval between two queries for traces if there are none.
const PAUSE: Duration = Duration::from_millis(250);
/// The same if the database is unavailable.
const AWAY: Duration = Duration::from_secs(5);
/// Traces per query.
const BATCH: usize = 200;

/// How long the cost threshold of an agent is cached, in microseconds (five minutes).
const COSTS_KEPT: i64 = 300_000_000;
/// Fewer costs are not enough for a threshold.
const FEWEST_COSTS: usize = 50;
const COSTS: usize = 1_000;

/// Settings of the server that the decision loop uses.
#[derive(Debug, Clone)]
pub struct DecisionLoopSettings {
    pub max_waiting: u64,
    pub rates: Rates,
    pub settle: Duration,
}

/// Decides about finished traces until the stop signal.
pub async fn run_decision_loop(
    store: Store,
    metrics: Arc<Metrics>,
    settings: DecisionLoopSettings,
    mut stopped: watch::Receiver<bool>,
) {
    let mut known = DecisionCache::default();
    loop {
        let limits = (settings.max_waiting, &settings.rates);
        let pause = match decide_new_traces(&store, &metrics, limits, &mut known, clock::current_time()).await
        {
            Ok(n) if n == BATCH => Duration::ZERO,
            Ok(_) => PAUSE.min(settings.settle),
            Err(error) => {
                tracing::warn!(%error, "monitors cannot decide about traces at the moment");
                AWAY
            }
        };
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Data that is not read again for every trace.
#[derive(Default)]
pub(crate) struct DecisionCache {
    versions: HashMap<MonitorVersionId, Option<Arc<LoadedMonitorVersion>>>,
    dear: HashMap<(ProjectId, String), (Time, Option<Usd>)>,
}

pub(crate) async fn decide_new_traces(
    store: &Store,
    metrics: &Metrics,
    (max_waiting, rates): (u64, &Rates),
    known: &mut DecisionCache,
    now: Time,
) -> Result<usize, StoreError> {
    let unconsidered = store.unconsidered_traces(BATCH).await?;
    let n = unconsidered.len();
    let mut by_project: BTreeMap<ProjectId, Vec<TraceHead>> = BTreeMap::new();
    for (project, head) in unconsidered {
        by_project.entry(project).or_default().push(head);
    }
    for (project, heads) in by_project {
        let decisions = known.decisions(store, project, &heads, (max_waiting, rates), now).await?;
        let paused = decisions.paused;
        let job = |new_monitor_decision: &NewMonitorDecision| -> Option<NewJob> {
            let waits =
                paused.contains(&new_monitor_decision.version) || !new_monitor_decision.state.is_open();
            let schedule = decisions.schedules.get(&new_monitor_decision.version);
            let ready = schedule.and_then(|schedule| next_time(schedule, now)).unwrap_or(now);
            let task = MonitorTask::live(
                new_monitor_decision.monitor,
                new_monitor_decision.version,
                new_monitor_decision.trace.clone(),
                new_monitor_decision.revision,
            );
            (!waits).then(|| NewJob { ready, ..task.job(project, now) })
        };
        let seen = |head: TraceHead| TraceRevision { trace: head.id, revision: head.revision };
        let traces: Vec<TraceRevision> = heads.into_iter().map(seen).collect();
        let made = store.consider(project, &traces, &decisions.made, job, now).await?;
        made.iter().for_each(|new_monitor_decision| metrics.count_decision(new_monitor_decision.state));
    }
    Ok(n)
}

/// Decisions and jobs for a batch of traces.
struct DecisionBatch {
    made: Vec<NewMonitorDecision>,
    /// Versions of paused monitors.
    paused: Vec<MonitorVersionId>,
    schedules: HashMap<MonitorVersionId, String>,
}

impl DecisionCache {
    async fn decisions(
        &mut self,
        store: &Store,
        project: ProjectId,
        heads: &[TraceHead],
        (max_waiting, rates): (u64, &Rates),
        now: Time,
    ) -> Result<DecisionBatch, StoreError> {
        let mut all = DecisionBatch { made: Vec::new(), paused: Vec::new(), schedules: HashMap::new() };
        let mut watching = Vec::new();
        for monitor in store.monitors(project).await? {
            let Some(version) = &monitor.newest else { continue };
            let read = || match LoadedMonitorVersion::read(version) {
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
            let pace = compute_sampling_pace(store, project, &watched, rates, now).await?;
            watching.push((monitor.created, watched, pace));
        }
        if watching.is_empty() {
            return Ok(all);
        }
        let mut room = max_waiting.saturating_sub(count_waiting_jobs(store, project).await?);
        for head in heads {
            let dear = match &head.agent {
                Some(agent) => self.expensive_cost_threshold(store, project, agent, now).await?,
                None => None,
            };
            // Traces that finished before the monitor was created are not evaluated.
            let since =
                |(begun, _, _): &&(Time, _, _)| head.finished.is_none_or(|finished| *begun <= finished);
            for (_, watched, pace) in watching.iter().filter(since) {
                all.made.extend(decision(watched, head, dear, pace, &mut room));
            }
        }
        Ok(all)
    }

    /// Cost from which on a trace is among the most expensive tenth of its agent's traces.
    async fn expensive_cost_threshold(
        &mut self,
        store: &Store,
        project: ProjectId,
        agent: &str,
        now: Time,
    ) -> Result<Option<Usd>, StoreError> {
        let key = (project, agent.to_owned());
        if let Some((looked, dear)) = self.dear.get(&key)
            && now.micros() < looked.micros() + COSTS_KEPT
        {
            return Ok(*dear);
        }
        let mut costs = store.recent_costs(project, agent, COSTS).await?;
        costs.sort_unstable();
        // If most traces cost the same, that cost does not count as expensive.
        let tenth = costs.get(costs.len() * 9 / 10).filter(|_| FEWEST_COSTS <= costs.len());
        let dear =
            tenth.filter(|tenth| costs[costs.len() / 2] < **tenth).map(|tenth| Usd::from_nanos(*tenth));
        self.dear.insert(key, (now, dear));
        Ok(dear)
    }
}

async fn count_waiting_jobs(store: &Store, project: ProjectId) -> Result<u64, StoreError> {
    let counts = store.job_counts(Some(project)).await?;
    let own = counts.iter().filter(|count| count.kind == MONITOR && count.state != JobState::Dead);
    Ok(own.map(|job_count| job_count.n).sum())
}

fn decision(
    watched: &LoadedMonitorVersion,
    head: &TraceHead,
    dear: Option<Usd>,
    pace: &SamplingPace,
    room: &mut u64,
) -> Option<NewMonitorDecision> {
    let facts = TraceFacts {
        id: head.id.as_str(),
        agent: head.agent.as_deref(),
        session: head.session.as_deref(),
        status: head.status.as_deref(),
        is_failed: head.is_failed,
        cost: head.cost,
        duration: head.duration.map(|duration| duration as f64 / 1e6),
        n_steps: head.n_steps,
        metadata: head.metadata.as_object(),
    };
    let (stratum, probability, state, reason) = match pick_trace(&watched.monitor, &facts, dear, pace.factor)
    {
        SamplingDecision::NotWatched => return None,
        SamplingDecision::Filtered(why) => (TraceStratum::Other, 1.0, DecisionState::Filtered, why),
        SamplingDecision::Drawn { .. } if !head.has_content => {
            let reason = match head.metadata["unreadable"].as_str() {
                Some(why) => format!("the trace could not be read: {why}"),
                None => NOTHING_TO_JUDGE.to_owned(),
            };
            (TraceStratum::Other, 1.0, DecisionState::NothingToJudge, reason)
        }
        SamplingDecision::Drawn { stratum, probability, is_sampled } => {
            let share = (1e4 * probability).round() / 100.0;
            let paced = if pace.factor < 1.0 { ", paced to the monthly budget" } else { "" };
            let (state, reason) = match (is_sampled, stratum) {
                (true, TraceStratum::Expensive | TraceStratum::Other) if pace.is_for_failures => {
                    (DecisionState::OverBudget, FOR_FAILURES.to_owned())
                }
                (true, _) if *room == 0 => {
                    (DecisionState::Overloaded, "the queue of traces to be judged is full".to_owned())
                }
                (true, TraceStratum::Failed) => {
                    (DecisionState::Sampled, "it failed, and failed traces are always judged".to_owned())
                }
                (true, _) => (DecisionState::Sampled, format!("sampled (sample rate {share} %{paced})")),
                (false, _) => {
                    (DecisionState::SampledOut, format!("not sampled (sample rate {share} %{paced})"))
                }
            };
            (stratum, probability, state, reason)
        }
    };
    if state == DecisionState::Sampled {
        *room -= 1;
    }
    Some(NewMonitorDecision {
        trace: head.id.clone(),
        revision: head.revision,
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

#[cfg(test)]
mod tests {
    use jurist_core::candidate::Trace;
    use jurist_core::money::Cap;
    use jurist_store::spend::{ReservationRequest, Reserve};
    use jurist_store::testing::{Scene, for_each_engine};
    use jurist_store::traces::FinishedTrace;
    use jurist_store::{MonitorId, Region, TraceId};
    use serde_json::json;

    use super::*;
    use crate::job::Work;
    use crate::monitor::{apply_monitor_file, find_monitor};

    const MONITOR: &str = "
agent: desk
rubric: {criteria: [{name: kind, description: It is kind.}]}
judge_model: openai/gpt-5-mini
sample_rate: 0.5
pacing: {floor: 0.1, kept_for_failures: 0.2}
";

    struct Desk {
        scene: Arc<Scene>,
        project: ProjectId,
        monitor: MonitorId,
    }

    fn at(text: &str) -> Time {
        Time::parse(text).unwrap()
    }

    async fn desk(scene: Arc<Scene>) -> Desk {
        let (store, now) = (&scene.store, at("2028-02-01T00:00:00Z"));
        let project = store.default_project(&Rates::default(), now).await.unwrap();
        let cap = Cap::new(10.0, "USD".parse().unwrap(), 1.0).unwrap();
        store.set_cap(project, Some(cap)).await.unwrap();
        let place = (&Region::default(), &Work::default());
        apply_monitor_file(store, project, None, MONITOR, place, None, now).await.unwrap();
        let monitor = find_monitor(store, project, "desk").await.unwrap().id;
        Desk { scene, project, monitor }
    }

    impl Desk {
        async fn pay(&self, dollars: f64, now: Time) {
            let (store, amount) = (&self.scene.store, Usd::from_nanos((dollars * 1e9) as i64));
            let wanted = ReservationRequest {
                amount,
                purpose: "monitor",
                subject: "",
                limit: None,
                model: "a/b",
                job: None,
            };
            let Reserve::Held(id) = store.reserve(self.project, &wanted, now).await.unwrap() else {
                panic!()
            };
            store.settle(self.project, id, amount, now).await.unwrap();
        }

        /// Sends two hundred traces of which every tenth failed. Returns probability, number sampled and number over
        /// budget of the others, and checks that all failed ones were sampled with probability 1.
        async fn day(&self, name: &str, now: Time) -> (f64, usize, usize) {
            let trace = |n: usize| {
                let finished = FinishedTrace {
                    trace: Trace { task: Some("Help me.".to_owned()), ..Trace::default() },
                    agent: Some("desk".into()),
                    session: None,
                    is_failed: n.is_multiple_of(10),
                    started: now,
                    duration: None,
                    probability: Probability::CERTAIN,
                    metadata: json!({}),
                };
                (TraceId::new(format!("{name} {n}")).unwrap(), finished)
            };
            let traces: Vec<_> = (0..BATCH).map(trace).collect();
            self.scene.store.put_traces(self.project, &traces, now).await.unwrap();
            let settings = (u64::MAX, &Rates::default());
            let metrics = Metrics::default();
            decide_new_traces(&self.scene.store, &metrics, settings, &mut DecisionCache::default(), now)
                .await
                .unwrap();
            let (mut probability, mut n_sampled, mut n_over) = (0.0, 0, 0);
            for (id, finished) in &traces {
                let decision = self.scene.store.decision(self.project, id, self.monitor).await.unwrap();
                if finished.is_failed {
                    assert_eq!((decision.probability.get(), decision.state), (1.0, DecisionState::Sampled));
                } else {
                    probability = decision.probability.get();
                    n_sampled += usize::from(decision.state == DecisionState::Sampled);
                    n_over += usize::from(decision.state == DecisionState::OverBudget);
                    let is_paced = probability < 0.5 && decision.state != DecisionState::OverBudget;
                    assert_eq!(decision.reason.contains("paced to the monthly budget"), is_paced);
                    let is_left_out = decision.reason.starts_with("not sampled (sample rate ");
                    assert_eq!(
                        is_left_out,
                        decision.state == DecisionState::SampledOut,
                        "{}",
                        decision.reason
                    );
                }
            }
            (probability, n_sampled, n_over)
        }
    }

    #[test]
    fn a_month_whose_money_goes_too_fast_is_sampled_less_and_its_failures_are_not() {
        for_each_engine(|scene| async {
            let (desk, noon) = (desk(scene).await, at("2028-02-15T12:00:00Z"));
            let (probability, n_sampled, n_over) = desk.day("calm", noon).await;
            assert!((probability - 0.5).abs() < 1e-9 && (60..120).contains(&n_sampled) && n_over == 0);
            // Half of the month is left, and two fifths of the budget that is not reserved for failures.
            desk.pay(4.8, noon).await;
            let (probability, n_sampled, n_over) = desk.day("fast", noon).await;
            assert!((probability - 0.5 * 0.8_f64.powi(8)).abs() < 1e-9, "{probability}");
            assert!((3..35).contains(&n_sampled) && n_over == 0, "{n_sampled}");
            desk.pay(3.2, noon).await;
            let (probability, n_sampled, n_over) = desk.day("gone", noon).await;
            assert!((probability - 0.05).abs() < 1e-9, "{probability}");
            assert!(n_sampled == 0 && (1..25).contains(&n_over), "{n_sampled} {n_over}");
            let (probability, n_sampled, _) = desk.day("next", at("2028-03-01T00:00:00Z")).await;
            assert!((probability - 0.5).abs() < 1e-9 && 60 < n_sampled, "{probability} {n_sampled}");
        });
    }
}
