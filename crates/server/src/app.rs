//! State that all requests share.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use jurist_core::redact::Redactor;
use jurist_store::{ProjectId, Region, Store, StoreError, clock};
use tokio::sync::watch;

use crate::annotate::Outputs;
use crate::connections::{BodyMemory, ConnectionLimits};
use crate::credential::LockOut;
use crate::ingest::{IngestAdmission, IngestLimits};
use crate::job::Work;
use crate::metrics::Metrics;
use crate::monitor::{AlertChecks, Sequences};
use crate::run_comparisons::{ChangeCache, HistoryCache};
use crate::work::WorkerContext;

/// Largest bodies that are in memory at a time.
const LARGE_BODIES: usize = 8;

#[derive(Debug, Clone)]
pub struct App(Arc<AppState>);

#[derive(Debug)]
pub struct AppState {
    pub store: Store,
    pub settings: ServerSettings,
    /// Project of requests that name none.
    pub default_project: ProjectId,
    pub lock_out: LockOut,
    pub metrics: Arc<Metrics>,
    pub worker_context: WorkerContext,
    /// True once the server is stopping: event streams end, so that their clients reconnect to another process.
    pub stopping: watch::Sender<bool>,
    /// Limits of traces that are being received.
    pub admission: Arc<IngestAdmission>,
    /// Limits the bodies of all requests together, except uploads of traces.
    pub body_memory: Arc<BodyMemory>,
    /// Output folders for annotations, in addition to the store.
    pub outputs: Outputs,
    /// Cache for trends.
    pub sequences: Sequences,
    /// Comparisons of runs, case by case.
    pub changes: ChangeCache,
    /// Figures of the history of runs.
    pub history: HistoryCache,
    /// Kept in memory: each server checks all monitors when it starts.
    pub alert_checks: watch::Sender<AlertChecks>,
}

/// How the server was started.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    pub access: Access,
    /// Public address, such as `https://jurist.example.org`, for links and cookies.
    pub public_url: Option<String>,
    /// Whether all clients come through the operator's proxy, which sends their addresses in a header.
    pub behind_proxy: bool,
    /// Largest body of a request after decompression.
    pub max_body: usize,
    /// A trace without new pieces for this time counts as complete.
    pub idle: Duration,
    /// Contents of traces are erased after so many days; their numbers stay.
    pub retention_days: Option<u32>,
    /// Settings of background jobs.
    pub work: Work,
    /// An ended trace is assembled after this time without new pieces. OpenTelemetry's batch processors send every 5 s
    /// by default, in each process, so spans of one trace arrive up to 5 s apart, plus the network delay.
    pub settle: Duration,
    /// Most traces per project that may wait for a judge; further ones get the state `overloaded`.
    pub max_waiting: u64,
    /// Region of this server, which is part of the ids of rubric versions.
    pub region: Region,
    /// Limits of ingest.
    pub ingest: IngestLimits,
    /// Limits of client connections.
    pub connections: ConnectionLimits,
    /// Removes keys and passwords from received data before it is stored.
    pub redactor: Redactor,
}

/// Who can use the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No login; the server listens on this machine only.
    Open,
    /// Accounts and tokens.
    Accounts,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            access: Access::Open,
            public_url: None,
            behind_proxy: false,
            max_body: 32 * 1024 * 1024,
            idle: Duration::from_secs(60),
            retention_days: None,
            work: Work::default(),
            settle: Duration::from_secs(7),
            max_waiting: 100_000,
            region: Region::default(),
            ingest: IngestLimits::default(),
            connections: ConnectionLimits::default(),
            redactor: Redactor::default(),
        }
    }
}

impl App {
    pub async fn new(store: Store, settings: ServerSettings) -> Result<Self, StoreError> {
        let rates = &settings.work.settings.rates;
        let default_project = store.default_project(rates, clock::current_time()).await?;
        let metrics = Arc::new(Metrics::default());
        let worker_context = WorkerContext::new(store.clone(), settings.work.clone(), Arc::clone(&metrics));
        let (lock_out, admission) = (LockOut::default(), Arc::new(IngestAdmission::default()));
        let stopping = watch::Sender::new(false);
        let (outputs, sequences) = (Outputs::default(), Sequences::default());
        let body_memory = Arc::new(BodyMemory::new(settings.max_body.saturating_mul(LARGE_BODIES)));
        let shared = AppState {
            store,
            settings,
            default_project,
            lock_out,
            metrics,
            worker_context,
            stopping,
            admission,
            body_memory,
            outputs,
            sequences,
            changes: ChangeCache::default(),
            history: HistoryCache::default(),
            alert_checks: watch::Sender::new(AlertChecks::default()),
        };
        Ok(Self(Arc::new(shared)))
    }
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}
