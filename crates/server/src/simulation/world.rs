//! What a seed decides: which calls fail, take long or are the last of their process, and what was seen meanwhile.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jurist_store::testing::{
    DatabaseCall, DatabaseStep, FaultInjector, LeaseHolder, SeededRandom, injected_fault,
};
use jurist_store::{Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio::time::{Instant, sleep, timeout};

/// How long a process waits for others that write, as the pool of a real one does.
const WRITER_PATIENCE: Duration = Duration::from_secs(30);

/// After a fault, work may be done twice for this time: leases end while the work that was begun before goes on.
const EXCUSED: Duration = Duration::from_secs(60);

/// How often things go wrong: once in so many times, never for 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaultRates {
    /// A call to the database fails before it has an effect, or after.
    pub fail_before: u64,
    pub fail_after: u64,
    /// It takes longer than a lease.
    pub slow: u64,
    /// The process ends at this call.
    pub die: u64,
    /// A judge is not reached.
    pub judge_refused: u64,
    /// It answers, and the answer is lost.
    pub judge_lost: u64,
    pub judge_malformed: u64,
    pub judge_slow: u64,
    pub hook_refused: u64,
    pub hook_lost: u64,
    /// An export is kept, and its acknowledgement is lost.
    pub ack_lost: u64,
}

impl FaultRates {
    /// Each kind of fault is frequent, rare or absent; in one simulation of eight all are absent.
    fn draw(random: &mut SeededRandom) -> Self {
        if random.once_in(8) {
            return Self::default();
        }
        let mut rate = |frequent: u64, rare: u64| match random.below(3) {
            0 => 0,
            1 => frequent,
            _ => rare,
        };
        Self {
            fail_before: rate(25, 200),
            fail_after: rate(15, 80),
            slow: rate(60, 300),
            die: rate(120, 500),
            judge_refused: rate(4, 12),
            judge_lost: rate(4, 12),
            judge_malformed: rate(5, 15),
            judge_slow: rate(3, 10),
            hook_refused: rate(3, 8),
            hook_lost: rate(3, 8),
            ack_lost: rate(2, 6),
        }
    }
}

/// A statement that is wrong on purpose: one part of it is replaced by another text.
#[derive(Debug, Clone, Copy)]
pub struct BrokenStatement {
    pub what: &'static str,
    /// How the statement begins.
    pub statement: &'static str,
    pub part: &'static str,
    pub instead: &'static str,
    /// One that notices.
    pub seed: u64,
}

/// What happened.
#[derive(Debug, Default)]
pub struct Observations {
    /// One line for each step, to compare and to read.
    pub log: Vec<String>,
    pub violations: Vec<String>,
    /// Billionths of a dollar that the vendor counts.
    pub billed: i64,
    pub n_calls: usize,
    pub n_deaths: usize,
    pub n_faults: usize,
    /// Questions that a judge answered in full, by what was asked, and when last.
    answered: BTreeMap<String, Instant>,
    /// Notices that arrived and were acknowledged, by their ids.
    pub delivered: BTreeMap<String, usize>,
    acknowledged: BTreeMap<String, Instant>,
    last_fault: Option<Instant>,
}

#[derive(Debug)]
pub struct SimulationContext {
    start: Instant,
    random: Mutex<SeededRandom>,
    pub rates: FaultRates,
    is_calm: AtomicBool,
    writer: Arc<tokio::sync::Mutex<()>>,
    database: Handle,
    deaths: mpsc::UnboundedSender<usize>,
    observations: Mutex<Observations>,
    dead: Mutex<BTreeSet<usize>>,
    broken: Option<BrokenStatement>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<SimulationContext>>> = const { RefCell::new(None) };
}

/// The world of this thread, if it simulates one.
pub fn current() -> Option<Arc<SimulationContext>> {
    CURRENT.with(|current| current.borrow().clone())
}

impl SimulationContext {
    pub fn enter(
        seed: u64,
        broken: Option<BrokenStatement>,
        database: Handle,
        deaths: mpsc::UnboundedSender<usize>,
    ) -> Arc<Self> {
        let mut random = SeededRandom::new(seed);
        let rates = FaultRates::draw(&mut random);
        let world = Arc::new(Self {
            start: Instant::now(),
            random: Mutex::new(random),
            rates,
            is_calm: AtomicBool::new(true),
            writer: Arc::default(),
            database,
            deaths,
            observations: Mutex::default(),
            dead: Mutex::default(),
            broken,
        });
        CURRENT.with(|current| *current.borrow_mut() = Some(Arc::clone(&world)));
        world
    }

