//! What must be true when all is done.

use std::collections::BTreeSet;

use jurist_core::alert;
use jurist_core::money::Month;
use jurist_store::alerts::AlertSelection;
use jurist_store::decisions::DecisionState;
use jurist_store::jobs::JobState;
use jurist_store::traces::TraceState;
use jurist_store::{Store, StoreError, clock};

use super::judge::{parts_in, parts_to_unit};
use super::traffic::PlannedTrace;
use super::world::SimulationContext;
use super::{Scenario, SimulatedProject};

pub async fn check_end(
    world: &SimulationContext,
    observer: &Store,
    subject: SimulatedProject,
    scenario: &Scenario,
) {
    let checked = async {
        for trace in &scenario.traces {
            check_trace(world, observer, subject, scenario, trace).await?;
        }
        check_alerts(world, observer, subject).await?;
        check_jobs(world, observer, scenario).await?;
        let billed = world.observations().billed;
        let accounted = observer.accounted().await?;
        if accounted < billed {
            world.violate(format!("{billed} were billed and {accounted} settled"));
        }
        Ok::<(), StoreError>(())
    };
    if let Err(error) = checked.await {
        world.violate(format!("the observer cannot read: {error}"));
    }
}

/// What was acknowledged is there, decided about once, and scored as it is now.
async fn check_trace(
    world: &SimulationContext,
    observer: &Store,
    SimulatedProject { project, monitor }: SimulatedProject,
    scenario: &Scenario,
    planned: &PlannedTrace,
) -> Result<(), StoreError> {
    let (id, wrong) = (&planned.id, |what: String| world.violate(format!("trace {}: {what}", planned.id)));
    let head = observer.trace(project, id).await?;
    if head.state != TraceState::Finished || head.n_pieces != planned.n_spans {
        wrong(format!("{:?} with {} of {} spans", head.state, head.n_pieces, planned.n_spans));
    }
    let content = observer.trace_content(project, id).await?.unwrap_or_default();
    let stored_parts = parts_in(&serde_json::to_string(&content).expect("a trace is plain data"));
    let meant: BTreeSet<String> = planned.parts.iter().cloned().collect();
    if stored_parts != meant {
        wrong(format!("it says {stored_parts:?} and was sent {meant:?}"));
    }
    let decision = match observer.decisions_of(project, id).await?.as_slice() {
        [decision] if decision.monitor == monitor => decision.clone(),
        others => {
            wrong(format!("{} decisions", others.len()));
            return Ok(());
        }
    };
    if decision.revision != head.revision {
        wrong(format!("decided at revision {} and is at {}", decision.revision, head.revision));
    }
    let is_short_of_money = scenario.budget.is_some() || scenario.cap.is_some_and(|dollars| dollars < 1.0);
    let is_troubled = 0 < world.observations().n_faults;
    match decision.state {
        DecisionState::Scored | DecisionState::Cached => {
            let scores = observer.live_scores(id).await?;
            let wanted = parts_to_unit(meant.len());
            if scores.is_empty() || scores.iter().any(|score| 1e-9 < (score - wanted).abs()) {
                wrong(format!("its scores are {scores:?} and should be {wanted}"));
            }
        }
        DecisionState::OverBudget if is_short_of_money => {}
        DecisionState::JudgeError if is_troubled => {}
        // A trace that changed again and again.
        DecisionState::Overloaded if 5 < head.revision => {}
        other => wrong(format!("it came to {other:?}")),
    }
    Ok(())
}

/// Checks that alerts whose condition holds are open, and that each raised or resolved alert was delivered.
async fn check_alerts(
    world: &SimulationContext,
    observer: &Store,
    SimulatedProject { project, .. }: SimulatedProject,
) -> Result<(), StoreError> {
    let delivered = world.observations().delivered.clone();
    let alerts = observer.alerts(project, AlertSelection::All, None, 200).await?.items;
    for alert in &alerts {
        let mut wanted = vec![alert.id.to_string()];
        wanted.extend(alert.resolved.map(|_| format!("{}.resolved", alert.id)));
        for id in wanted.iter().filter(|id| !delivered.contains_key(*id)) {
            world.violate(format!("{id} was not delivered ({})", alert.kind.as_str()));
        }
    }
    let now = clock::current_time();
    let cap = observer.project(project).await?.cap;
    let spent = observer.month_spend(project, now).await?.settled;
    let signal = alert::spend_signal(&Month::of(now).to_string(), spent, cap.as_ref());
    let holds = matches!(signal.state, alert::SignalState::Holds { .. });
    let is_open = observer.open_alert(project, signal.kind, &signal.of).await?.is_some();
    if holds != is_open {
        world.violate(format!("the warning about money holds: {holds}; it is open: {is_open}"));
    }
    Ok(())
}

/// A job may be dead only after a fault, and may wait only for money.
async fn check_jobs(
    world: &SimulationContext,
    observer: &Store,
    scenario: &Scenario,
) -> Result<(), StoreError> {
    for count in observer.job_counts(None).await? {
        let is_allowed = match (count.kind.as_str(), count.state) {
            ("monitor", JobState::Dead) => 0 < world.observations().n_faults,
            // Failed traces wait for money.
            ("monitor", JobState::Waiting) => scenario.traces.iter().any(|trace| trace.is_failed),
            _ => false,
        };
        if !is_allowed {
            world.violate(format!("{} jobs of kind {} are left {:?}", count.n, count.kind, count.state));
        }
    }
    Ok(())
}
