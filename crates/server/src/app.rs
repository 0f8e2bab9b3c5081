//! What every request shares.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use jurist_core::redact::Redactor;
use jurist_store::{ProjectId, Region, Store, StoreError, clock};
use tokio::sync::watch;

use crate::annotate::Outputs;
use crate::auth::LockOut;
use crate::connections::ConnectionLimits;
use crate::ingest::{IngestAdmission, IngestLimits};
use crate::metrics::Metrics;
use crate::monitor::Sequences;
use crate::work::{Work, WorkerContext};

#[derive(Debug, Clone)]
pub struct App(Arc<AppState>);

#[derive(Debug)]
pub struct AppState {
    pub store: Store,
    pub settings: ServerSettings,
    /// Where requests go that name no project.
    pub default_project: ProjectId,
    pub lock_out: LockOut,
    pub metrics: Arc<Metrics>,
    pub workshop: WorkerContext,
    /// True once the server is stopping: event streams end, so that their clients reconnect to another process.
    pub stopping: watch::Sender<bool>,
    /// What is being taken in.
    pub gate: IngestAdmission,
    /// Where answers of people are written besides the store.
    pub outputs: Outputs,
    /// What trends need not be worked out again.
    pub sequences: Sequences,
}

/// How the server was started.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    pub access: Access,
    /// How people reach it, such as `https://jurist.example.org`; links and cookies follow it.
    pub public_url: Option<String>,
    /// Everybody comes by a proxy of one's own, which tells their addresses.
    pub behind_proxy: bool,
    /// The largest body of a request, once unpacked.
    pub max_body: usize,
    /// A trace of which nothing has come for so long is taken for whole.
    pub idle: Duration,
    /// What traces said is erased after so many days; their numbers stay.
    pub retention_days: Option<u32>,
    /// What work in the background may touch.
    pub work: Work,
    /// An ended trace is put together once nothing has come for so long. OpenTelemetry's batch processors send every
    /// 5 s in each process by themselves, so spans of one trace come up to 5 s apart, and some time on the way.
    pub settle: Duration,
    /// Traces that may wait to be judged, in each project; more than that is not looked at.
    pub max_waiting: u64,
    /// Where this server stands: part of the ids of rubric versions.
    pub region: Region,
    /// How much may come in at once.
    pub ingest: IngestLimits,
    /// How many clients there may be, and how long they may take.
    pub connections: ConnectionLimits,
    /// Takes keys and passwords out of what comes in, before it is kept.
    pub redactor: Redactor,
}

/// Who may come in.
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
        let workshop = WorkerContext::new(store.clone(), settings.work.clone(), Arc::clone(&metrics));
        let (lock_out, gate) = (LockOut::default(), IngestAdmission::default());
        let stopping = watch::Sender::new(false);
        let (outputs, sequences) = (Outputs::default(), Sequences::default());
        let shared = AppState {
            store,
            settings,
            default_project,
            lock_out,
            metrics,
            workshop,
            stopping,
            gate,
            outputs,
            sequences,
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
