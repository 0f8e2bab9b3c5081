//! Context that all workers of a process share.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jurist_core::redact::Redactor;
use jurist_core::run::RunId;
use jurist_engine::background::run_on_blocking_thread;
use jurist_engine::call::{ModelClient, RateLimiters};
use jurist_engine::execute::{GradingContext, StoredOutputs};
use jurist_store::monitors::StoredMonitor;
use jurist_store::{MonitorVersionId, ProjectId, Store};
use tokio::sync::{Notify, OwnedMutexGuard};

use super::prepared_monitor::PreparedMonitor;
use super::{NewRun, PreparedSubmission, ProjectBudget};
use crate::job::{JobError, Work, WorkRefusal};
use crate::metrics::Metrics;
use crate::monitor::LoadedMonitorVersion;

/// Prepared runs in the cache: slices of one run follow each other, and preparing a suite takes time.
const MAX_CACHED_RUNS: usize = 8;

/// Prepared monitor versions in the cache.
const MAX_CACHED_MONITORS: usize = 100;

#[derive(Debug, Clone)]
pub struct WorkerContext(Arc<WorkerState>);

#[derive(Debug)]
pub struct WorkerState {
    pub store: Store,
    pub work: Work,
    pub metrics: Arc<Metrics>,
    /// Notified when a reservation of this process is settled.
    pub settled: Notify,
    prepared: Mutex<VecDeque<CachedRun>>,
    monitors: Mutex<VecDeque<Arc<PreparedMonitor>>>,
    /// Rate limiters that the judges of all monitors share.
    rate_limiters: Mutex<RateLimiters>,
    /// Questions that a worker of this process is asking, by their cache keys.
    flights: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
}

/// A run that is ready to be executed.
#[derive(Debug)]
struct CachedRun {
    run: RunId,
    prepared: Arc<PreparedSubmission>,
}

/// Whether another job of this process asks the same question at the moment.
#[derive(Debug)]
pub enum Flight {
    /// No other job asks this question. The holder asks it and keeps the lock until the answer is cached.
    First(OwnedMutexGuard<()>),
    /// Another job asks it. The lock is released when that job has an answer or has failed.
    Later(Arc<tokio::sync::Mutex<()>>),
}

impl std::ops::Deref for WorkerContext {
    type Target = WorkerState;

    fn deref(&self) -> &WorkerState {
        &self.0
    }
}

impl WorkerContext {
    pub fn new(store: Store, work: Work, metrics: Arc<Metrics>) -> Self {
        let (prepared, monitors, rate_limiters, flights) = Default::default();
        let settled = Notify::new();
        Self(Arc::new(WorkerState {
            store,
            work,
            metrics,
            settled,
            prepared,
            monitors,
            rate_limiters,
            flights,
        }))
    }

    /// Joins the other jobs of this process that ask the same question, so that it is asked once.
    pub fn join_flight(&self, key: &str) -> Flight {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = flights.get(key).and_then(Weak::upgrade) {
            return Flight::Later(first);
        }
        flights.retain(|_, flight| 0 < flight.strong_count());
        let lock = Arc::new(tokio::sync::Mutex::new(()));
        flights.insert(key.to_owned(), Arc::downgrade(&lock));
        Flight::First(lock.try_lock_owned().expect("no other task has it yet"))
    }

    /// Prepares a submission on a blocking thread.
    pub async fn prepare(&self, submission: NewRun) -> Result<PreparedSubmission, WorkRefusal> {
        let work = self.work.clone();
        let prepared = run_on_blocking_thread(move || PreparedSubmission::new(submission, &work)).await;
        prepared.expect("reading a suite does not panic")
    }

    /// Loads a stored run and prepares it for execution.
    pub async fn load_prepared_submission(
        &self,
        project: ProjectId,
        run: RunId,
    ) -> Result<Arc<PreparedSubmission>, JobError> {
        if let Some(cached) = self.cached_runs().iter().find(|cached| cached.run == run) {
            return Ok(Arc::clone(&cached.prepared));
        }
        let submission = self.store.submission(project, run).await?;
        let submission = serde_json::from_slice(&submission).map_err(JobError::hopeless)?;
        let prepared = Arc::new(self.prepare(submission).await.map_err(JobError::hopeless)?);
        self.keep(run, Arc::clone(&prepared));
        Ok(prepared)
    }

    /// Loads a monitor version with its judges; an invalid one is an error without retry.
    pub async fn load_prepared_monitor(
        &self,
        project: ProjectId,
        id: MonitorVersionId,
    ) -> Result<Arc<PreparedMonitor>, JobError> {
        let monitors = || self.monitors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(monitor) = monitors().iter().find(|monitor| monitor.watched.id == id) {
            return Ok(Arc::clone(monitor));
        }
        let version = self.store.monitor_version(project, id).await?;
        let watched = LoadedMonitorVersion::read(&version).map_err(JobError::Hopeless)?;
        let prepared = Arc::new(PreparedMonitor::new(watched, &self.work).map_err(JobError::hopeless)?);
        let mut monitors = monitors();
        monitors.push_back(Arc::clone(&prepared));
        if MAX_CACHED_MONITORS < monitors.len() {
            monitors.pop_front();
        }
        Ok(prepared)
    }

    /// The version whose budget limits calls: the newest, also for a trace that was sampled under an earlier version,
    /// because a budget that was raised or lowered holds from now on.
    pub async fn load_funding_version(
        &self,
        project: ProjectId,
        monitor: &StoredMonitor,
        prepared: &Arc<PreparedMonitor>,
    ) -> Result<Arc<PreparedMonitor>, JobError> {
        let Some(newest) = monitor.newest.as_ref().filter(|newest| newest.id != prepared.watched.id) else {
            return Ok(Arc::clone(prepared));
        };
        match self.load_prepared_monitor(project, newest.id).await {
            // Its judges cannot be called. Its own traces report that.
            Err(JobError::Hopeless(_)) => Ok(Arc::clone(prepared)),
            loaded => loaded,
        }
    }

    /// The context of a monitor's judge calls, with their budget.
    pub fn call_context(&self, shared_budget: ProjectBudget) -> GradingContext {
        let redactor = Redactor::new(self.work.environment.secrets(), &self.work.settings.redact);
        let rate_limiters = self.rate_limiters.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let caller = ModelClient::default()
            .with_shared_budget(Arc::new(shared_budget))
            .with_rate_limiters(rate_limiters);
        let caller = caller.with_limits(self.work.settings.limits.into());
        GradingContext { caller, redactor: redactor.unwrap_or_default(), outputs: StoredOutputs::default() }
    }

    /// Lets calls to vendors with rejected keys be made again.
    pub fn unblock_vendors(&self) {
        *self.rate_limiters.lock().unwrap_or_else(PoisonError::into_inner) = RateLimiters::default();
    }

    pub fn keep(&self, run: RunId, prepared: Arc<PreparedSubmission>) {
        let mut runs = self.cached_runs();
        runs.push_back(CachedRun { run, prepared });
        if MAX_CACHED_RUNS < runs.len() {
            runs.pop_front();
        }
    }

    fn cached_runs(&self) -> MutexGuard<'_, VecDeque<CachedRun>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl WorkerContext {
    /// Replaces the judges of a monitor version.
    pub fn replace_judges(&self, watched: LoadedMonitorVersion, judges: Vec<crate::job::ResolvedJudges>) {
        let mut monitors = self.monitors.lock().unwrap_or_else(PoisonError::into_inner);
        monitors.push_back(Arc::new(PreparedMonitor { watched, judges }));
    }
}
