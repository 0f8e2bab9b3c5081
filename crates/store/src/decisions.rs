//! Decisions: whether a monitor samples a trace, decided once per revision of the trace, and the state since then.

use std::collections::BTreeMap;

use jurist_core::grade::Time;
use jurist_core::plan::TraceStratum;
use sqlx::AssertSqlSafe;

pub use crate::decision_state::DecisionState;

use crate::db::{Arg, Bulk, DbRow, Tx, args, statements};
use crate::filter::SelectQuery;
use crate::jobs::NewJob;
use crate::scores::withdraw_scores;
use crate::traces::{TraceHead, read_trace_head as read_trace};
use crate::{
    Cursor, DecisionEventId, MonitorId, MonitorVersionId, Probability, ProjectId, ResultPage,
    RubricVersionId, Store, StoreError, TraceId,
};

/// A new decision whether a monitor samples a trace; there is one per monitor and revision.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMonitorDecision {
    pub trace: TraceId,
    /// The revision of the trace that was decided about.
    pub revision: u64,
    pub monitor: MonitorId,
    pub version: MonitorVersionId,
    pub agent: Option<String>,
    pub stratum: TraceStratum,
    /// Sampling probability, whether or not the trace was sampled.
    pub probability: Probability,
    /// Probability with which the sender sampled the trace before sending it.
    pub upstream: Probability,
    pub state: DecisionState,
    /// The reason as text.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MonitorDecision {
    pub trace: TraceId,
    /// The revision of the trace that was decided about.
    pub revision: u64,
    pub monitor: MonitorId,
    pub version: MonitorVersionId,
    pub agent: Option<String>,
    pub stratum: TraceStratum,
    pub is_sampled: bool,
    pub probability: Probability,
    pub upstream: Probability,
    pub reason: String,
    pub state: DecisionState,
    /// Difference between the highest and the lowest score of a panel, on 0..=1.
    pub spread: Option<f64>,
    /// Whether the difference is over the monitor's margin.
    pub is_disputed: bool,
    pub decided: Time,
    pub updated: Time,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionEvent {
    pub state: DecisionState,
    pub note: String,
    pub time: Time,
}

/// A decision in short, for lists of traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionSummary {
    pub trace: String,
    /// The monitor's name.
    pub monitor: String,
    pub state: DecisionState,
    /// The note of the last change of state.
    pub reason: String,
}

/// A trace and the revision of it that was considered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceRevision {
    pub trace: TraceId,
    pub revision: u64,
}

/// Whether a result could be stored with its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionChange {
    Done,
    /// The trace has changed since; the result is about an earlier revision.
    Moved,
    /// Another worker had the same job and stored its result first; that result stays.
    Closed,
}

/// The new state of a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionOutcome<'a> {
    pub state: DecisionState,
    pub note: &'a str,
    pub spread: Option<f64>,
    pub is_disputed: bool,
}

/// Counts of judge errors and disagreements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JudgeCounts {
    /// Traces that were judged, with or without an error.
    pub n: usize,
    pub n_errors: usize,
    /// Traces that several judges scored.
    pub n_compared: usize,
    /// Of these, traces on which the judges disagreed.
    pub n_disputed: usize,
}

/// Number of traces of one state, stratum and version.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionTally {
    pub version: MonitorVersionId,
    pub rubric_version: RubricVersionId,
    pub stratum: TraceStratum,
    pub state: DecisionState,
    pub n: u64,
    /// How many traces these represent, if the sender sampled before sending.
    pub population: f64,
    /// The sum of (1 − u) / u², where u is the sender's sampling probability.
    pub population_variance: f64,
    /// Start of the day, if grouped by day.
    pub day: Option<Time>,
    /// The agent, if grouped by agent; empty for traces without one.
    pub agent: Option<String>,
}

/// What sums are grouped by, besides versions and strata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TallyGrouping {
    All,
    Day,
    Agent,
    AgentAndDay,
}

