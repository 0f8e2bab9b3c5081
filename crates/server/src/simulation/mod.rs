//! A deterministic simulation of leases, money, traces and alerts.
//!
//! Servers and workers run the product's own code against a real SQLite file, on one thread, under a clock that moves
//! when everybody waits. A seed decides which calls to the database, to judges and to webhooks fail before or after
//! their effect, take long, or are the last of their process. Then the faults stop, everything comes to rest, and what
//! must be true is checked: some of it by triggers at each statement, some every few seconds, the rest at the end.

mod check;
mod judge;
mod processes;
mod tests;
mod traffic;
mod world;

use std::sync::Arc;
use std::time::Duration;

use jurist_core::grade::Time;
use jurist_core::money::{Cap, Rates};
use jurist_store::testing::{SeededRandom, SimulatedWorld, WatchedDatabase};
use jurist_store::{MonitorId, ProjectId, Region, Store, clock};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::app::ServerSettings;
use crate::job::{Work, build_monitor_judges};
use crate::monitor::{LoadedMonitorVersion, apply_monitor_file, find_monitor, pause_monitor, resume_monitor};
use crate::notify::{Notifications, Webhook};
use crate::set_cap_of;
use check::check_end;
use processes::{ProcessKind, Processes};
use traffic::{PlannedTrace, plan_traffic, send_trace};
pub use world::receive_webhook;
use world::{BrokenStatement, ProcessFaults, SimulationContext};

/// How long things go wrong.
const FAULTS: Duration = Duration::from_secs(45);

/// In which all comes to rest afterwards: notices that failed are tried again after five minutes at the latest.
const REST: Duration = Duration::from_secs(3600);

/// Interval of the maintenance of budgets, alerts and decisions without a job, with the minute that the last is given.
const UPKEEP: Duration = Duration::from_secs(120);

/// What is put off for longer than this waits for money.
const PUT_OFF: Duration = Duration::from_secs(1200);

/// What a seed led to.
#[derive(Debug)]
pub struct SimulationReport {
    pub violations: Vec<String>,
    pub log: Vec<String>,
    pub n_calls: usize,
    pub n_deaths: usize,
    pub n_faults: usize,
    pub n_notices: usize,
}

/// What is simulated, in addition to faults.
#[derive(Debug)]
struct Scenario {
    epoch: Time,
    /// Dollars of the project in a month.
    cap: Option<f64>,
    /// Dollars of the monitor.
    budget: Option<f64>,
    has_panel: bool,
    processes: Vec<ProcessKind>,
    traces: Vec<PlannedTrace>,
    /// When the cap is raised, when the monitor is changed, and when a worker is stopped.
    raised: Option<Duration>,
    changed: Option<Duration>,
    replaced: Option<Duration>,
    pause: Option<MonitorPause>,
}

/// A person pauses the monitor and resumes it.
#[derive(Debug, Clone, Copy)]
struct MonitorPause {
    after: Duration,
    lasts: Duration,
}

impl MonitorPause {
    /// In a third of the seeds. Numbers of its own, so that whatever else a seed decides stays as it is; with this number,
    /// no seed pauses that is known to notice a broken statement.
    fn draw(seed: u64) -> Option<Self> {
        let mut random = SeededRandom::new(seed ^ (26 << 32));
        random.once_in(3).then(|| {
            // Long and short: a worker that read "paused" acts before or after the monitor is resumed.
            let most = if random.once_in(2) { 500 } else { 20_000 };
            Self {
                after: Duration::from_millis(random.below(30_000)),
                lasts: Duration::from_millis(random.below(most)),
            }
        })
    }
}

/// What the simulated project is.
#[derive(Debug, Clone, Copy)]
struct SimulatedProject {
    project: ProjectId,
    monitor: MonitorId,
}

impl Scenario {
    fn draw(random: &mut SeededRandom) -> Self {
        let epoch = if random.once_in(5) { "2028-01-31T23:59:35Z" } else { "2028-02-15T12:00:00Z" };
        let cap = [None, Some(0.02), Some(0.05), Some(5.0)][random.below(4) as usize];
        let budget = [None, None, Some(0.03)][random.below(3) as usize];
        let mut processes = vec![ProcessKind::Server, ProcessKind::Worker(1), ProcessKind::Worker(2)];
        if random.once_in(2) {
            processes.push(ProcessKind::Server);
        }
        let mut once = |times| random.once_in(times).then(|| Duration::from_millis(random.below(40_000)));
        let (raised, changed, replaced) = (once(3), once(4), once(3));
        Self {
            epoch: Time::parse(epoch).expect("a time"),
            cap,
            budget,
            has_panel: random.once_in(4),
            processes,
            traces: plan_traffic(random),
            raised,
            changed,
            replaced,
            pause: None,
        }
    }

