//! Decisions: whether a monitor samples a trace, decided once per revision of the trace, and the state since then.

use jurist_core::grade::Time;
use jurist_core::plan::TraceStratum;
use sqlx::AssertSqlSafe;

pub use crate::decision_state::DecisionState;
pub use crate::decision_tallies::{DecisionTally, TallyGrouping};

use crate::db::{Arg, Bulk, DbRow, Tx, args, statements};
use crate::decision_tallies::{ADD_TALLIES, DecisionTallyChanges, TallySubject};
use crate::filter::SelectQuery;
use crate::jobs::NewJob;
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
    /// First lines of what the agent was asked.
    pub title: Option<String>,
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
    NEWEST = "SELECT decided FROM decisions WHERE project = $1 AND monitor = $2
        ORDER BY decided DESC, trace DESC LIMIT 1";
    COSTS = "SELECT cost FROM traces WHERE project = $1 AND agent = $2 AND state = 'finished' AND cost IS NOT NULL
        ORDER BY started DESC LIMIT $3";
}

pub(crate) const ADD_EVENTS: Bulk = Bulk {
    into: "decision_events (id, project, trace, monitor, state, note, time)",
    types: "tttttti",
    tail: "",
};

const STANDING: &str =
    "SELECT d.trace, t.title, m.name AS monitor, d.state, COALESCE((SELECT e.note FROM decision_events e
    WHERE e.project = d.project AND e.trace = d.trace AND e.monitor = d.monitor AND e.state = d.state
    ORDER BY e.time DESC, e.id DESC LIMIT 1), d.reason) AS reason
    FROM decisions d JOIN monitors m ON m.id = d.monitor JOIN traces t ON t.project = d.project AND t.id = d.trace
    WHERE d.project = $1";
const DECISIONS: &str =
    "SELECT * FROM decisions WHERE project = $1 AND monitor = $2 AND (decided, trace) < ($3, $4)";

impl Store {
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
                title: row.get("title")?,
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

pub(crate) fn select_decision_summaries(project: ProjectId, traces: &[String]) -> SelectQuery {
    SelectQuery::new(STANDING, args![project])
        .and_in("d.trace", traces.iter().map(Arg::from).collect())
        .then("ORDER BY d.trace, m.name")
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

pub(crate) fn build_event_row(
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

    pub(crate) fn tally_subject(&self) -> TallySubject<'_> {
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
