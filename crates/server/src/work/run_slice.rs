//! A slice of a run: a few units that are graded concurrently; each result is stored as it arrives.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use jurist_core::grade::{Time, VerdictStatus};
use jurist_core::run::{CaseResult, RunId};
use jurist_engine::execute::{
    self, EarlyStop, GradingEvent, StopCondition, StoredOutputs, execute, select_again,
};
use jurist_store::jobs::{Job, NewJob};
use jurist_store::runs::NewRunResult;
use jurist_store::spend::Limit;
use jurist_store::{ProjectId, StoreError, clock};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::sync::mpsc;

use super::emit::Emit;
use super::worker::{StopSignal, retry_while_transient};
use super::{PreparedSubmission, ProjectBudget, WorkerContext};
use crate::job::{JobEnd, JobError};

/// Kind of these jobs.
pub const KIND: &str = "run";

/// Units per job: few enough that little work is repeated when a worker dies.
const UNITS: usize = 16;

/// Number of slices with a decreasing priority, so that the first slices of all runs come before the later ones.
/// Slices after these have the same priority and are executed in the order of runs.
const FAIR: i64 = 20;

/// Attempts of a slice.
const ATTEMPTS: u32 = 5;

/// Payload of the job.
#[derive(Debug, Serialize, Deserialize)]
struct Slice {
    run: RunId,
    places: Vec<usize>,
}

/// Builds the jobs of a new run.
pub fn build_run_jobs(
    prepared: &PreparedSubmission,
    project: ProjectId,
    run: RunId,
    now: Time,
) -> Vec<NewJob> {
    let slices = prepared.slices(UNITS).into_iter().zip(0..);
    slices.map(|(places, nth)| Slice { run, places }.job(project, nth, now)).collect()
}

/// Prefix of the keys of a run's jobs.
pub fn run_job_prefix(run: RunId) -> String {
    format!("{run}/")
}

impl Slice {
    fn of(job: &Job) -> Result<(ProjectId, Self), JobError> {
        let slice = serde_json::from_value(job.payload.clone()).map_err(JobError::hopeless)?;
        Ok((job.project.ok_or_else(|| JobError::hopeless("a run belongs to a project"))?, slice))
    }

    fn job(self, project: ProjectId, nth: i64, now: Time) -> NewJob {
        let first = self.places.first().copied().unwrap_or_default();
        NewJob {
            project: Some(project),
            kind: KIND.to_owned(),
            dedupe: Some(format!("{}{first}", run_job_prefix(self.run))),
            payload: serde_json::to_value(self).expect("a slice is plain data"),
            // The first slices of a small run do not wait for the last slices of a large one.
            priority: -nth.min(FAIR),
            ready: now,
            max_attempts: ATTEMPTS,
        }
    }

    /// Range of its positions in the plan.
    fn range(&self) -> RangeInclusive<usize> {
        let ends = self.places.iter().min().zip(self.places.iter().max());
        ends.map_or(0..=0, |(first, last)| *first..=*last)
    }
}

/// Grades the units of a slice that have no result yet.
pub async fn run_slice_job(
    context: &WorkerContext,
    job: &Job,
    stop: &mut StopSignal,
) -> Result<JobEnd, JobError> {
    let (project, slice) = Slice::of(job)?;
    let prepared = match context.load_prepared_submission(project, slice.run).await {
        // The run was deleted in the meantime.
        Err(JobError::Gone) => return Ok(JobEnd::Finished),
        prepared => prepared?,
    };
    // Units with grader errors are graded again, together with the units they are compared with.
    let graded = context.store.graded_places(project, slice.run, slice.range()).await?;
    let is_left =
        |job: &execute::GradingJob| graded.get(&job.at).is_none_or(|status| *status == VerdictStatus::Error);
    let jobs = slice.places.iter().filter_map(|at| prepared.jobs.get(*at).cloned()).collect();
    let jobs = select_again(jobs, is_left);
    if !jobs.is_empty() {
        let limit = prepared.submission.cap().map(Limit::InAll);
        let shared_budget =
            ProjectBudget::new(context, project, KIND, slice.run.to_string()).with_limit(limit).with_job(job);
        let mut keeper = ResultRecorder { context, project, run: slice.run, broken: BTreeSet::new() };
        let outputs = load_stored_outputs(context, project, &slice, &prepared, &jobs).await?;
        let shared = prepared.call_context(Arc::new(shared_budget), outputs);
        let agents = jobs.first().map(|job| Arc::clone(&job.agents));
        let again = if prepared.submission.retry_errors { jobs.clone() } else { Vec::new() };
        let mut stopped = keeper.pass(jobs, &shared, stop).await;
        let again = select_again(again, |job| keeper.broken.contains(&job.at));
        if matches!(stopped, Ok(None)) && !again.is_empty() {
            stopped = keeper.pass(again, &shared, stop).await;
        }
        for warning in agents.iter().flat_map(|agents| agents.warnings()) {
            tracing::warn!(run = %slice.run, "{warning}");
        }
        if stopped?.is_some() {
            return Ok(JobEnd::Stopped);
        }
    }
    end_finished_run(context, project, slice.run).await?;
    Ok(JobEnd::Finished)
}