/// Filter for lists of decisions; `None` matches everything.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DecisionFilter {
    pub state: Option<DecisionState>,
    pub stratum: Option<TraceStratum>,
    pub agent: Option<String>,
    pub is_disputed: Option<bool>,
    pub from: Option<Time>,
    pub until: Option<Time>,
}

/// Under which the jobs of a monitor's decisions are stored.
#[derive(Debug, Clone, Copy)]
pub struct JobKeys<'a> {
    pub kind: &'a str,
    pub prefix: &'a str,
}

statements! {
    UNCONSIDERED = "SELECT * FROM traces WHERE state = 'finished' AND is_considered = 0 ORDER BY finished LIMIT $1";
    // The revision is compared: pieces that arrived after the trace was read must be considered too.
    CONSIDERED = "UPDATE traces SET is_considered = 1 WHERE project = $1 AND id = $2 AND revision = $3";
    SET_STATE = "UPDATE decisions SET state = $4, updated = $5, spread = COALESCE($6, spread),
        is_disputed = CASE WHEN $7 = 1 THEN 1 ELSE is_disputed END
        WHERE project = $1 AND trace = $2 AND monitor = $3";
    DECISIONS_OF = "SELECT * FROM decisions WHERE project = $1 AND trace = $2 ORDER BY monitor";
    DECISION = "SELECT * FROM decisions WHERE project = $1 AND trace = $2 AND monitor = $3";
    EVENTS = "SELECT state, note, time FROM decision_events WHERE project = $1 AND trace = $2 AND monitor = $3
        ORDER BY time, id";
    // `$6` and the rest make the key under which the job of a decision is stored; the index on it has no dead jobs.
    WITHOUT_JOB = "SELECT * FROM decisions d WHERE project = $1 AND monitor = $2
        AND state IN ('sampled', 'stale', 'pending') AND (decided, trace) > ($3, $4) AND updated <= $7
        AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = $5 AND j.state <> 'dead'
            AND j.dedupe = CAST($6 AS TEXT) || d.trace || '@' || CAST(d.revision AS TEXT))
        ORDER BY decided, trace LIMIT $8";
    UNJUDGED = "SELECT d.* FROM decisions d JOIN monitor_versions v ON v.id = d.monitor_version
        JOIN traces t ON t.project = d.project AND t.id = d.trace AND t.state <> 'erased'
        WHERE d.project = $1 AND d.monitor = $2 AND $3 <= d.decided AND d.decided < $4 AND d.state = $5
        AND v.rubric_version = $6 ORDER BY d.decided, d.trace LIMIT $7";
    // A dead job with the same key would block the new one.
    DISCARD_DEAD = "DELETE FROM jobs WHERE project = $1 AND kind = $2 AND dedupe = $3 AND state = 'dead'";
    JUDGED = "SELECT state, spread, is_disputed FROM decisions WHERE project = $1 AND monitor = $2
        AND state IN ('scored', 'judge_error') AND $3 <= decided ORDER BY decided DESC, trace DESC LIMIT $4";
    SET_REVISION = "UPDATE decisions SET revision = $4 WHERE project = $1 AND trace = $2 AND monitor = $3";
    WITHDRAW = "DELETE FROM decisions WHERE project = $1 AND trace = $2 AND monitor = $3";
    N_STALE = "SELECT COUNT(*) AS n FROM decision_events WHERE project = $1 AND trace = $2 AND monitor = $3
        AND state = 'stale'";
    NEWEST = "SELECT decided FROM decisions WHERE project = $1 AND monitor = $2
        ORDER BY decided DESC, trace DESC LIMIT 1";
    COSTS = "SELECT cost FROM traces WHERE project = $1 AND agent = $2 AND state = 'finished' AND cost IS NOT NULL
        ORDER BY started DESC LIMIT $3";
}

pub(crate) const DECIDE: Bulk = Bulk {
    into: "decisions (project, trace, monitor, monitor_version, agent, stratum, is_sampled, probability, upstream, \
           reason, state, decided, updated, revision)",
    types: "ttttttirrttiii",
    tail: "ON CONFLICT DO NOTHING RETURNING trace, monitor",
};