    pub fn leave() {
        CURRENT.with(|current| *current.borrow_mut() = None);
    }

    pub fn set_calm(&self, is_calm: bool) {
        self.is_calm.store(is_calm, Ordering::Relaxed);
    }

    pub fn random(&self) -> MutexGuard<'_, SeededRandom> {
        self.random.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn observations(&self) -> MutexGuard<'_, Observations> {
        self.observations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a fault happens now.
    pub fn strikes(&self, once_in: u64) -> bool {
        !self.is_calm.load(Ordering::Relaxed) && self.random().once_in(once_in)
    }

    pub fn millis(&self, from: u64, until: u64) -> Duration {
        Duration::from_millis(from + self.random().below(until - from))
    }

    pub fn note(&self, line: &str) {
        let at = self.start.elapsed().as_millis();
        self.observations().log.push(format!("{at:>7} {line}"));
    }

    pub fn note_fault(&self, line: &str) {
        self.note(line);
        let mut observations = self.observations();
        observations.n_faults += 1;
        observations.last_fault = Some(Instant::now());
    }

    pub fn violate(&self, what: String) {
        self.note(&format!("VIOLATION {what}"));
        self.observations().violations.push(what);
    }

    /// The process ends here. Its tasks are gone before this returns, except those without an owner: they find that
    /// they have lost the database.
    pub async fn die(&self, process: usize, at: &str) -> StoreError {
        if self.dead().insert(process) {
            self.note_fault(&format!("p{process} dies at {at}"));
            self.observations().n_deaths += 1;
            let _ = self.deaths.send(process);
        }
        sleep(Duration::from_millis(20)).await;
        injected_fault()
    }

    fn dead(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.dead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A judge answers in full. The same answer twice has a fault for a reason.
    pub fn note_answer(&self, question: &str) {
        let mut observations = self.observations();
        let now = Instant::now();
        if let Some(before) = observations.answered.insert(question.to_owned(), now)
            && !observations.is_excused(before)
        {
            let what = format!("a judge answered twice without a reason: {question}");
            observations.violations.push(what);
        }
    }

    /// A notice arrives. One that was acknowledged comes again only where a fault is the reason.
    fn note_delivery(&self, id: &str) {
        let mut observations = self.observations();
        *observations.delivered.entry(id.to_owned()).or_default() += 1;
        if let Some(before) = observations.acknowledged.get(id).copied()
            && !observations.is_excused(before)
        {
            observations.violations.push(format!("a notice came twice without a reason: {id}"));
        }
    }
}

impl Observations {
    fn is_excused(&self, since: Instant) -> bool {
        self.last_fault.is_some_and(|fault| since <= fault + EXCUSED)
    }
}

/// What becomes of a signed request to a webhook; `None` outside of simulations.
pub async fn receive_webhook(store: &Store, id: &str) -> Option<Result<(), crate::job::JobError>> {
    use crate::job::JobError;
    let (world, process) = (current()?, store.process()?);
    sleep(world.millis(5, 300)).await;
    if world.strikes(world.rates.hook_refused) {
        world.note_fault(&format!("p{process} webhook refused {id}"));
        return Some(Err(JobError::Retry("the webhook does not answer".to_owned())));
    }
    world.note(&format!("p{process} webhook {id}"));
    world.note_delivery(id);
    sleep(world.millis(5, 300)).await;
    if world.strikes(world.rates.hook_lost) {
        world.note_fault(&format!("p{process} webhook answer lost {id}"));
        return Some(Err(JobError::Retry("the answer of the webhook was lost".to_owned())));
    }
    world.observations().acknowledged.insert(id.to_owned(), Instant::now());
    Some(Ok(()))
}

/// The database as one process sees it.
#[derive(Debug)]
pub struct ProcessFaults {
    world: Arc<SimulationContext>,
    process: usize,
    /// Sees the database as it is; `None` for the process that is never disturbed.
    observer: Option<Store>,
    /// Jobs that the transaction under way settles or keeps.
    claims: Mutex<Vec<LeaseClaim>>,
}

/// A statement of a process about a job whose lease it believes to hold.
#[derive(Debug)]
struct LeaseClaim {
    job: String,
    claimant: LeaseHolder,
    holder: Option<LeaseHolder>,
}

impl ProcessFaults {
    pub fn injector(
        world: &Arc<SimulationContext>,
        process: usize,
        observer: Option<Store>,
    ) -> Arc<dyn FaultInjector> {
        Arc::new(Self { world: Arc::clone(world), process, observer, claims: Mutex::default() })
    }

