//! One gate per vendor: so many at once, so many a minute, and a circuit that opens when nothing works.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use crate::model::{ErrorKind, ModelError, Reply};

/// What a vendor may be asked.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub concurrency: usize,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 32, requests_per_minute: None, tokens_per_minute: None }
    }
}

/// Calls in a row that were given up before a vendor is left alone for a while.
const FAILURES: u32 = 3;

/// So many first waits between two tries: half a minute.
const PAUSE: u32 = 60;

/// How long refusals count as one.
const SETTLING: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Gate {
    places: Semaphore,
    max: usize,
    /// Places there are now; fewer after the vendor said that it is too much.
    limit: AtomicUsize,
    /// Places to take away as they come back.
    surplus: AtomicUsize,
    n_good: AtomicUsize,
    state: Mutex<State>,
    limits: Limits,
    /// How long a vendor is left alone.
    pause: Duration,
}

#[derive(Debug, Default)]
struct State {
    /// Nobody enters before.
    blocked_until: Option<Instant>,
    /// When the next request, and the next tokens, are due.
    requests_due: Option<Instant>,
    tokens_due: Option<Instant>,
    n_failed: u32,
    /// When there were last made fewer places.
    shrunk: Option<Instant>,
    circuit: Option<Circuit>,
    announced: bool,
    /// Whether it was said that calls fail and are made again.
    troubled: bool,
}

#[derive(Debug, Clone)]
struct Circuit {
    /// `None`: for good, since a key does not become right by waiting.
    until: Option<Instant>,
    error: ModelError,
    /// Somebody waited and tried in vain: it is no short trouble, and nobody waits any more.
    hopeless: bool,
}

/// What to do at the gate.
enum Sign {
    Go,
    Wait(Instant),
    Stop(ModelError),
}

/// A place at the vendor.
pub(super) struct Permit<'a> {
    gate: &'a Gate,
    place: Option<SemaphorePermit<'a>>,
}

impl Gate {
    pub(super) fn new(limits: Limits, backoff: Duration) -> Self {
        let max = limits.concurrency.max(1);
        Self {
            places: Semaphore::new(max),
            max,
            limit: AtomicUsize::new(max),
            surplus: AtomicUsize::new(0),
            n_good: AtomicUsize::new(0),
            state: Mutex::default(),
            limits,
            pause: backoff * PAUSE,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place and for the rate, and for a vendor in trouble; refuses if that is no use.
    pub(super) async fn enter(&self, tokens: u64) -> Result<Permit<'_>, ModelError> {
        loop {
            let place = self.places.acquire().await.expect("the gate is never closed");
            let permit = Permit { gate: self, place: Some(place) };
            match self.sign() {
                Sign::Stop(error) => return Err(error),
                Sign::Wait(until) => {
                    drop(permit);
                    tokio::time::sleep_until(until).await;
                    continue;
                }
                Sign::Go => {}
            }
            let mut due = self.due(tokens);
            while Instant::now() < due {
                tokio::time::sleep_until(due).await;
                // The vendor may have asked for more patience meanwhile.
                due = self.state().blocked_until.unwrap_or(due);
            }
            return Ok(permit);
        }
    }

    fn sign(&self) -> Sign {
        let mut state = self.state();
        let Some(circuit) = &mut state.circuit else { return Sign::Go };
        let now = Instant::now();
        match circuit.until {
            Some(until) if until <= now => {
                // One goes ahead and tries; the others wait for what becomes of it.
                circuit.until = Some(now + self.pause);
                Sign::Go
            }
            Some(until) if !circuit.hopeless => Sign::Wait(until),
            _ => {
                let detail = format!("this vendor keeps failing and is left alone: {}", circuit.error.detail);
                Sign::Stop(ModelError { detail, ..circuit.error.clone() })
            }
        }
    }

    /// Whether the vendor is left alone for now.
    pub(super) fn is_open(&self) -> bool {
        self.state().circuit.is_some()
    }

    /// Takes a turn and tells when it comes.
    fn due(&self, tokens: u64) -> Instant {
        let now = Instant::now();
        let mut state = self.state();
        let mut due = state.blocked_until.map_or(now, |it| it.max(now));
        let minute = Duration::from_secs(60);
        if let Some(limit) = self.limits.requests_per_minute.filter(|it| 0 < *it) {
            let turn = state.requests_due.map_or(now, |it| it.max(now));
            state.requests_due = Some(turn + minute / limit);
            due = due.max(turn);
        }
        if let Some(limit) = self.limits.tokens_per_minute.filter(|it| 0 < *it) {
            let turn = state.tokens_due.map_or(now, |it| it.max(now));
            state.tokens_due = Some(turn + minute.mul_f64(tokens as f64 / f64::from(limit)));
            due = due.max(turn);
        }
        due
    }

    /// Fewer at once when the vendor says that it is too much, slowly more when it goes well.
    pub(super) fn learn(&self, result: &Result<Reply, ModelError>) {
        match result {
            Err(error) if error.kind == ErrorKind::RateLimit => {
                if let Some(wait) = error.retry_after {
                    let until = Instant::now() + wait.min(super::LONGEST_WAIT);
                    let mut state = self.state();
                    state.blocked_until = Some(state.blocked_until.map_or(until, |it| it.max(until)));
                }
                // All that were under way are refused together; that is one sign, not many.
                let mut state = self.state();
                let now = Instant::now();
                if state.shrunk.is_none_or(|it| SETTLING <= now - it) {
                    state.shrunk = Some(now);
                    let limit = self.limit.load(Ordering::Relaxed);
                    let fewer = (limit / 2).max(1);
                    self.limit.store(fewer, Ordering::Relaxed);
                    self.surplus.fetch_add(limit - fewer, Ordering::Relaxed);
                }
            }
            Ok(_) => {
                if self.limit.load(Ordering::Relaxed) < self.max {
                    self.grow();
                }
            }
            Err(_) => {}
        }
    }

    fn grow(&self) {
        let _alone = self.state();
        let limit = self.limit.load(Ordering::Relaxed);
        if limit < self.max && limit <= self.n_good.fetch_add(1, Ordering::Relaxed) {
            self.n_good.store(0, Ordering::Relaxed);
            self.limit.store(limit + 1, Ordering::Relaxed);
            if !take_one(&self.surplus) {
                self.places.add_permits(1);
            }
        }
    }

    pub(super) fn succeeded(&self) {
        let mut state = self.state();
        state.n_failed = 0;
        state.circuit = None;
    }

    /// Whether nobody has said yet that the vendor is in trouble.
    pub(super) fn announces_trouble(&self) -> bool {
        !std::mem::replace(&mut self.state().troubled, true)
    }

    /// A call was given up. The reason, if that opens the circuit and nobody has said so yet.
    pub(super) fn failed(&self, error: &ModelError) -> Option<String> {
        let mut state = self.state();
        let for_good = error.kind == ErrorKind::Auth;
        if !for_good && !error.is_passing() {
            return None;
        }
        state.n_failed += 1;
        if !for_good && state.n_failed < FAILURES {
            return None;
        }
        let until = (!for_good).then(|| Instant::now() + self.pause);
        let hopeless = state.circuit.is_some();
        state.circuit = Some(Circuit { until, error: error.clone(), hopeless });
        (!std::mem::replace(&mut state.announced, true)).then(|| error.detail.clone())
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take()
            && take_one(&self.gate.surplus)
        {
            place.forget();
        }
    }
}

fn take_one(counter: &AtomicUsize) -> bool {
    counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1)).is_ok()
}
