//! Rate limiter per vendor: concurrency, requests and tokens per minute, and a circuit breaker for each model.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jurist_core::dialect::RateLimitSettings;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::breaker::{Admission, BreakerEvent, CircuitBreaker};
use crate::model::{ModelError, ModelErrorKind, ModelReply};

/// Rate limits of a vendor.
#[derive(Debug, Clone, Copy)]
pub struct VendorRateLimits {
    pub concurrency: usize,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
}

impl Default for VendorRateLimits {
    fn default() -> Self {
        Self { concurrency: 32, requests_per_minute: None, tokens_per_minute: None }
    }
}

impl From<RateLimitSettings> for VendorRateLimits {
    fn from(settings: RateLimitSettings) -> Self {
        let RateLimitSettings { concurrency, requests_per_minute, tokens_per_minute } = settings;
        let concurrency = concurrency.map_or(Self::default().concurrency, |n| n as usize);
        Self { concurrency, requests_per_minute, tokens_per_minute }
    }
}

/// Rate-limit errors within this time count as one, because all requests in progress get one together.
const SETTLING: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct RateLimiter {
    places: Semaphore,
    max: usize,
    /// Current concurrency; lower after the vendor's rate-limit errors.
    limit: AtomicUsize,
    /// Permits to remove when they are returned.
    surplus: AtomicUsize,
    n_good: AtomicUsize,
    state: Mutex<RateLimiterState>,
    limits: VendorRateLimits,
    /// The first wait of a circuit breaker.
    backoff: Duration,
}

#[derive(Debug, Default)]
struct RateLimiterState {
    /// No request is sent before this time.
    blocked_until: Option<Instant>,
    /// When the next request, and the next tokens, are due.
    requests_due: Option<Instant>,
    tokens_due: Option<Instant>,
    /// Time of the last reduction.
    shrunk: Option<Instant>,
    /// Lengths of replies by model.
    replies: HashMap<String, ReplyLengths>,
    breakers: HashMap<String, Arc<CircuitBreaker>>,
}

/// Number of replies and total tokens.
#[derive(Debug, Default, Clone, Copy)]
struct ReplyLengths {
    n: u64,
    tokens: u64,
}

/// Number of replies after which their mean length is used.
const KNOWN_AFTER: u64 = 10;

/// Factor on the mean length. A limit of four times the mean rarely cuts off a reply.
const MARGIN: u64 = 4;

/// Lower bound of the expected length, in tokens.
const SHORTEST_REPLY: u64 = 256;

/// A permit to send one request.
#[derive(Debug)]
pub(super) struct Permit<'a> {
    gate: &'a RateLimiter,
    breaker: Arc<CircuitBreaker>,
    place: Option<SemaphorePermit<'a>>,
    is_probe: bool,
}

impl RateLimiter {
    pub(super) fn new(limits: VendorRateLimits, backoff: Duration) -> Self {
        let max = limits.concurrency.max(1);
        Self {
            places: Semaphore::new(max),
            max,
            limit: AtomicUsize::new(max),
            surplus: AtomicUsize::new(0),
            n_good: AtomicUsize::new(0),
            state: Mutex::default(),
            limits,
            backoff,
        }
    }

    fn state(&self) -> MutexGuard<'_, RateLimiterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The circuit breaker of a model.
    pub(super) fn breaker(&self, model: &str) -> Arc<CircuitBreaker> {
        let mut state = self.state();
        if let Some(known) = state.breakers.get(model) {
            return Arc::clone(known);
        }
        let breaker = Arc::new(CircuitBreaker::new(self.backoff));
        state.breakers.insert(model.to_owned(), Arc::clone(&breaker));
        breaker
    }

