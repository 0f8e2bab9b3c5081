//! Stores the decisions of monitors about finished traces, with their tallies and jobs, in one transaction.

use std::collections::BTreeMap;

use jurist_core::grade::Time;

use crate::db::{Arg, Bulk, Tx, args, statements};
use crate::decision_tallies::{ADD_TALLIES, DecisionTallyChanges, TallySubject};
use crate::decisions::{ADD_EVENTS, DecisionState, NewMonitorDecision, TraceRevision, build_event_row};
use crate::jobs::NewJob;
use crate::scores::withdraw_scores;
use crate::traces::{TraceHead, read_trace_head};
use crate::{MonitorId, ProjectId, Store, StoreError, TraceId};

statements! {
    UNCONSIDERED = "SELECT * FROM traces WHERE state = 'finished' AND is_considered = 0 ORDER BY finished LIMIT $1";
    // The revision is compared: pieces that arrived after the trace was read must be considered too.
    CONSIDERED = "UPDATE traces SET is_considered = 1 WHERE project = $1 AND id = $2 AND revision = $3";
    SET_REVISION = "UPDATE decisions SET revision = $4 WHERE project = $1 AND trace = $2 AND monitor = $3";
    WITHDRAW = "DELETE FROM decisions WHERE project = $1 AND trace = $2 AND monitor = $3";
    N_STALE = "SELECT COUNT(*) AS n FROM decision_events WHERE project = $1 AND trace = $2 AND monitor = $3
        AND state = 'stale'";
}

pub(crate) const DECIDE: Bulk = Bulk {
    into: "decisions (project, trace, monitor, monitor_version, agent, stratum, is_sampled, probability, upstream, \
           reason, state, decided, updated, revision)",
    types: "ttttttirrttiii",
    tail: "ON CONFLICT DO NOTHING RETURNING trace, monitor",
};

/// How often a trace is graded again at most when further pieces arrive. Each time costs a model call, and without a
/// limit a sender of pieces could spend the whole budget.
const MAX_JUDGED_AGAIN: u64 = 5;

impl Store {
    /// Finished traces of all projects that no monitor has considered yet; the oldest first.
    pub async fn unconsidered_traces(&self, limit: usize) -> Result<Vec<(ProjectId, TraceHead)>, StoreError> {
        let rows = self.db.fetch(UNCONSIDERED, args![limit]).await?;
        rows.iter().map(|row| Ok((row.parse("project")?, read_trace_head(row)?))).collect()
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
            let reason = format!(
                "it changed {} times after it was judged, and Jurist does not judge it again",
                n_stale + 1
            );
            (DecisionState::Overloaded, reason)
        };
        Ok(Some(NewMonitorDecision { state, reason, ..decision.clone() }))
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