/// The outputs that units use, of units that were graded before. Both are in the same slice.
async fn load_stored_outputs(
    context: &WorkerContext,
    project: ProjectId,
    slice: &Slice,
    prepared: &PreparedSubmission,
    jobs: &[execute::GradingJob],
) -> Result<StoredOutputs, JobError> {
    let outputs = StoredOutputs::default();
    let needed = jobs.iter().flat_map(|job| &job.unit.needed_outputs);
    let needed: BTreeSet<&str> = needed.map(|output| output.unit.as_str()).collect();
    let jobs = slice.places.iter().filter_map(|at| prepared.jobs.get(*at));
    for job in jobs.filter(|job| needed.contains(job.unit.name.as_str())) {
        let results = context.store.results(project, slice.run, job.at.checked_sub(1), 1).await?;
        results
            .iter()
            .filter(|(place, _)| *place == job.at)
            .for_each(|(_, result)| outputs.add_result(result));
    }
    Ok(outputs)
}

/// The run ends after the last slice.
async fn end_finished_run(context: &WorkerContext, project: ProjectId, run: RunId) -> Result<(), JobError> {
    if retry_while_transient(|| context.store.end_if_whole(project, run, clock::current_time())).await? {
        tracing::info!(%run, "a run has ended");
        if context.work.emit.is_some() {
            let job = Emit::Run { run }.job(project, clock::current_time());
            retry_while_transient(|| context.store.add_job(&job, clock::current_time())).await?;
        }
    }
    Ok(())
}

/// Writes error results for the units of a slice that failed too often, so that the run can end.
pub async fn close_dead_slice_job(context: &WorkerContext, job: &Job) -> Result<(), JobError> {
    let (project, slice) = Slice::of(job)?;
    if context.store.run_progress(project, slice.run).await?.ended.is_some() {
        return Ok(());
    }
    let prepared = context.load_prepared_submission(project, slice.run).await?;
    let graded = context.store.graded_places(project, slice.run, slice.range()).await?;
    let why = format!("no worker could do it: {}", job.error.as_deref().unwrap_or("no reason is known"));
    let left = slice.places.iter().filter(|place| !graded.contains_key(*place));
    let left = left.filter_map(|at| prepared.jobs.get(*at));
    let broken = |job: &execute::GradingJob| GradedUnit {
        place: job.at,
        result: Box::new(execute::build_broken_result(&job.unit, &why)),
        exchanges: Vec::new(),
    };
    let results: Vec<GradedUnit> = left.map(broken).collect();
    let results: Vec<NewRunResult<'_>> = results.iter().map(GradedUnit::as_new).collect();
    context.store.put_results(project, slice.run, &results, clock::current_time()).await?;
    end_finished_run(context, project, slice.run).await
}

/// Stores results as they arrive.
struct ResultRecorder<'a> {
    context: &'a WorkerContext,
    project: ProjectId,
    run: RunId,
    broken: BTreeSet<usize>,
}

/// The result of a unit, as it waits to be stored.
struct GradedUnit {
    place: usize,
    result: Box<CaseResult>,
    exchanges: Vec<Json>,
}

impl GradedUnit {
    fn as_new(&self) -> NewRunResult<'_> {
        NewRunResult { place: self.place, result: &self.result, exchanges: &self.exchanges }
    }
}

impl ResultRecorder<'_> {
    async fn pass(
        &mut self,
        jobs: Vec<execute::GradingJob>,
        shared: &Arc<execute::GradingContext>,
        stop: &mut StopSignal,
    ) -> Result<Option<EarlyStop>, JobError> {
        let (graded, mut coming) = mpsc::channel::<GradedUnit>(UNITS);
        let store_exchanges = self.context.work.store_exchanges;
        let listen = async move |event: GradingEvent| {
            if let GradingEvent::Graded { at, result, exchanges } = event {
                let json =
                    |judge_exchange| serde_json::to_value(judge_exchange).expect("an exchange is plain data");
                let exchanges = exchanges.iter().filter(|_| store_exchanges).map(json);
                let unit = GradedUnit { place: at, result, exchanges: exchanges.collect() };
                let _ = graded.send(unit).await;
            }
        };
        let grading = execute(jobs, shared, UNITS, StopCondition::default(), stop.now(), listen);
        let keeping = async {
            let mut some = Vec::new();
            while 0 < coming.recv_many(&mut some, UNITS).await {
                self.keep(&some).await?;
                some.clear();
            }
            Ok(())
        };
        let (stopped, stored) = tokio::join!(grading, keeping);
        stored.map(|()| stopped)
    }

    async fn keep(&mut self, some: &[GradedUnit]) -> Result<(), JobError> {
        let (store, project, run) = (&self.context.store, self.project, self.run);
        let results: Vec<NewRunResult<'_>> = some.iter().map(GradedUnit::as_new).collect();
        match retry_while_transient(|| store.put_results(project, run, &results, clock::current_time())).await
        {
            Err(StoreError::Unknown { .. }) => return Err(JobError::Gone),
            stored => stored?,
        }
        for GradedUnit { place, result, .. } in some {
            match result.verdict.status {
                VerdictStatus::Error => self.broken.insert(*place),
                _ => self.broken.remove(place),
            };
        }
        Ok(())
    }
}