pub(crate) const ADD_EVENTS: Bulk = Bulk {
    into: "decision_events (id, project, trace, monitor, state, note, time)",
    types: "tttttti",
    tail: "",
};

/// How often a trace is judged again at most when further pieces arrive. Each time costs a model call, and without a
/// limit a sender of pieces could spend the whole budget.
const MAX_JUDGED_AGAIN: u64 = 5;

const STANDING: &str =
    "SELECT d.trace, m.name AS monitor, d.state, COALESCE((SELECT e.note FROM decision_events e
    WHERE e.project = d.project AND e.trace = d.trace AND e.monitor = d.monitor AND e.state = d.state
    ORDER BY e.time DESC, e.id DESC LIMIT 1), d.reason) AS reason
    FROM decisions d JOIN monitors m ON m.id = d.monitor WHERE d.project = $1";
const DECISIONS: &str =
    "SELECT * FROM decisions WHERE project = $1 AND monitor = $2 AND (decided, trace) < ($3, $4)";

pub(crate) const ADD_TALLIES: Bulk = Bulk {
    into: "decision_tallies (project, monitor, day, monitor_version, agent, stratum, state, n, population, \
           population_variance)",
    types: "ttittttirr",
    tail: "ON CONFLICT (project, monitor, day, monitor_version, agent, stratum, state) DO UPDATE SET
           n = decision_tallies.n + excluded.n, population = decision_tallies.population + excluded.population,
           population_variance = decision_tallies.population_variance + excluded.population_variance",
};

const TALLY: &str =
    "SELECT d.monitor_version, v.rubric_version, d.stratum, d.state, DAY AS day, AGENT AS agent,
    CAST(SUM(d.n) AS BIGINT) AS n, SUM(d.population) AS population,
    SUM(d.population_variance) AS population_variance
    FROM decision_tallies d JOIN monitor_versions v ON v.id = d.monitor_version
    WHERE d.project = $1 AND d.monitor = $2 AND $3 <= d.day AND d.day < $4";
const TALLY_BY: &str =
    "GROUP BY d.monitor_version, v.rubric_version, d.stratum, d.statePER HAVING 0 < SUM(d.n)
    ORDER BY 5, 6, d.monitor_version, d.stratum, d.state";

impl Store {
    /// Finished traces of all projects that no monitor has considered yet; the oldest first.
    pub async fn unconsidered_traces(&self, limit: usize) -> Result<Vec<(ProjectId, TraceHead)>, StoreError> {
        let rows = self.db.fetch(UNCONSIDERED, args![limit]).await?;
        rows.iter().map(|row| Ok((row.parse("project")?, read_trace(row)?))).collect()
    }