    /// The monitor, as a file.
    fn monitor(&self, question: &str) -> String {
        let judges =
            if self.has_panel { "[openai/gpt-5-mini, openai/gpt-5-nano]" } else { "[openai/gpt-5-mini]" };
        let budget = self
            .budget
            .map(|dollars| format!("budget: {{monthly: {dollars}, currency: USD}}\n"))
            .unwrap_or_default();
        format!(
            "agent: helper\nrubric: |\n  Rate the answer:\n  1. It is {question} (1-5)\n  2. It is kind (1-5)\n\
             \x20 Reply as JSON: {{\"{question}\": int, \"kind\": int, \"reasoning\": string}}\n\
             pass_threshold: 4.0\njudges: {judges}\nsample_rate: 1.0\n{budget}"
        )
    }
}

fn cap_of(dollars: f64) -> Cap {
    Cap::new(dollars, "USD".parse().expect("a currency"), 1.0).expect("a cap")
}

/// Simulates one seed on a copy of a database, perhaps with a statement that is wrong.
pub fn simulate(
    seed: u64,
    broken: Option<BrokenStatement>,
    template: &WatchedDatabase,
    database: &Runtime,
) -> SimulationReport {
    let scene = database.block_on(template.copy());
    let simulated =
        Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime starts");
    let world = simulated.block_on(async {
        let (deaths, died) = mpsc::unbounded_channel();
        let world = SimulationContext::enter(seed, broken, database.handle().clone(), deaths);
        let scenario = Scenario { pause: MonitorPause::draw(seed), ..Scenario::draw(&mut world.random()) };
        world.note(&format!("{scenario:?}"));
        let _entered = SimulatedWorld::enter(seed, scenario.epoch);
        let observer = scene.store.as_process(ProcessFaults::injector(&world, 0, None));
        run_scenario(&world, &observer, scenario, died).await;
        world
    });
    drop(simulated);
    SimulationContext::leave();
    database.block_on(scene.store.close());
    let mut observations = world.observations();
    SimulationReport {
        violations: std::mem::take(&mut observations.violations),
        log: std::mem::take(&mut observations.log),
        n_calls: observations.n_calls,
        n_deaths: observations.n_deaths,
        n_faults: observations.n_faults,
        n_notices: observations.delivered.len(),
    }
}

async fn run_scenario(
    world: &Arc<SimulationContext>,
    observer: &Store,
    scenario: Scenario,
    mut died: mpsc::UnboundedReceiver<usize>,
) {
    let work = Work { lease: Duration::from_secs(6), store_exchanges: false, ..Work::default() };
    let (settle, idle) = (Duration::from_secs(2), Duration::from_secs(8));
    let settings = ServerSettings { work, settle, idle, ..ServerSettings::default() };
    let processes = Processes::new(world, observer, settings.clone());
    let subject = set_up(observer, &scenario, &settings.work, &processes).await;
    for kind in &scenario.processes {
        processes.start(*kind);
    }
    world.set_calm(false);
    let mut tasks = Vec::new();
    for trace in scenario.traces.clone() {
        tasks.push(tokio::spawn(send_trace(Arc::clone(world), Arc::clone(&processes), trace)));
    }
    let scenario = Arc::new(scenario);
    tasks.push(tokio::spawn(operate(
        observer.clone(),
        Arc::clone(&scenario),
        settings,
        Arc::clone(&processes),
        subject,
    )));
    let mut restarts = Vec::new();
    let calm = Instant::now() + FAULTS;
    while Instant::now() < calm && !has_failed(world, observer).await {
        tokio::select! {
            biased;
            Some(number) = died.recv() => {
                let Some(kind) = processes.kill(number).await else { continue };
                if !world.random().once_in(4) {
                    let (processes, wait) = (Arc::clone(&processes), world.millis(100, 15_000));
                    restarts.push(tokio::spawn(async move { sleep(wait).await; processes.start(kind) }));
                }
            }
            () = sleep(Duration::from_secs(3)) => {}
        }
    }
    world.set_calm(true);
    world.note("no more faults");
    restarts.iter().for_each(tokio::task::JoinHandle::abort);
    while let Ok(number) = died.try_recv() {
        processes.kill(number).await;
    }
    processes.start_missing(&scenario.processes);
    if come_to_rest(world, observer, &tasks).await {
        check_end(world, observer, subject, &scenario).await;
    }
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    processes.kill_all().await;
}

