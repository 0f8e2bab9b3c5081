//! Compares two traces of the same task with the judges of a monitor. The ids decide which trace is shown first.

use jurist_core::candidate::{Candidate, JudgeInput};
use jurist_core::grade::{Deferral, Failure, Outcome, Reason};
use jurist_core::rubric::Rubric;
use jurist_engine::judge::{Preference, compare_candidates};
use jurist_store::contests::{Contested, StoredContest};
use jurist_store::jobs::Job;

use super::WorkerContext;
use super::monitor_jobs::{postpone_until_funded, postpone_while_paused};
use super::shared_budget::open_monitor_budget;
use super::worker::retry_while_transient;
use crate::job::{ContestTask, JobEnd, JobError};
use crate::monitor::pause_monitor;

/// Asks each judge for its preference.
pub async fn run_contest_job(context: &WorkerContext, job: &Job) -> Result<JobEnd, JobError> {
    let task: ContestTask = serde_json::from_value(job.payload.clone()).map_err(JobError::hopeless)?;
    let project = job.project.ok_or_else(|| JobError::hopeless("a monitor belongs to a project"))?;
    let monitor = context.store.monitor(project, task.monitor).await?;
    if monitor.removed.is_some() {
        return Ok(JobEnd::Finished);
    }
    if monitor.paused.is_some() {
        return Ok(postpone_while_paused());
    }
    let prepared = context.load_prepared_monitor(project, task.version).await?;
    let (a, b) = &task.traces;
    let traces =
        (context.store.trace_content(project, a).await?, context.store.trace_content(project, b).await?);
    let (Some(first), Some(second)) = traces else { return Ok(JobEnd::Finished) };
    let [first, second] = [first, second].map(|trace| JudgeInput::new(&Candidate::default(), Some(trace)));
    let funding = context.load_funding_version(project, &monitor, &prepared).await?;
    let shared = context.call_context(open_monitor_budget(context, project, &funding.watched, job));
    for judge in &prepared.judges {
        let member = &judge.members[0];
        // The order is derived from the trace ids alone, so that no user can choose it.
        let about = (&*format!("{a} {b}"), &*comparison_question(&prepared.watched.monitor.rubric));
        let preference =
            compare_candidates(&shared.caller, member, vec![&first, &second], about, false, 0).await;
        let locked_out = match &preference {
            Err(Outcome::Failed { failure: Failure::Auth, detail }) => Some(detail.as_str()),
            Err(Outcome::Deferred { why: Deferral::NoKey }) => Some("the judge has no API key"),
            _ => None,
        };
        if let Some(why) = locked_out {
            pause_monitor(&context.store, project, task.monitor, why).await?;
            context.unblock_vendors();
            return Ok(postpone_while_paused());
        }
        if matches!(preference, Err(Outcome::Deferred { .. })) {
            return Ok(postpone_until_funded());
        }
        if let Err(Outcome::Failed { failure, .. }) = &preference {
            context.metrics.judge_failed(&member.line.name, *failure);
        }
        let contest = contest(&task, &prepared.watched.rubric_version, &member.line.name, &preference);
        retry_while_transient(|| context.store.add_contest(project, &contest)).await?;
    }
    Ok(JobEnd::Finished)
}

/// The criterion of the comparison, as text for the prompt.
fn comparison_question(rubric: &Rubric) -> String {
    let criteria: Vec<String> =
        rubric.questions().map(|question| format!("- {}", question.criterion.description)).collect();
    format!("Which is better, all in all, by these criteria?\n{}", criteria.join("\n"))
}

fn contest(
    task: &ContestTask,
    rubric_version: &jurist_store::RubricVersionId,
    judge: &str,
    preference: &Result<Preference, Outcome>,
) -> StoredContest {
    let (a, b) = &task.traces;
    let (outcome, reason, cost, first) = match preference {
        Ok(it) => {
            let outcome = match it.winner {
                Some(0) => Contested::A,
                Some(_) => Contested::B,
                None => Contested::Tie,
            };
            let first = if it.rounds[0].0[0] == 0 { a } else { b };
            (outcome, it.reason.clone(), it.spend.cost, first)
        }
        Err(Outcome::Failed { detail, .. }) => (Contested::Error, detail.clone(), None, a),
        Err(_) => (Contested::Error, "it was not judged".to_owned(), None, a),
    };
    StoredContest {
        id: task.id(judge),
        monitor: task.monitor,
        series: task.series,
        sides: task.sides.clone(),
        rubric_version: rubric_version.clone(),
        judge: judge.to_owned(),
        traces: task.traces.clone(),
        first: first.clone(),
        outcome,
        reason: Reason::new(&reason).as_str().to_owned(),
        cost,
        time: jurist_store::clock::current_time(),
    }
}
