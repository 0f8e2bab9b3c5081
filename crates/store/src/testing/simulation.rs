//! A database whose clock, chance and faults a test decides.
//!
//! Everything runs on one thread under tokio's paused clock, and a call to SQLite blocks that thread until it is done:
//! so the seed alone decides the order of everything.

use std::cell::RefCell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use futures_util::future::BoxFuture;
use jurist_core::grade::Time;
use tokio::runtime::Handle;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

pub use crate::faults::DatabaseStep;

use crate::db::{Arg, Db};
use crate::wake::Wake as JobWake;
use crate::{Store, StoreError};

/// Decides what becomes of the calls that one process makes to the database.
pub trait FaultInjector: std::fmt::Debug + Send + Sync {
    /// Before a call has its effect: waits, fails it, or never returns.
    fn before<'a>(&'a self, call: &'a DatabaseCall<'a>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The same after its effect.
    fn after(&self, step: DatabaseStep) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Waits until there is no other writer.
    fn wait_for_writer(&self) -> BoxFuture<'_, Result<OwnedMutexGuard<()>, StoreError>>;

    /// Another statement instead of one, to see that a test notices.
    fn rewrite(&self, _sql: &str) -> Option<String> {
        None
    }

    /// The runtime that manages connections, in real time.
    fn database(&self) -> &Handle;

    /// Which process this is.
    fn process(&self) -> usize;
}

/// A call to the database.
#[derive(Debug)]
pub struct DatabaseCall<'a> {
    pub step: DatabaseStep,
    /// Empty for the begin and the end of a transaction.
    pub sql: &'a str,
    args: &'a [Arg],
}

impl<'a> DatabaseCall<'a> {
    pub(crate) fn new(step: DatabaseStep, sql: &'a str, args: &'a [Arg]) -> Self {
        Self { step, sql, args }
    }

    /// The argument at a place, counted from 0, if it is a text.
    pub fn text(&self, at: usize) -> Option<&'a str> {
        match self.args.get(at) {
            Some(Arg::Text(text)) => text.as_deref(),
            _ => None,
        }
    }

    pub fn number(&self, at: usize) -> Option<i64> {
        match self.args.get(at) {
            Some(Arg::Int(number)) => *number,
            _ => None,
        }
    }
}

impl dyn FaultInjector {
    /// Blocks until the database has answered.
    pub(crate) fn block_on_database<T>(&self, call: impl Future<Output = T>) -> T {
        let _inside = self.database().enter();
        block_on(call)
    }
}

/// Drives a future on this thread, in any runtime.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    // Nobody renews the budget that tokio gives to the task outside.
    let mut future = pin!(tokio::task::coop::unconstrained(future));
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// What a call fails with: the kind of error after which trying again may help.
pub fn injected_fault() -> StoreError {
    StoreError::Failed(sqlx::Error::Io(std::io::Error::other("a fault that a test injected")))
}

impl Store {
    /// The same database as another process sees it.
    #[must_use]
    pub fn as_process(&self, injector: Arc<dyn FaultInjector>) -> Self {
        let mut store = Self { wake: Arc::new(JobWake::new()), ingest: Arc::default(), ..self.clone() };
        if let Db::Lite { faults, .. } = &mut store.db {
            faults.injector = Some(injector);
        }
        store
    }

    /// The process that sees the database like this, in a simulation.
    pub fn process(&self) -> Option<usize> {
        match &self.db {
            Db::Lite { faults, .. } => faults.injector.as_ref().map(|injector| injector.process()),
            Db::Pg(_) => None,
        }
    }
}

/// Numbers that look like chance and follow from a seed: SplitMix64.
#[derive(Debug, Clone)]
pub struct SeededRandom(u64);

impl SeededRandom {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to a number, which is not reached.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next_number() % end.max(1)
    }

    /// True once in so many times; never for 0.
    pub fn once_in(&mut self, times: u64) -> bool {
        times != 0 && self.below(times) == 0
    }
}

struct World {
    start: Instant,
    epoch: Time,
    random: SeededRandom,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// As long as this lives, the clock of this thread is tokio's, and its ids follow from a seed.
#[derive(Debug)]
pub struct SimulatedWorld(());

impl SimulatedWorld {
    /// Inside of a runtime whose clock is paused.
    pub fn enter(seed: u64, epoch: Time) -> Self {
        let world = World { start: Instant::now(), epoch, random: SeededRandom::new(seed) };
        WORLD.with(|current| *current.borrow_mut() = Some(world));
        Self(())
    }
}

impl Drop for SimulatedWorld {
    fn drop(&mut self) {
        WORLD.with(|current| *current.borrow_mut() = None);
    }
}

pub(crate) fn simulated_time() -> Option<Time> {
    WORLD.with(|current| {
        current.borrow().as_ref().map(|world| {
            let passed = i64::try_from(world.start.elapsed().as_micros()).unwrap_or(i64::MAX);
            Time::from_micros(world.epoch.micros() + passed)
        })
    })
}

pub(crate) fn fill_from_seed(bytes: &mut [u8]) -> bool {
    WORLD.with(|current| {
        let mut current = current.borrow_mut();
        let Some(world) = current.as_mut() else { return false };
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&world.random.next_number().to_le_bytes()[..chunk.len()]);
        }
        true
    })
}
