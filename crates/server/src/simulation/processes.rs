//! Servers and workers that run the product's own code. A process may end at any step, and may be started again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use jurist_core::money::Rates;
use jurist_store::{Store, clock};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::judge::simulate_judges;
use super::traffic::serve_otlp_request;
use super::world::{ProcessFaults, SimulationContext};
use crate::app::{App, ServerSettings};
use crate::assemble;
use crate::job::ResolvedJudges;
use crate::metrics::Metrics;
use crate::monitor::{LoadedMonitorVersion, consider, watch_monitors};
use crate::work::{WorkerContext, run_worker};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    Server,
    /// So many jobs at a time.
    Worker(usize),
}

#[derive(Debug)]
struct Process {
    /// Never used twice: a process that is started again has another number.
    number: usize,
    kind: ProcessKind,
    /// The app of a server, for requests.
    app: Option<App>,
    worker_context: Option<WorkerContext>,
    tasks: Vec<JoinHandle<()>>,
    stop: Option<oneshot::Sender<()>>,
}

/// All that run, on one database.
#[derive(Debug)]
pub struct Processes {
    world: Arc<SimulationContext>,
    /// Sees the database as it is.
    observer: Store,
    settings: ServerSettings,
    last_number: AtomicUsize,
    running: Mutex<Vec<Process>>,
    /// Versions of monitors, with the judges that they name.
    versions: Mutex<Vec<(LoadedMonitorVersion, Vec<ResolvedJudges>)>>,
}

impl Processes {
    pub fn new(world: &Arc<SimulationContext>, observer: &Store, settings: ServerSettings) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            observer: observer.clone(),
            settings,
            last_number: AtomicUsize::new(0),
            running: Mutex::default(),
            versions: Mutex::default(),
        })
    }

    fn running(&self) -> MutexGuard<'_, Vec<Process>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Simulates the judges of a version, in all processes from now on.
    pub fn add_version(&self, watched: &LoadedMonitorVersion, judges: &[ResolvedJudges]) {
        let known = (watched.clone(), judges.to_vec());
        self.versions.lock().unwrap_or_else(PoisonError::into_inner).push(known);
        for process in self.running().iter() {
            if let Some(worker_context) = &process.worker_context {
                let judges = simulate_judges(&self.world, process.number, &self.observer, judges);
                worker_context.replace_judges(watched.clone(), judges);
            }
        }
    }

    pub fn start(self: &Arc<Self>, kind: ProcessKind) {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        self.world.note(&format!("p{number} starts: {kind:?}"));
        let faults = ProcessFaults::injector(&self.world, number, Some(self.observer.clone()));
        let store = self.observer.as_process(faults);
        let process =
            Process { number, kind, app: None, worker_context: None, tasks: Vec::new(), stop: None };
        self.running().push(process);
        match kind {
            ProcessKind::Server => {
                let serving = serve(Arc::clone(self), number, store);
                self.add_task(number, tokio::spawn(serving));
            }
            ProcessKind::Worker(n_at_once) => {
                let worker_context =
                    WorkerContext::new(store, self.settings.work.clone(), Arc::new(Metrics::default()));
                for (watched, judges) in &*self.versions.lock().unwrap_or_else(PoisonError::into_inner) {
                    let judges = simulate_judges(&self.world, number, &self.observer, judges);
                    worker_context.replace_judges(watched.clone(), judges);
                }
                let (stop, stopped) = oneshot::channel::<()>();
                self.change(number, |process| {
                    process.worker_context = Some(worker_context.clone());
                    process.stop = Some(stop);
                });
                let working = async move {
                    let name = format!("worker-{number}");
                    let stopped = async { drop(stopped.await) };
                    run_worker(worker_context, &name, n_at_once, stopped, Duration::from_secs(2)).await;
                };
                self.add_task(number, tokio::spawn(working));
            }
        }
    }

    fn change(&self, number: usize, change: impl FnOnce(&mut Process)) {
        if let Some(process) = self.running().iter_mut().find(|process| process.number == number) {
            change(process);
        }
    }

    fn add_task(&self, number: usize, task: JoinHandle<()>) {
        self.change(number, |process| process.tasks.push(task));
    }

    /// Ends a process at once and returns its kind; `None` if it had ended before.
    pub async fn kill(&self, number: usize) -> Option<ProcessKind> {
        let killed = {
            let mut running = self.running();
            let at = running.iter().position(|process| process.number == number)?;
            running.remove(at)
        };
        for task in &killed.tasks {
            task.abort();
        }
        for task in killed.tasks {
            let _ = task.await;
        }
        Some(killed.kind)
    }

    pub async fn kill_all(&self) {
        let numbers: Vec<usize> = self.running().iter().map(|process| process.number).collect();
        for number in numbers {
            self.kill(number).await;
        }
    }

    /// Tells one worker to stop, and starts another when it has.
    pub async fn replace_worker(self: &Arc<Self>) {
        let stopped = {
            let mut running = self.running();
            let worker = running.iter_mut().find(|process| process.stop.is_some());
            worker.map(|process| (process.number, process.stop.take()))
        };
        let Some((number, stop)) = stopped else { return };
        self.world.note_fault(&format!("p{number} gets a stop signal"));
        drop(stop);
        let is_over = |process: &Process| process.tasks.iter().all(JoinHandle::is_finished);
        while self.running().iter().any(|process| process.number == number && !is_over(process)) {
            sleep(Duration::from_millis(200)).await;
        }
        if let Some(kind) = self.kill(number).await {
            self.start(kind);
        }
    }

    /// Starts what is missing.
    pub fn start_missing(self: &Arc<Self>, wanted: &[ProcessKind]) {
        let mut there: Vec<ProcessKind> = self.running().iter().map(|process| process.kind).collect();
        for kind in wanted {
            match there.iter().position(|other| other == kind) {
                Some(at) => drop(there.remove(at)),
                None => self.start(*kind),
            }
        }
    }

    /// Sends a request to a running server; `None` if there is no such server, or if it ends before its response.
    pub async fn request(&self, request: Request<Body>) -> Option<Vec<u8>> {
        let (number, app) = {
            let running = self.running();
            let servers: Vec<&Process> = running.iter().filter(|process| process.app.is_some()).collect();
            let at = self.world.random().below(servers.len() as u64) as usize;
            servers.get(at).and_then(|process| Some((process.number, process.app.clone()?)))?
        };
        let (reply, replied) = oneshot::channel();
        let answering = async move { drop(reply.send(serve_otlp_request(app, request).await)) };
        self.add_task(number, tokio::spawn(answering));
        replied.await.ok().flatten()
    }
}

