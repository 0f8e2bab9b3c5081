//! Cache of confidence sequences at the end of each day, so that a trend reads only the scores of days that changed, and
//! of a day that changes all the time only its newest scores.

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

/// A checkpoint is so far in the past, in microseconds. Judges answer within seconds, and a job of a worker that died is
/// done again after a minute, so that few scores belong before a checkpoint that was made; these cost a day's scores.
const CHECKPOINT_AGE: i64 = 120_000_000;

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

pub(super) type DailySequences = BTreeMap<Time, SequenceDay>;

/// A day of a sequence.
#[derive(Debug, Clone)]
pub(super) struct SequenceDay {
    /// At the end of the day.
    pub end: SequenceState,
    /// The state at an earlier moment of the day, from which the day is continued when it gets more scores.
    checkpoint: Option<Checkpoint>,
}

#[derive(Debug, Clone)]
pub(super) struct SequenceState {
    /// Of all scores so far.
    total: ScoreTotal,
    pub sequence: TrafficSequence,
}

/// Number and sum of scores. A score never changes, but it is withdrawn when its trace gets a new revision, and another
/// takes its place; so equal numbers alone do not mean equal scores.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ScoreTotal {
    pub n: usize,
    pub sum: f64,
}

impl ScoreTotal {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { n: self.n + other.n, sum: self.sum + other.sum }
    }

    /// Whether the scores are the same, but for roundings: scores are read as billionths, and stored sums grow by one
    /// score at a time.
    fn is_same(self, other: Self) -> bool {
        self.n == other.n && (self.sum - other.sum).abs() <= 1e-9 * (1 + self.n) as f64
    }
}

/// The state after all scores of traces that were decided before a moment.
#[derive(Debug, Clone)]
struct Checkpoint {
    until: Time,
    state: SequenceState,
}