    /// Waits for a permit, for the rate, and for the end of an outage; fails if waiting is useless.
    pub(super) async fn enter(&self, model: &str, tokens: u64) -> Result<Permit<'_>, ModelError> {
        let breaker = self.breaker(model);
        loop {
            let place = self.places.acquire().await.expect("the gate is never closed");
            let mut permit =
                Permit { gate: self, breaker: Arc::clone(&breaker), place: Some(place), is_probe: false };
            let change = breaker.change();
            match breaker.admit(Instant::now()) {
                Admission::Send => {}
                Admission::Probe => permit.is_probe = true,
                Admission::Refuse(error) => return Err(error),
                Admission::WaitForProbe => {
                    drop(permit);
                    change.await;
                    continue;
                }
                Admission::WaitUntil(until) => {
                    drop(permit);
                    tokio::select! {
                        biased;
                        () = tokio::time::sleep_until(until) => {}
                        () = change => {}
                    }
                    continue;
                }
            }
            let mut due = self.due(tokens);
            while Instant::now() < due {
                tokio::time::sleep_until(due).await;
                // The vendor may have asked for a longer wait in the meantime.
                due = self.state().blocked_until.unwrap_or(due);
            }
            return Ok(permit);
        }
    }

    /// Reserves the next slot of the rate limit, and returns its time.
    fn due(&self, tokens: u64) -> Instant {
        let now = Instant::now();
        let mut state = self.state();
        let mut due = state.blocked_until.map_or(now, |time| time.max(now));
        let minute = Duration::from_secs(60);
        if let Some(limit) =
            self.limits.requests_per_minute.filter(|requests_per_minute| 0 < *requests_per_minute)
        {
            let turn = state.requests_due.map_or(now, |time| time.max(now));
            state.requests_due = Some(turn + minute / limit);
            due = due.max(turn);
        }
        if let Some(limit) = self.limits.tokens_per_minute.filter(|tokens_per_minute| 0 < *tokens_per_minute)
        {
            let turn = state.tokens_due.map_or(now, |time| time.max(now));
            state.tokens_due = Some(turn + minute.mul_f64(tokens as f64 / f64::from(limit)));
            due = due.max(turn);
        }
        due
    }

    /// Records the result of a request and releases its permit; returns an event to report, if any.
    pub(super) fn record(
        &self,
        mut permit: Permit<'_>,
        model: &str,
        result: &Result<ModelReply, ModelError>,
    ) -> Option<BreakerEvent> {
        self.adapt(result);
        let is_probe = std::mem::replace(&mut permit.is_probe, false);
        match result {
            Ok(reply) => {
                self.note_length(model, reply.usage.output);
                permit.breaker.record_answer();
                None
            }
            Err(error) => permit.breaker.record_failure(error, is_probe, Instant::now()),
        }
    }

    fn note_length(&self, model: &str, tokens: u64) {
        let mut state = self.state();
        let lengths = state.replies.entry(model.to_owned()).or_default();
        lengths.n += 1;
        lengths.tokens = lengths.tokens.saturating_add(tokens);
    }

    /// Output tokens that a model's replies rarely exceed; `None` before `KNOWN_AFTER` replies.
    pub(super) fn likely_output(&self, model: &str) -> Option<u32> {
        let lengths = self.state().replies.get(model).copied().filter(|lengths| KNOWN_AFTER <= lengths.n)?;
        u32::try_from((lengths.tokens / lengths.n).saturating_mul(MARGIN).max(SHORTEST_REPLY)).ok()
    }

    /// Adapts the concurrency: lower after a rate-limit error, slowly higher after successes.
    fn adapt(&self, result: &Result<ModelReply, ModelError>) {
        match result {
            Err(error) if error.kind == ModelErrorKind::RateLimit => {
                if let Some(wait) = error.retry_after {
                    let until = Instant::now() + wait.min(super::LONGEST_WAIT);
                    let mut state = self.state();
                    state.blocked_until = Some(state.blocked_until.map_or(until, |time| time.max(until)));
                }
                // All requests in progress fail together, so these errors count as one.
                let mut state = self.state();
                let now = Instant::now();
                if state.shrunk.is_none_or(|shrunk| SETTLING <= now - shrunk) {
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
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.abandon_probe();
        }
        if let Some(place) = self.place.take()
            && take_one(&self.gate.surplus)
        {
            place.forget();
        }
    }
}

fn take_one(counter: &AtomicUsize) -> bool {
    counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
}