/// The project, its money, its webhook and its monitor.
async fn set_up(
    observer: &Store,
    scenario: &Scenario,
    work: &Work,
    processes: &Processes,
) -> SimulatedProject {
    let now = clock::current_time();
    let project = observer.default_project(&Rates::default(), now).await.expect("a project");
    observer.set_cap(project, scenario.cap.map(cap_of)).await.expect("a cap");
    let webhook = Webhook { sealed: String::new(), host: "hooks.example.org".to_owned(), key: 1 };
    let notifications = Notifications { webhook: Some(webhook), ..Notifications::default() };
    notifications.keep(observer, project).await.expect("settings");
    apply_monitor(observer, project, &scenario.monitor("right"), work, processes).await;
    let monitor = find_monitor(observer, project, "helper").await.expect("a monitor").id;
    if let Some(dollars) = scenario.budget {
        let most = (dollars * 1e9).round() as i64;
        observer.watch_limit(&monitor.to_string(), most).await.expect("a limit");
    }
    SimulatedProject { project, monitor }
}

async fn apply_monitor(store: &Store, project: ProjectId, source: &str, work: &Work, processes: &Processes) {
    let place = (&Region::default(), work);
    apply_monitor_file(store, project, None, source, place, None, clock::current_time())
        .await
        .expect("a monitor");
    let monitor = find_monitor(store, project, "helper").await.expect("a monitor");
    let watched = LoadedMonitorVersion::read(&monitor.newest.expect("a version")).expect("a monitor");
    let judges = build_monitor_judges(&watched.monitor, work).expect("judges");
    processes.add_version(&watched, &judges);
}

/// What people do meanwhile.
async fn operate(
    observer: Store,
    scenario: Arc<Scenario>,
    settings: ServerSettings,
    processes: Arc<Processes>,
    subject: SimulatedProject,
) {
    let raise = async {
        let Some(after) = scenario.raised else { return };
        sleep(after).await;
        let cap = scenario.cap.map(|dollars| cap_of(2.0 * dollars));
        set_cap_of(&observer, subject.project, cap, clock::current_time()).await.expect("a cap");
    };
    let change = async {
        let Some(after) = scenario.changed else { return };
        sleep(after).await;
        let source = scenario.monitor("correct");
        apply_monitor(&observer, subject.project, &source, &settings.work, &processes).await;
    };
    let replace = async {
        let Some(after) = scenario.replaced else { return };
        sleep(after).await;
        processes.replace_worker().await;
    };
    let pause = async {
        let Some(pause) = scenario.pause else { return };
        sleep(pause.after).await;
        pause_monitor(&observer, subject.project, subject.monitor, "a person").await.expect("a pause");
        sleep(pause.lasts).await;
        let monitor = observer.monitor(subject.project, subject.monitor).await.expect("a monitor");
        resume_monitor(&observer, subject.project, &monitor, clock::current_time())
            .await
            .expect("it goes on");
    };
    tokio::join!(biased; raise, change, replace, pause);
}

/// Looks for what must never be.
async fn has_failed(world: &SimulationContext, observer: &Store) -> bool {
    match observer.violations().await {
        Ok(violations) => violations.into_iter().for_each(|what| world.violate(what)),
        Err(error) => world.violate(format!("the observer cannot read: {error}")),
    }
    !world.observations().violations.is_empty()
}

/// Waits until all traces are sent, all jobs are done, and periodic tasks have run once more.
async fn come_to_rest(
    world: &SimulationContext,
    observer: &Store,
    tasks: &[tokio::task::JoinHandle<()>],
) -> bool {
    let (limit, mut rested) = (Instant::now() + REST, None);
    while !has_failed(world, observer).await {
        let before = Time::from_micros(clock::current_time().micros() + PUT_OFF.as_micros() as i64);
        let is_done = tasks.iter().all(tokio::task::JoinHandle::is_finished)
            && observer.is_at_rest(before).await.unwrap_or(false);
        rested = if is_done { rested.or(Some(Instant::now())) } else { None };
        if rested.is_some_and(|since: Instant| UPKEEP <= since.elapsed()) {
            return true;
        }
        if limit < Instant::now() {
            world.violate("an hour after the last fault there is still something to do".to_owned());
            return false;
        }
        sleep(Duration::from_secs(3)).await;
    }
    false
}
