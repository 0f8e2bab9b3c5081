//! Context that all workers of a process share.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jurist_core::redact::Redactor;
use jurist_core::run::RunId;
use jurist_engine::call::{ModelClient, RateLimiters};
use jurist_engine::execute::{GradingContext, StoredOutputs};
use jurist_store::monitors::StoredMonitor;
use jurist_store::{MonitorVersionId, ProjectId, Store};
use tokio::sync::{Notify, OwnedMutexGuard};

use super::prepared::vendor_limits;
use super::prepared_monitor::PreparedMonitor;
use super::{NewRun, PreparedSubmission, ProjectBudget};
use crate::job::{JobError, Work, WorkRefusal};
use crate::metrics::Metrics;
use crate::monitor::LoadedMonitorVersion;

/// Prepared runs in the cache: slices of one run follow each other, and preparing a suite takes time.
const KEPT: usize = 8;

/// Prepared monitor versions in the cache.
const SEATED: usize = 100;

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
    seated: Mutex<VecDeque<Arc<PreparedMonitor>>>,
    /// Rate limiters that the judges of all monitors share.
    gates: Mutex<RateLimiters>,
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
        let (prepared, seated, gates, flights) = Default::default();
        let settled = Notify::new();
        Self(Arc::new(WorkerState { store, work, metrics, settled, prepared, seated, gates, flights }))
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
    pub async fn prepare(&self, asked: NewRun) -> Result<PreparedSubmission, WorkRefusal> {
        let work = self.work.clone();
        let prepared = tokio::task::spawn_blocking(move || PreparedSubmission::new(asked, &work)).await;
        prepared.expect("reading a suite does not panic")
    }

    /// Loads a stored run and prepares it for execution.
    pub async fn load_prepared_submission(
        &self,
        project: ProjectId,
        run: RunId,
    ) -> Result<Arc<PreparedSubmission>, JobError> {
        if let Some(found) = self.cached_runs().iter().find(|cached| cached.run == run) {
            return Ok(Arc::clone(&found.prepared));
        }
        let submission = self.store.submission(project, run).await?;
        let asked = serde_json::from_slice(&submission).map_err(JobError::hopeless)?;
        let prepared = Arc::new(self.prepare(asked).await.map_err(JobError::hopeless)?);
        self.keep(run, Arc::clone(&prepared));
        Ok(prepared)
    }

    /// Loads a monitor version with its judges; an invalid one is an error without retry.
    pub async fn load_prepared_monitor(
        &self,
        project: ProjectId,
        id: MonitorVersionId,
    ) -> Result<Arc<PreparedMonitor>, JobError> {
        let kept = || self.seated.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept().iter().find(|monitor| monitor.watched.id == id) {
            return Ok(Arc::clone(found));
        }
        let version = self.store.monitor_version(project, id).await?;
        let watched = LoadedMonitorVersion::read(&version).map_err(JobError::Hopeless)?;
        let seated = Arc::new(PreparedMonitor::new(watched, &self.work).map_err(JobError::hopeless)?);
        let mut kept = kept();
        kept.push_back(Arc::clone(&seated));
        if SEATED < kept.len() {
            kept.pop_front();
        }
        Ok(seated)
    }

    /// The version whose budget limits calls: the newest, also for a trace that was sampled under an earlier version,
    /// because a budget that was raised or lowered holds from now on.
    pub async fn load_funding_version(
        &self,
        project: ProjectId,
        monitor: &StoredMonitor,
        seated: &Arc<PreparedMonitor>,
    ) -> Result<Arc<PreparedMonitor>, JobError> {
        let Some(newest) = monitor.newest.as_ref().filter(|newest| newest.id != seated.watched.id) else {
            return Ok(Arc::clone(seated));
        };
        match self.load_prepared_monitor(project, newest.id).await {
            // Its judges cannot be called. Its own traces report that.
            Err(JobError::Hopeless(_)) => Ok(Arc::clone(seated)),
            loaded => loaded,
        }
    }

    /// The context of a monitor's judge calls, with their budget.
    pub fn call_context(&self, shared_budget: ProjectBudget) -> GradingContext {
        let redactor = Redactor::new(self.work.environment.secrets(), &self.work.settings.redact);
        let gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let caller =
            ModelClient::default().with_shared_budget(Arc::new(shared_budget)).with_rate_limiters(gates);
        let caller = caller.with_limits(vendor_limits(&self.work.settings));
        GradingContext { caller, redactor: redactor.unwrap_or_default(), outputs: StoredOutputs::default() }
    }

    /// Lets calls to vendors with rejected keys be made again.
    pub fn unblock_vendors(&self) {
        *self.gates.lock().unwrap_or_else(PoisonError::into_inner) = RateLimiters::default();
    }

    pub fn keep(&self, run: RunId, prepared: Arc<PreparedSubmission>) {
        let mut kept = self.cached_runs();
        kept.push_back(CachedRun { run, prepared });
        if KEPT < kept.len() {
            kept.pop_front();
        }
    }

    fn cached_runs(&self) -> MutexGuard<'_, VecDeque<CachedRun>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl WorkerContext {
    /// Replaces the judges of a monitor version.
    pub fn replace_judges(&self, watched: LoadedMonitorVersion, benches: Vec<crate::job::ResolvedJudges>) {
        let mut seated = self.seated.lock().unwrap_or_else(PoisonError::into_inner);
        seated.push_back(Arc::new(PreparedMonitor { watched, benches }));
    }
}