    /// Stores decisions together with the jobs that follow from them, and returns the new ones: there is one decision
    /// per monitor and revision of a trace. The traces are not considered again until they change.
    ///
    /// A trace that changed after it was judged is marked stale: its scores are taken out of the sums, and it gets a
    /// new decision. A trace that waits for a judge keeps its decision, because the judge will read the new revision.
    pub async fn consider(
        &self,
        project: ProjectId,
        traces: &[TraceRevision],
        decisions: &[NewMonitorDecision],
        job: impl Fn(&NewMonitorDecision) -> Option<NewJob>,
        now: Time,
    ) -> Result<Vec<NewMonitorDecision>, StoreError> {
        let mut sorted: Vec<&NewMonitorDecision> = decisions.iter().collect();
        sorted
            .sort_by_key(|new_monitor_decision| (&new_monitor_decision.trace, new_monitor_decision.monitor));
        let mut traces: Vec<&TraceRevision> = traces.iter().collect();
        traces.sort();
        let mut tx = self.db.begin().await?;
        let mut revised: BTreeMap<(&TraceId, MonitorId), NewMonitorDecision> = BTreeMap::new();
        for decision in sorted.iter().filter(|new_monitor_decision| 1 < new_monitor_decision.revision) {
            if let Some(anew) = self.revise(&mut tx, project, decision).await? {
                revised.insert((&decision.trace, decision.monitor), anew);
            }
        }
        let sorted: Vec<&NewMonitorDecision> = sorted
            .into_iter()
            .map(|decision| revised.get(&(&decision.trace, decision.monitor)).unwrap_or(decision))
            .collect();
        let rows = tx
            .insert(
                DECIDE,
                sorted.iter().map(|new_monitor_decision| new_monitor_decision.args(project, now)).collect(),
            )
            .await?;
        let mut new = Vec::new();
        for row in rows {
            let (trace, monitor): (TraceId, MonitorId) = (row.parse("trace")?, row.parse("monitor")?);
            let at = sorted.binary_search_by_key(&(&trace, monitor), |new_monitor_decision| {
                (&new_monitor_decision.trace, new_monitor_decision.monitor)
            });
            new.extend(at.ok().map(|index| sorted[index].clone()));
        }
        let events = new
            .iter()
            .map(|new| build_event_row(project, &new.trace, new.monitor, new.state, &new.reason, now))
            .collect();
        tx.insert(ADD_EVENTS, events).await?;
        let mut tally = DecisionTallyChanges::default();
        new.iter().for_each(|new| tally.add(&new.tally_subject(now), new.state, 1));
        tx.insert(ADD_TALLIES, tally.args(project)).await?;
        let jobs: Vec<NewJob> = new.iter().filter_map(&job).collect();
        let added = self.add_jobs_in(&mut tx, &jobs, now).await?;
        for TraceRevision { trace, revision } in traces {
            tx.execute(CONSIDERED, args![project, trace, *revision]).await?;
        }
        tx.commit().await?;
        self.wake_workers(&added);
        Ok(new)
    }

