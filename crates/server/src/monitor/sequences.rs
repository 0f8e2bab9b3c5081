//! Cache of confidence sequences at the end of each day, so that a trend reads only the scores of days that changed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jurist_core::grade::Time;
use jurist_core::plan::TraceStratum;
use jurist_core::stats::monitoring::TrafficSequence;
use jurist_store::scores::StratumScore;
use jurist_store::{MonitorId, ProjectId, RubricVersionId, Store, StoreError};

use super::estimates::{DAY, TrafficWindow};

/// Series in the cache; with thirty days, each takes about 10 kB.
const MOST: usize = 256;

/// Most scores of a sequence.
const LONGEST: usize = 100_000;

pub(super) const ALPHA: f64 = 0.05;

#[derive(Debug, Default)]
pub struct Sequences(Mutex<BTreeMap<SequenceKey, DailySequences>>);

/// Scores of one judge on one criterion from one day on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SequenceKey {
    pub project: ProjectId,
    pub monitor: MonitorId,
    pub version: RubricVersionId,
    pub judge: String,
    pub criterion: String,
    pub agent: Option<String>,
    pub from: Time,
}

pub(super) type DailySequences = BTreeMap<Time, SequenceState>;

/// State of a sequence at the end of a day.
#[derive(Debug, Clone)]
pub(super) struct SequenceState {
    /// Number of scores so far. Scores never change, so an equal number means equal scores.
    n: usize,
    pub sequence: TrafficSequence,
}

impl Sequences {
    /// The sequence after each day, given the number of scores per day.
    pub(super) async fn follow(
        &self,
        store: &Store,
        key: SequenceKey,
        days: &BTreeMap<Time, usize>,
    ) -> Result<DailySequences, StoreError> {
        let mut known = self.all().get(&key).cloned().unwrap_or_default();
        let (mut stood, mut followed) = (
            SequenceState { n: 0, sequence: TrafficSequence::new(TraceStratum::ALL.len(), ALPHA) },
            DailySequences::new(),
        );
        for (day, n) in days {
            let before = stood.n;
            stood.n += n;
            match known.remove(day) {
                Some(it) if it.n == stood.n => stood = it,
                _ => {
                    // States of later days depend on this day, so they are dropped.
                    known.clear();
                    let left = LONGEST.saturating_sub(before);
                    for StratumScore { stratum, unit } in key.scores(store, *day, left).await? {
                        // Stored scores are within 0..=1, so this cannot fail.
                        let _ = stood.sequence.push(stratum.as_str(), unit);
                    }
                }
            }
            followed.insert(*day, stood.clone());
        }
        let mut all = self.all();
        if MOST <= all.len() && !all.contains_key(&key) {
            all.clear();
        }
        all.insert(key, followed.clone());
        Ok(followed)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<SequenceKey, DailySequences>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SequenceKey {
    pub(super) fn new(
        project: ProjectId,
        monitor: MonitorId,
        window: &TrafficWindow,
        (version, judge, criterion): (&RubricVersionId, &str, &str),
    ) -> Self {
        Self {
            project,
            monitor,
            version: version.clone(),
            judge: judge.to_owned(),
            criterion: criterion.to_owned(),
            agent: window.agent.clone(),
            from: window.from,
        }
    }

    async fn scores(&self, store: &Store, day: Time, most: usize) -> Result<Vec<StratumScore>, StoreError> {
        let series = (&self.version, self.judge.as_str(), self.criterion.as_str());
        let window = (day, Time::from_micros(day.micros() + DAY));
        store.scores_in_order(self.project, self.monitor, series, self.agent.as_deref(), window, most).await
    }
}

#[cfg(test)]
mod tests {
    use jurist_core::money::Rates;
    use jurist_store::decisions::{DecisionState, NewMonitorDecision, TraceRevision};
    use jurist_store::scores::{Score, ScoreContext};
    use jurist_store::testing::for_each_engine;
    use jurist_store::{Probability, Region, TraceId};

    use super::*;
    use crate::job::Work;
    use crate::monitor::{apply_monitor_file, find_monitor};

    const MONITOR: &str = "{agent: desk, rubric: {criteria: [{name: kind, description: It is kind.}]}}";

    #[test]
    fn what_was_worked_out_is_what_would_be_worked_out_anew() {
        for_each_engine(|scene| async move {
            let (store, now) = (&scene.store, Time::parse("2028-02-01T00:00:00Z").unwrap());
            let project = store.default_project(&Rates::default(), now).await.unwrap();
            let place = (&Region::default(), &Work::default());
            apply_monitor_file(store, project, None, MONITOR, place, None, now).await.unwrap();
            let monitor = find_monitor(store, project, "desk").await.unwrap();
            let newest = monitor.newest.as_ref().unwrap();
            let day = |n: i64| Time::from_micros(now.micros() + n * DAY);
            let id = |name: &str| TraceId::new(name).unwrap();
            let decision = |name: &str| NewMonitorDecision {
                trace: id(name),
                revision: 1,
                monitor: monitor.id,
                version: newest.id,
                agent: Some("desk".to_owned()),
                stratum: TraceStratum::Other,
                probability: Probability::CERTAIN,
                upstream: Probability::CERTAIN,
                state: DecisionState::Sampled,
                reason: "drawn".to_owned(),
            };
            let names = ["a", "b", "c", "d"];
            let seen = names.map(|name| TraceRevision { trace: id(name), revision: 1 });
            store.consider(project, &seen, &names.map(decision), |_| None, now).await.unwrap();
            let score = async |name: &str, at: i64, unit: Option<f64>| {
                let scored = ScoreContext {
                    monitor: monitor.id,
                    trace: id(name),
                    revision: 1,
                    version: newest.id,
                    rubric_version: newest.rubric_version.clone(),
                    rescore: None,
                    stratum: TraceStratum::Other,
                    agent: Some("desk".to_owned()),
                    probability: Probability::CERTAIN,
                    decided: day(at),
                };
                let one = Score { judge: "m".into(), criterion: String::new(), unit, is_passed: None };
                store.put_scores(project, &scored, &[one], None, now).await.unwrap();
            };
            let remembered = Sequences::default();
            let window = TrafficWindow { agent: None, from: day(0), until: day(9) };
            let ends = async |sequences: &Sequences, n: [usize; 3]| {
                let key = SequenceKey::new(project, monitor.id, &window, (&newest.rubric_version, "m", ""));
                let days = (0..3).map(day).zip(n).collect();
                let all = sequences.follow(store, key, &days).await.unwrap();
                all.into_values().map(|sequence_state| sequence_state.sequence).collect::<Vec<_>>()
            };
            score("a", 0, Some(0.9)).await;
            score("b", 1, None).await;
            score("c", 2, Some(0.2)).await;
            let first = ends(&remembered, [1, 0, 1]).await;
            assert_eq!(first[0], first[1], "a day without a score changes nothing");
            assert_ne!(first[1], first[2]);
            // An earlier day gets another score, which changes the days after it.
            score("b", 1, Some(0.5)).await;
            score("d", 2, Some(0.4)).await;
            let then = ends(&remembered, [1, 1, 2]).await;
            assert_eq!(then, ends(&Sequences::default(), [1, 1, 2]).await);
            assert_eq!(then, ends(&remembered, [1, 1, 2]).await);
            assert!(first[0] == then[0] && first[1] != then[1] && first[2] != then[2]);
        });
    }
}