/// A server without its sockets: its background loops and its responses to exports.
async fn serve(processes: Arc<Processes>, number: usize, store: Store) {
    let world = &processes.world;
    let app = loop {
        match App::new(store.clone(), processes.settings.clone()).await {
            Ok(app) => break app,
            Err(_) => sleep(Duration::from_secs(1)).await,
        }
    };
    processes.change(number, |process| process.app = Some(app.clone()));
    let assembling = {
        let (app, world) = (app.clone(), Arc::clone(world));
        async move {
            let ((_stop, stopped), mut seen) = (watch::channel(false), assemble::AgentSightings::default());
            loop {
                let _ = assemble::assemble_ready_traces(&app, &mut seen, &stopped).await;
                sleep(world.millis(500, 2_000)).await;
            }
        }
    };
    let considering = {
        let (app, world) = (app.clone(), Arc::clone(world));
        async move {
            let (mut known, rates) = (consider::DecisionCache::default(), Rates::default());
            loop {
                let settings = (app.settings.max_waiting, &rates);
                let _ = consider::decide_new_traces(
                    &app.store,
                    &app.metrics,
                    settings,
                    &mut known,
                    clock::current_time(),
                )
                .await;
                sleep(world.millis(500, 2_000)).await;
            }
        }
    };
    let watching = {
        let (app, world) = (app, Arc::clone(world));
        async move {
            loop {
                let _ = watch_monitors(&app.store, &Rates::default(), clock::current_time()).await;
                sleep(world.millis(10_000, 30_000)).await;
            }
        }
    };
    processes.add_task(number, tokio::spawn(assembling));
    processes.add_task(number, tokio::spawn(considering));
    processes.add_task(number, tokio::spawn(watching));
}