impl Sequences {
    /// The sequence after each day, given the stored totals of each day.
    pub(super) async fn follow(
        &self,
        store: &Store,
        key: SequenceKey,
        days: &BTreeMap<Time, ScoreTotal>,
        now: Time,
    ) -> Result<DailySequences, StoreError> {
        let mut known = self.all().get(&key).cloned().unwrap_or_default();
        let (mut state, mut followed) = (SequenceState::empty(), DailySequences::new());
        for (day, total) in days {
            let total_after = state.total.plus(*total);
            let sequence_day = match known.remove(day) {
                Some(same) if same.end.total.is_same(total_after) => same,
                changed => {
                    // States of later days depend on this day, so they are dropped.
                    known.clear();
                    let scores = DayScores { store, key: &key, start: *day, total_after, now };
                    let checkpoint = changed.and_then(|changed| changed.checkpoint);
                    scores.follow(state, checkpoint).await?
                }
            };
            state = sequence_day.end.clone();
            followed.insert(*day, sequence_day);
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

impl SequenceState {
    fn empty() -> Self {
        let sequence = TrafficSequence::new(TraceStratum::ALL.len(), ALPHA);
        Self { total: ScoreTotal::default(), sequence }
    }
}

/// The stored scores of a day.
struct DayScores<'a> {
    store: &'a Store,
    key: &'a SequenceKey,
    start: Time,
    /// Of all scores until the end of the day, from the stored sums.
    total_after: ScoreTotal,
    now: Time,
}

impl DayScores<'_> {
    /// Continues from the checkpoint of the day. If the totals differ then, a trace from before the checkpoint was scored
    /// after it or lost its score, and all scores of the day are read.
    async fn follow(
        &self,
        before: SequenceState,
        checkpoint: Option<Checkpoint>,
    ) -> Result<SequenceDay, StoreError> {
        if let Some(Checkpoint { until, state }) = checkpoint {
            let continued = self.push_from(until, state).await?;
            if continued.end.total.is_same(self.total_after) {
                return Ok(continued);
            }
        }
        let mut whole = self.push_from(self.start, before).await?;
        // Scores beyond the longest sequence count as well.
        whole.end.total = self.total_after;
        Ok(whole)
    }

    /// Adds the scores of traces that were decided from a time on, and makes the next checkpoint on the way.
    async fn push_from(&self, from: Time, mut state: SequenceState) -> Result<SequenceDay, StoreError> {
        let end = self.start.micros() + DAY;
        let until = Time::from_micros((self.now.micros() - CHECKPOINT_AGE).clamp(from.micros(), end));
        self.push((from, until), &mut state).await?;
        // A day that is over is seldom continued, and a sequence that has its longest length never is.
        let is_continued = until.micros() < end && state.total.n < LONGEST;
        let checkpoint = is_continued.then(|| Checkpoint { until, state: state.clone() });
        self.push((until, Time::from_micros(end)), &mut state).await?;
        Ok(SequenceDay { end: state, checkpoint })
    }

    async fn push(&self, window: (Time, Time), state: &mut SequenceState) -> Result<(), StoreError> {
        let (from, until) = window;
        let room = LONGEST.saturating_sub(state.total.n);
        if until <= from || room == 0 {
            return Ok(());
        }
        for StratumScore { stratum, unit } in self.key.scores(self.store, window, room).await? {
            state.total = state.total.plus(ScoreTotal { n: 1, sum: unit });
            // Stored scores are within 0..=1, so this cannot fail.
            let _ = state.sequence.push(stratum.as_str(), unit);
        }
        Ok(())
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

    async fn scores(
        &self,
        store: &Store,
        window: (Time, Time),
        most: usize,
    ) -> Result<Vec<StratumScore>, StoreError> {
        let series = (&self.version, self.judge.as_str(), self.criterion.as_str());
        store.scores_in_order(self.project, self.monitor, series, self.agent.as_deref(), window, most).await
    }
}

#[cfg(test)]
mod tests {
    use jurist_core::money::Rates;
    use jurist_store::decisions::{DecisionState, NewMonitorDecision, TraceRevision};
    use jurist_store::monitors::StoredMonitor;
    use jurist_store::scores::{Score, ScoreContext};
    use jurist_store::testing::for_each_engine;
    use jurist_store::{Probability, Region, TraceId};

    use super::*;
    use crate::job::Work;
    use crate::monitor::{apply_monitor_file, find_monitor};

    const MONITOR: &str = "{agent: desk, rubric: {criteria: [{name: kind, description: It is kind.}]}}";

    /// A monitor with traces `a` to `e`, which get scores.
    struct ScoredMonitor<'a> {
        store: &'a Store,
        project: ProjectId,
        monitor: StoredMonitor,
        start: Time,
    }

    impl<'a> ScoredMonitor<'a> {
        async fn new(store: &'a Store) -> Self {
            let start = Time::parse("2028-02-01T00:00:00Z").unwrap();
            let project = store.default_project(&Rates::default(), start).await.unwrap();
            let place = (&Region::default(), &Work::default());
            apply_monitor_file(store, project, None, MONITOR, place, None, start).await.unwrap();
            let monitor = find_monitor(store, project, "desk").await.unwrap();
            let id = |name: &str| TraceId::new(name).unwrap();
            let decision = |name: &str| NewMonitorDecision {
                trace: id(name),
                revision: 1,
                monitor: monitor.id,
                version: monitor.newest.as_ref().unwrap().id,
                agent: Some("desk".to_owned()),
                stratum: TraceStratum::Other,
                probability: Probability::CERTAIN,
                upstream: Probability::CERTAIN,
                state: DecisionState::Sampled,
                reason: "drawn".to_owned(),
            };
            let names = ["a", "b", "c", "d", "e"];
            let seen = names.map(|name| TraceRevision { trace: id(name), revision: 1 });
            store.consider(project, &seen, &names.map(decision), |_| None, start).await.unwrap();
            Self { store, project, monitor, start }
        }

        fn day(&self, n: i64) -> Time {
            Time::from_micros(self.start.micros() + n * DAY)
        }

        /// Stores the score of a trace about which the monitor decided at a time.
        async fn score(&self, name: &str, decided: Time, unit: Option<f64>) {
            let newest = self.monitor.newest.as_ref().unwrap();
            let scored = ScoreContext {
                monitor: self.monitor.id,
                trace: TraceId::new(name).unwrap(),
                revision: 1,
                version: newest.id,
                rubric_version: newest.rubric_version.clone(),
                rescore: None,
                stratum: TraceStratum::Other,
                agent: Some("desk".to_owned()),
                probability: Probability::CERTAIN,
                decided,
            };
            let one = Score { judge: "m".into(), criterion: String::new(), unit, is_passed: None };
            self.store.put_scores(self.project, &scored, &[one], None, self.start).await.unwrap();
        }

        /// The sequence at the end of each day, given the scores of each day.
        async fn follow(&self, sequences: &Sequences, days: &[&[f64]], now: Time) -> Vec<TrafficSequence> {
            let version = &self.monitor.newest.as_ref().unwrap().rubric_version;
            let window = TrafficWindow { agent: None, from: self.day(0), until: self.day(9) };
            let key = SequenceKey::new(self.project, self.monitor.id, &window, (version, "m", ""));
            let total = |units: &[f64]| ScoreTotal { n: units.len(), sum: units.iter().sum() };
            let days = (0..).zip(days).map(|(day, units)| (self.day(day), total(units))).collect();
            let followed = sequences.follow(self.store, key, &days, now).await.unwrap();
            followed.into_values().map(|day| day.end.sequence).collect()
        }
    }

    #[test]
    fn cached_days_are_equal_to_days_that_are_read_again() {
        for_each_engine(|scene| async move {
            let desk = ScoredMonitor::new(&scene.store).await;
            let cached = Sequences::default();
            let now = desk.day(9);
            desk.score("a", desk.day(0), Some(0.9)).await;
            desk.score("b", desk.day(1), None).await;
            desk.score("c", desk.day(2), Some(0.2)).await;
            let first = desk.follow(&cached, &[&[0.9], &[], &[0.2]], now).await;
            assert_eq!(first[0], first[1], "a day without a score changes nothing");
            assert_ne!(first[1], first[2]);
            // An earlier day gets another score, which changes the days after it.
            desk.score("b", desk.day(1), Some(0.5)).await;
            desk.score("d", desk.day(2), Some(0.4)).await;
            let then = desk.follow(&cached, &[&[0.9], &[0.5], &[0.2, 0.4]], now).await;
            assert_eq!(then, desk.follow(&Sequences::default(), &[&[0.9], &[0.5], &[0.2, 0.4]], now).await);
            assert_eq!(then, desk.follow(&cached, &[&[0.9], &[0.5], &[0.2, 0.4]], now).await);
            assert!(first[0] == then[0] && first[1] != then[1] && first[2] != then[2]);
        });
    }

    #[test]
    fn a_day_that_goes_on_reads_its_newest_scores_only() {
        for_each_engine(|scene| async move {
            let desk = ScoredMonitor::new(&scene.store).await;
            let cached = Sequences::default();
            let minute = |n: i64| Time::from_micros(desk.day(1).micros() + n * 60_000_000);
            desk.score("a", minute(0), Some(0.9)).await;
            desk.score("b", minute(2), Some(0.8)).await;
            desk.score("c", minute(9), Some(0.7)).await;
            desk.follow(&cached, &[&[], &[0.9, 0.8, 0.7]], minute(10)).await;
            // Stored scores never change. These do, which shows that they are not read again.
            scene.execute("UPDATE monitor_scores SET unit = 0.1 WHERE trace IN ('a', 'b')").await.unwrap();
            desk.score("d", minute(10), Some(0.6)).await;
            let continued = desk.follow(&cached, &[&[], &[0.9, 0.8, 0.7, 0.6]], minute(11)).await;
            let mut expected = TrafficSequence::new(TraceStratum::ALL.len(), ALPHA);
            for unit in [0.9, 0.8, 0.7, 0.6] {
                expected.push(TraceStratum::Other.as_str(), unit).unwrap();
            }
            assert_eq!(continued[1], expected);
            scene.execute("UPDATE monitor_scores SET unit = 0.9 WHERE trace = 'a'").await.unwrap();
            scene.execute("UPDATE monitor_scores SET unit = 0.8 WHERE trace = 'b'").await.unwrap();
            // A trace from before the checkpoint gets its score late: its place is in the middle.
            desk.score("e", minute(1), Some(0.5)).await;
            let units: &[f64] = &[0.9, 0.5, 0.8, 0.7, 0.6];
            let late = desk.follow(&cached, &[&[], units], minute(12)).await;
            assert_eq!(late, desk.follow(&Sequences::default(), &[&[], units], minute(12)).await);
            assert_eq!(late, desk.follow(&cached, &[&[], units], minute(13)).await);
            // A trace from before the checkpoint loses its score, and another one gets its first at the same time.
            scene.execute("DELETE FROM monitor_scores WHERE trace = 'a'").await.unwrap();
            let units: &[f64] = &[0.5, 0.8, 0.7, 0.6];
            let withdrawn = desk.follow(&cached, &[&[], units], minute(14)).await;
            assert_eq!(withdrawn, desk.follow(&Sequences::default(), &[&[], units], minute(14)).await);
            scene.execute("DELETE FROM monitor_scores WHERE trace = 'b'").await.unwrap();
            desk.score("a", minute(15), Some(0.1)).await;
            let units: &[f64] = &[0.5, 0.7, 0.6, 0.1];
            let replaced = desk.follow(&cached, &[&[], units], minute(16)).await;
            assert_eq!(replaced, desk.follow(&Sequences::default(), &[&[], units], minute(16)).await);
        });
    }
}