    /// Replaces the decision about an earlier revision of a trace, and returns the new decision as it is to be stored.
    async fn revise(
        &self,
        tx: &mut Tx,
        project: ProjectId,
        decision: &NewMonitorDecision,
    ) -> Result<Option<NewMonitorDecision>, StoreError> {
        let (trace, monitor) = (&decision.trace, decision.monitor);
        let before = match self.hold(tx, project, trace, monitor).await {
            Ok(before) if before.revision < decision.revision => before,
            Ok(_) | Err(StoreError::Unknown { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if before.state.is_open() {
            tx.execute(SET_REVISION, args![project, trace, monitor, decision.revision]).await?;
            return Ok(None);
        }
        let mut tally = DecisionTallyChanges::default();
        tally.add(&before.tally_subject(), before.state, -1);
        tx.insert(ADD_TALLIES, tally.args(project)).await?;
        // Also for traces over budget: members of a panel that were asked before the money ran out have scores.
        withdraw_scores(tx, project, trace, monitor).await?;
        tx.execute(WITHDRAW, args![project, trace, monitor]).await?;
        if !(before.state.was_judged() && decision.state == DecisionState::Sampled) {
            return Ok(None);
        }
        let n_stale = tx.fetch(N_STALE, args![project, trace, monitor]).await?[0].count("n")?;
        let (state, reason) = if n_stale < MAX_JUDGED_AGAIN {
            (
                DecisionState::Stale,
                format!("the trace changed after it was judged: revision {}", decision.revision),
            )
        } else {
            let reason =
                format!("it changed {} times after it was judged, and is not judged again", n_stale + 1);
            (DecisionState::Overloaded, reason)
        };
        Ok(Some(NewMonitorDecision { state, reason, ..decision.clone() }))
    }

    /// Sets the state of a decision about a revision of its trace; every change is logged.
    pub async fn set_decision(
        &self,
        project: ProjectId,
        of: &TraceRevision,
        monitor: MonitorId,
        outcome: &DecisionOutcome<'_>,
        now: Time,
    ) -> Result<DecisionChange, StoreError> {
        let mut tx: Tx = self.db.begin().await?;
        let before = self.hold(&mut tx, project, &of.trace, monitor).await?;
        let change = before.check_change(of.revision, outcome.state);
        if change == DecisionChange::Done {
            set_decision_in(&mut tx, project, &before, outcome, now).await?;
            tx.commit().await?;
        }
        Ok(change)
    }

    pub async fn decisions_of(
        &self,
        project: ProjectId,
        trace: &TraceId,
    ) -> Result<Vec<MonitorDecision>, StoreError> {
        self.db.fetch(DECISIONS_OF, args![project, trace]).await?.iter().map(read_decision_row).collect()
    }

    /// The decisions of all monitors about some traces, with reasons.
    pub async fn decision_summaries(
        &self,
        project: ProjectId,
        traces: &[String],
    ) -> Result<Vec<DecisionSummary>, StoreError> {
        if traces.is_empty() {
            return Ok(Vec::new());
        }
        let read = |row: &DbRow| {
            Ok(DecisionSummary {
                trace: row.get("trace")?,
                monitor: row.get("monitor")?,
                state: row.parse("state")?,
                reason: row.get("reason")?,
            })
        };
        select_decision_summaries(project, traces).fetch(&self.db).await?.iter().map(read).collect()
    }

    pub async fn decision(
        &self,
        project: ProjectId,
        trace: &TraceId,
        monitor: MonitorId,
    ) -> Result<MonitorDecision, StoreError> {
        let row = self.db.optional(DECISION, args![project, trace, monitor]).await?;
        read_decision_row(&row.ok_or_else(|| StoreError::unknown("decision", trace))?)
    }

    /// The newest first.
    pub async fn decisions(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        filter: &DecisionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<MonitorDecision>, StoreError> {
        let rows = filter.select(project, monitor, after, limit).fetch(&self.db).await?;
        let decisions = rows.iter().map(read_decision_row).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(decisions, limit, |monitor_decision: &MonitorDecision| {
            Cursor::new(monitor_decision.decided.micros(), &monitor_decision.trace)
        }))
    }

    /// Decisions that wait for a judge, have not changed since a time, and have no job that would ask one; the oldest
    /// first. The key of a decision's job is a prefix, the trace, `@` and the revision; `after` is the last decision
    /// of the previous page.
    pub async fn decisions_without_job(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        job: JobKeys<'_>,
        unchanged_since: Time,
        after: Option<&MonitorDecision>,
        limit: usize,
    ) -> Result<Vec<MonitorDecision>, StoreError> {
        let (time, trace) = after.map_or((i64::MIN, ""), |monitor_decision| {
            (monitor_decision.decided.micros(), monitor_decision.trace.as_str())
        });
        let args = args![project, monitor, time, trace, job.kind, job.prefix, unchanged_since, limit];
        self.db.fetch(WITHOUT_JOB, args).await?.iter().map(read_decision_row).collect()
    }

    /// Decisions in one of these states under a rubric version whose traces are not erased, the oldest first.
    pub async fn unjudged_decisions(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        version: &RubricVersionId,
        state: DecisionState,
        (since, until): (Time, Time),
        limit: usize,
    ) -> Result<Vec<MonitorDecision>, StoreError> {
        let args = args![project, monitor, since, until, state.as_str(), version, limit];
        self.db.fetch(UNJUDGED, args).await?.iter().map(read_decision_row).collect()
    }

    /// Judges traces again after judge errors or an exhausted budget, and returns their number. The log keeps both
    /// results.
    pub async fn ask_again(
        &self,
        project: ProjectId,
        decisions: &[MonitorDecision],
        job: impl Fn(&MonitorDecision) -> NewJob,
        now: Time,
    ) -> Result<usize, StoreError> {
        let outcome = DecisionOutcome {
            state: DecisionState::Sampled,
            note: "the judge is asked again",
            spread: None,
            is_disputed: false,
        };
        // Rows are always locked in the same order, so that two transactions wait for each other and do not deadlock.
        let mut sorted: Vec<&MonitorDecision> = decisions.iter().collect();
        sorted.sort_by_key(|monitor_decision| (&monitor_decision.trace, monitor_decision.monitor));
        let (mut tx, mut jobs) = (self.db.begin().await?, Vec::new());
        for it in sorted {
            let before = self.hold(&mut tx, project, &it.trace, it.monitor).await?;
            if !matches!(before.state, DecisionState::JudgeError | DecisionState::OverBudget) {
                continue;
            }
            set_decision_in(&mut tx, project, &before, &outcome, now).await?;
            let job = job(&before);
            tx.execute(DISCARD_DEAD, args![project, &job.kind, job.dedupe.as_deref()]).await?;
            jobs.push(job);
        }
        let added = self.add_jobs_in(&mut tx, &jobs, now).await?;
        tx.commit().await?;
        self.wake_workers(&added);
        Ok(jobs.len())
    }

    /// The oldest first.
    pub async fn decision_events(
        &self,
        project: ProjectId,
        trace: &TraceId,
        monitor: MonitorId,
    ) -> Result<Vec<DecisionEvent>, StoreError> {
        let read = |row: &DbRow| {
            Ok(DecisionEvent { state: row.parse("state")?, note: row.get("note")?, time: row.time("time")? })
        };
        self.db.fetch(EVENTS, args![project, trace, monitor]).await?.iter().map(read).collect()
    }

    /// Reads a decision and locks it until the transaction ends.
    pub(crate) async fn hold(
        &self,
        tx: &mut Tx,
        project: ProjectId,
        trace: &TraceId,
        monitor: MonitorId,
    ) -> Result<MonitorDecision, StoreError> {
        // SQLite has one writer, so no other transaction can change the row.
        let sql = if self.db.is_pg() { format!("{DECISION} FOR UPDATE") } else { DECISION.to_owned() };
        let row = tx.optional(AssertSqlSafe(sql), args![project, trace, monitor]).await?;
        read_decision_row(&row.ok_or_else(|| StoreError::unknown("decision", trace))?)
    }

    /// Numbers of traces by state, stratum and rubric version, for whole days.
    pub async fn tally_decisions(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        agent: Option<&str>,
        (from, until): (Time, Time),
        per: TallyGrouping,
    ) -> Result<Vec<DecisionTally>, StoreError> {
        let rows = tally(project, monitor, agent, (from, until), per).fetch(&self.db).await?;
        let read = |row: &DbRow| {
            Ok(DecisionTally {
                version: row.parse("monitor_version")?,
                rubric_version: row.parse("rubric_version")?,
                stratum: row.parse("stratum")?,
                state: row.parse("state")?,
                n: row.count("n")?,
                population: row.get("population")?,
                population_variance: row.get("population_variance")?,
                day: row.maybe_time("day")?,
                agent: row.get("agent")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Counts of judge errors and disagreements among the newest judged traces.
    pub async fn recently_judged(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        since: Time,
        limit: usize,
    ) -> Result<JudgeCounts, StoreError> {
        let mut all = JudgeCounts::default();
        for row in self.db.fetch(JUDGED, args![project, monitor, since, limit]).await? {
            let state: DecisionState = row.parse("state")?;
            all.n += 1;
            all.n_errors += usize::from(state == DecisionState::JudgeError);
            all.n_compared += usize::from(row.get::<Option<f64>>("spread")?.is_some());
            all.n_disputed += usize::from(row.flag("is_disputed")?);
        }
        Ok(all)
    }

    /// When a monitor last decided about a trace.
    pub async fn last_decided(
        &self,
        project: ProjectId,
        monitor: MonitorId,
    ) -> Result<Option<Time>, StoreError> {
        let row = self.db.optional(NEWEST, args![project, monitor]).await?;
        row.map(|row| row.time("decided")).transpose()
    }

    /// Costs of an agent's newest finished traces, as far as the traces contain them.
    pub async fn recent_costs(
        &self,
        project: ProjectId,
        agent: &str,
        limit: usize,
    ) -> Result<Vec<i64>, StoreError> {
        let rows = self.db.fetch(COSTS, args![project, agent, limit]).await?;
        rows.iter().map(|row| row.get("cost")).collect()
    }
}

pub(crate) async fn set_decision_in(
    tx: &mut Tx,
    project: ProjectId,
    before: &MonitorDecision,
    outcome: &DecisionOutcome<'_>,
    now: Time,
) -> Result<(), StoreError> {
    let DecisionOutcome { state, note, spread, is_disputed } = *outcome;
    let (trace, monitor) = (&before.trace, before.monitor);
    let args = args![project, trace, monitor, state.as_str(), now, spread, is_disputed];
    tx.execute(SET_STATE, args).await?;
    tx.insert(ADD_EVENTS, vec![build_event_row(project, trace, monitor, state, note, now)]).await?;
    if state != before.state {
        let mut tally = DecisionTallyChanges::default();
        tally.add(&before.tally_subject(), before.state, -1);
        tally.add(&before.tally_subject(), state, 1);
        tx.insert(ADD_TALLIES, tally.args(project)).await?;
    }
    Ok(())
}

/// The columns by which a decision is counted.
struct TallySubject<'a> {
    monitor: MonitorId,
    version: MonitorVersionId,
    agent: &'a str,
    stratum: TraceStratum,
    upstream: Probability,
    decided: Time,
}

/// Changes of the sums. The map sorts them, so that two transactions lock rows in the same order and do not deadlock.
#[derive(Default)]
struct DecisionTallyChanges(BTreeMap<TallyKey, (i64, f64, f64)>);

type TallyKey = (MonitorId, i64, MonitorVersionId, String, TraceStratum, DecisionState);

impl DecisionTallyChanges {
    fn add(&mut self, it: &TallySubject<'_>, state: DecisionState, times: i64) {
        let u = it.upstream.get();
        let key = (it.monitor, utc_day_start(it.decided), it.version, it.agent.to_owned(), it.stratum, state);
        let sums = self.0.entry(key).or_default();
        let weight = times as f64;
        *sums = (sums.0 + times, sums.1 + weight / u, sums.2 + weight * (1.0 - u) / (u * u));
    }

    fn args(self, project: ProjectId) -> Vec<Vec<Arg>> {
        let row = |((monitor, day, version, agent, stratum, state), sums): (TallyKey, (i64, f64, f64))| {
            let (stratum, state) = (stratum.as_str(), state.as_str());
            args![project, monitor, day, version, agent, stratum, state, sums.0, sums.1, sums.2]
        };
        self.0.into_iter().map(row).collect()
    }
}

/// Start of the UTC day, in microseconds.
pub(crate) fn utc_day_start(time: Time) -> i64 {
    time.micros().div_euclid(DAY_MICROS) * DAY_MICROS
}

const DAY_MICROS: i64 = 86_400_000_000;

pub(crate) fn select_decision_summaries(project: ProjectId, traces: &[String]) -> SelectQuery {
    SelectQuery::new(STANDING, args![project])
        .and_in("d.trace", traces.iter().map(Arg::from).collect())
        .then("ORDER BY d.trace, m.name")
}

pub(crate) fn tally(
    project: ProjectId,
    monitor: MonitorId,
    agent: Option<&str>,
    (from, until): (Time, Time),
    per: TallyGrouping,
) -> SelectQuery {
    SelectQuery::new(&per.fill_columns(TALLY, "d"), args![project, monitor, utc_day_start(from), until])
        .and_maybe("d.agent = ?", agent)
        .then(&per.fill_grouping(TALLY_BY, "d"))
}

impl TallyGrouping {
    /// Replaces `DAY` and `AGENT` in a statement by columns of a table.
    pub(crate) fn fill_columns(self, sql: &str, table: &str) -> String {
        let (mut day, mut agent) = ("CAST(NULL AS BIGINT)".to_owned(), "CAST(NULL AS TEXT)".to_owned());
        match self {
            Self::All => {}
            Self::Day => day = format!("{table}.day"),
            Self::Agent => agent = format!("{table}.agent"),
            Self::AgentAndDay => (day, agent) = (format!("{table}.day"), format!("{table}.agent")),
        }
        sql.replace("DAY", &day).replace("AGENT", &agent)
    }

    /// Replaces `PER` in a statement by the further columns of `GROUP BY`.
    pub(crate) fn fill_grouping(self, sql: &str, table: &str) -> String {
        let more = match self {
            Self::All => String::new(),
            Self::Day => format!(", {table}.day"),
            Self::Agent => format!(", {table}.agent"),
            Self::AgentAndDay => format!(", {table}.day, {table}.agent"),
        };
        sql.replace("PER", &more)
    }
}

impl DecisionFilter {
    pub(crate) fn select(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> SelectQuery {
        let place = Cursor::top(after);
        SelectQuery::new(DECISIONS, args![project, monitor, place.sort, place.id])
            .and_maybe("state = ?", self.state.map(DecisionState::as_str))
            .and_maybe("stratum = ?", self.stratum.map(TraceStratum::as_str))
            .and_maybe("agent = ?", self.agent.as_deref())
            .then(match self.is_disputed {
                // Written exactly as in the partial index; SQLite uses the index only for the literal condition.
                Some(true) => "AND is_disputed = 1",
                Some(false) => "AND is_disputed = 0",
                None => "",
            })
            .and_maybe("? <= decided", self.from)
            .and_maybe("decided < ?", self.until)
            .then("ORDER BY decided DESC, trace DESC")
            .limit(limit + 1)
    }
}

fn build_event_row(
    project: ProjectId,
    trace: &TraceId,
    monitor: MonitorId,
    state: DecisionState,
    note: &str,
    now: Time,
) -> Vec<Arg> {
    args![DecisionEventId::at(now), project, trace, monitor, state.as_str(), note, now]
}

impl MonitorDecision {
    /// Whether a result about a revision of the trace may change the decision. A worker that has lost its lease and
    /// does not know it yet must not reopen a decision that another worker has closed.
    pub(crate) fn check_change(&self, revision: u64, next: DecisionState) -> DecisionChange {
        // A failed trace that waits for budget stays `OverBudget` until there is budget.
        let waits = self.state == DecisionState::OverBudget && next != DecisionState::Pending;
        match () {
            () if self.revision != revision => DecisionChange::Moved,
            () if self.state.is_open() || waits => DecisionChange::Done,
            () => DecisionChange::Closed,
        }
    }

    fn tally_subject(&self) -> TallySubject<'_> {
        TallySubject {
            monitor: self.monitor,
            version: self.version,
            agent: self.agent.as_deref().unwrap_or_default(),
            stratum: self.stratum,
            upstream: self.upstream,
            decided: self.decided,
        }
    }
}

impl NewMonitorDecision {
    fn tally_subject(&self, decided: Time) -> TallySubject<'_> {
        TallySubject {
            monitor: self.monitor,
            version: self.version,
            agent: self.agent.as_deref().unwrap_or_default(),
            stratum: self.stratum,
            upstream: self.upstream,
            decided,
        }
    }

    fn args(&self, project: ProjectId, now: Time) -> Vec<Arg> {
        args![
            project,
            &self.trace,
            self.monitor,
            self.version,
            self.agent.as_deref(),
            self.stratum.as_str(),
            self.state.is_counted() && self.state != DecisionState::SampledOut,
            self.probability,
            self.upstream,
            &self.reason,
            self.state.as_str(),
            now,
            now,
            self.revision,
        ]
    }
}

fn read_decision_row(row: &DbRow) -> Result<MonitorDecision, StoreError> {
    let upstream: f64 = row.get("upstream")?;
    Ok(MonitorDecision {
        trace: row.parse("trace")?,
        revision: row.count("revision")?,
        monitor: row.parse("monitor")?,
        version: row.parse("monitor_version")?,
        agent: row.get("agent")?,
        stratum: row.parse("stratum")?,
        is_sampled: row.flag("is_sampled")?,
        probability: row.probability()?,
        upstream: Probability::new(upstream).unwrap_or_default(),
        reason: row.get("reason")?,
        state: row.parse("state")?,
        spread: row.get("spread")?,
        is_disputed: row.flag("is_disputed")?,
        decided: row.time("decided")?,
        updated: row.time("updated")?,
    })
}