    fn claims(&self) -> MutexGuard<'_, Vec<LeaseClaim>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers who has a job that this process is about to change as its own.
    async fn watch_lease(&self, observer: &Store, call: &DatabaseCall<'_>) -> Result<(), StoreError> {
        if call.step == DatabaseStep::Begin {
            self.claims().clear();
        }
        let (Some(job), Some(worker), Some(attempts)) = (call.text(0), call.text(1), call.number(2)) else {
            return Ok(());
        };
        if job.starts_with("job_") && call.sql.contains(" jobs ") {
            let (state, worker) = ("leased".to_owned(), Some(worker.to_owned()));
            let claimant = LeaseHolder { state, worker, attempts };
            let holder = observer.lease_holder(job).await?;
            self.claims().push(LeaseClaim { job: job.to_owned(), claimant, holder });
        }
        Ok(())
    }

    /// Checks that a worker that lost a job's lease has not changed the job.
    async fn check_leases(&self, observer: &Store) -> Result<(), StoreError> {
        let claims = std::mem::take(&mut *self.claims());
        for claim in claims {
            let is_others = claim.holder.as_ref().is_some_and(|holder| *holder != claim.claimant);
            if is_others && observer.lease_holder(&claim.job).await? != claim.holder {
                self.world.violate(format!("{:?} changed a job of {:?}", claim.claimant, claim.holder));
            }
        }
        Ok(())
    }
}

impl FaultInjector for ProcessFaults {
    fn before<'a>(&'a self, call: &'a DatabaseCall<'a>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let Some(observer) = &self.observer else { return Ok(()) };
            let (world, process, step) = (&self.world, self.process, call.step);
            if world.dead().contains(&process) {
                return Err(injected_fault());
            }
            let mut wait = world.millis(1, 4);
            if world.strikes(world.rates.slow) {
                wait = world.millis(500, 12_000);
                world.note_fault(&format!("p{process} {step:?} takes {} ms", wait.as_millis()));
            }
            sleep(wait).await;
            if world.strikes(world.rates.die) {
                return Err(world.die(process, &format!("{step:?}")).await);
            }
            if world.strikes(world.rates.fail_before) {
                world.note_fault(&format!("p{process} {step:?} fails before its effect"));
                return Err(injected_fault());
            }
            let sql: String = call.sql.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
            world.note(&format!("p{process} {step:?} {sql}"));
            self.watch_lease(observer, call).await
        })
    }

    fn after(&self, step: DatabaseStep) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let (world, process) = (&self.world, self.process);
            let Some(observer) = &self.observer else { return Ok(()) };
            if !matches!(step, DatabaseStep::Write | DatabaseStep::Commit) {
                return Ok(());
            }
            self.check_leases(observer).await?;
            if world.strikes(world.rates.die.div_ceil(4)) {
                return Err(world.die(process, &format!("{step:?}, after it")).await);
            }
            if world.strikes(world.rates.fail_after) {
                world.note_fault(&format!("p{process} {step:?} fails after its effect"));
                return Err(injected_fault());
            }
            Ok(())
        })
    }

    fn wait_for_writer(&self) -> BoxFuture<'_, Result<OwnedMutexGuard<()>, StoreError>> {
        let writer = Arc::clone(&self.world.writer);
        Box::pin(
            async move { timeout(WRITER_PATIENCE, writer.lock_owned()).await.map_err(|_| injected_fault()) },
        )
    }

    fn rewrite(&self, sql: &str) -> Option<String> {
        let broken = self.world.broken.filter(|broken| sql.starts_with(broken.statement))?;
        sql.contains(broken.part).then(|| sql.replace(broken.part, broken.instead))
    }

    fn database(&self) -> &Handle {
        &self.world.database
    }

    fn process(&self) -> usize {
        self.process
    }
}
