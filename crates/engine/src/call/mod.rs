//! A model call: cache, budget, rate limit, retries, usage meter.
//!
//! Failures are never cached, and all retries of a call share one limit of attempts.

mod batching;
mod breaker;
mod budget;
mod cache;
mod rate_limiter;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jurist_core::grade::{Attempt, Failure, Spend, Usd};

pub use budget::{BudgetReservation, CallBudget, SharedBudget, unknown_price_error};
pub use cache::{Cache, CacheStats};
pub use rate_limiter::VendorRateLimits;

use crate::batch::BatchQueue;
use crate::model::vendors::Price;
use crate::model::{ModelEndpoint, ModelError, ModelErrorKind, ModelReply, Request};
use crate::record::Tape;
use breaker::BreakerEvent;
use rate_limiter::RateLimiter;

/// How cached replies are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caching {
    #[default]
    Use,
    /// Calls the model, and stores the new replies.
    Refresh,
    Off,
}

/// Remaining requests for one question, including retries and repairs.
#[derive(Debug, Clone, Copy)]
pub struct Tries(u32);

impl Default for Tries {
    fn default() -> Self {
        // The first request and at most three more.
        Self(4)
    }
}

impl Tries {
    pub fn once() -> Self {
        Self(1)
    }

    pub fn is_used_up(&self) -> bool {
        self.0 == 0
    }

    fn count_one(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }
}

/// A reply with its attempts and cost.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub reply: ModelReply,
    pub spend: Spend,
    pub attempts: Vec<Attempt>,
    /// Key in the cache; empty if the reply is from a recording.
    pub key: String,
}

impl CallResult {
    /// Whether the reply was read from the cache on disk.
    pub fn is_from_disk(&self) -> bool {
        self.spend.from_cache && !self.key.is_empty()
    }
}

/// A failed call with its attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFailure {
    pub error: ModelError,
    pub attempts: Vec<Attempt>,
    /// Cost that the vendor charges, or may charge, for the failed call.
    pub spend: Option<Spend>,
}

impl From<ModelError> for CallFailure {
    fn from(error: ModelError) -> Self {
        Self { error, attempts: Vec::new(), spend: None }
    }
}

/// Events that are reported to the user once.
#[derive(Debug, Clone, PartialEq)]
pub enum CallNotice {
    /// A vendor failed so often that no requests are sent for a while.
    CircuitOpened { vendor: String, why: String },
    /// A call failed twice and is retried: the vendor may be down, and the run is slow.
    Retrying { vendor: String, why: String },
}

/// Client that all calls of a run share.
pub struct ModelClient {
    cache: Option<Cache>,
    caching: Caching,
    pub budget: CallBudget,
    /// A budget shared with other processes, in addition to the run's own.
    shared_budget: Option<Arc<dyn SharedBudget>>,
    limits: VendorRateLimits,
    gates: RateLimiters,
    pub tape: Tape,
    /// The queue of requests in batch mode.
    pub batches: Option<BatchQueue>,
    /// Wait before the first retry; each further wait is twice as long.
    backoff: Duration,
    pub meter: Meter,
    listener: Box<dyn Fn(CallNotice) + Send + Sync>,
}

/// Rate limiters by vendor; several clients of a process may share them.
#[derive(Debug, Clone, Default)]
pub struct RateLimiters(Arc<Mutex<HashMap<String, Arc<RateLimiter>>>>);

/// Counters of all calls of a client.
#[derive(Debug, Default)]
pub struct Meter {
    n_requests: AtomicU64,
    n_from_cache: AtomicU64,
    n_failed: AtomicU64,
    tokens_in: AtomicU64,
    tokens_out: AtomicU64,
}

/// A reading of the meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metered {
    /// Sent over the network, retries included.
    pub requests: u64,
    pub from_cache: u64,
    pub failed: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
}

impl Meter {
    pub fn read(&self) -> Metered {
        let get = |atomic_u64: &AtomicU64| atomic_u64.load(Ordering::Relaxed);
        Metered {
            requests: get(&self.n_requests),
            from_cache: get(&self.n_from_cache),
            failed: get(&self.n_failed),
            tokens_in: get(&self.tokens_in),
            tokens_out: get(&self.tokens_out),
        }
    }
}

/// A call fails at once if the vendor asks for a longer wait than this.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl std::fmt::Debug for ModelClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelClient").field("caching", &self.caching).finish_non_exhaustive()
    }
}

impl Default for ModelClient {
    fn default() -> Self {
        Self {
            cache: None,
            caching: Caching::Off,
            budget: CallBudget::new(None),
            shared_budget: None,
            limits: VendorRateLimits::default(),
            gates: RateLimiters::default(),
            tape: Tape::Off,
            batches: None,
            backoff: Duration::from_millis(500),
            meter: Meter::default(),
            listener: Box::new(|_| {}),
        }
    }
}

impl ModelClient {
    #[must_use]
    pub fn with_cache(self, cache: Cache, caching: Caching) -> Self {
        Self { cache: (caching != Caching::Off).then_some(cache), caching, ..self }
    }

    #[must_use]
    pub fn with_cap(self, cap: Option<Usd>) -> Self {
        Self { budget: CallBudget::new(cap), ..self }
    }

    #[must_use]
    pub fn with_shared_budget(self, shared_budget: Arc<dyn SharedBudget>) -> Self {
        Self { shared_budget: Some(shared_budget), ..self }
    }

    #[must_use]
    pub fn with_rate_limiters(self, gates: RateLimiters) -> Self {
        Self { gates, ..self }
    }

    #[must_use]
    pub fn with_limits(self, limits: VendorRateLimits) -> Self {
        Self { limits, ..self }
    }

    #[must_use]
    pub fn with_tape(self, tape: Tape) -> Self {
        Self { tape, ..self }
    }

    /// Switches to batch mode: requests are collected instead of sent.
    #[must_use]
    pub fn with_batches(self) -> Self {
        Self { batches: Some(BatchQueue::default()), ..self }
    }

    #[must_use]
    pub fn with_backoff(self, backoff: Duration) -> Self {
        Self { backoff, ..self }
    }

    #[must_use]
    pub fn with_listener(self, listener: impl Fn(CallNotice) + Send + Sync + 'static) -> Self {
        Self { listener: Box::new(listener), ..self }
    }

    /// Adds what an agent reports to have cost. Nothing could be reserved for it.
    pub async fn charge_reported_cost(&self, cost: Usd) {
        self.budget.charge(Some(cost));
        if let Some(shared_budget) = &self.shared_budget {
            shared_budget.charge(cost).await;
        }
    }

    /// Answers a request from a recording, a batch or the cache, or else calls the model.
    pub async fn call(
        &self,
        line: &ModelEndpoint,
        request: &Request,
        tries: &mut Tries,
    ) -> Result<CallResult, CallFailure> {
        self.answer_request(line, request, self.caching, tries).await
    }

    /// Answers a request as `call` does, but not from the cache: the stored reply turned out to be unusable.
    pub async fn call_past_cache(
        &self,
        line: &ModelEndpoint,
        request: &Request,
        tries: &mut Tries,
    ) -> Result<CallResult, CallFailure> {
        self.answer_request(line, request, Caching::Refresh, tries).await
    }

    async fn answer_request(
        &self,
        line: &ModelEndpoint,
        request: &Request,
        caching: Caching,
        tries: &mut Tries,
    ) -> Result<CallResult, CallFailure> {
        if let Some(replayed) = self.tape.replay(request) {
            self.meter.n_from_cache.fetch_add(1, Ordering::Relaxed);
            return Ok(cached_call_result(replayed?, String::new()));
        }
        // Checked before the cache, which also has the reply by now, so that its cost counts in this run.
        if let Some(batched) = self.batches.as_ref().and_then(|batch| batch.reply(request)) {
            let (attempts, spend) = (Vec::new(), batched.spend);
            let reply = batched.result.map_err(|error| CallFailure { error, attempts: Vec::new(), spend })?;
            self.tape.record(request, &reply);
            let key = cache_key(line, request);
            return Ok(CallResult { reply, spend: spend.unwrap_or_default(), attempts, key });
        }
        let key = cache_key(line, request);
        if let (Some(cache), Caching::Use) = (&self.cache, caching)
            && let Some(reply) = cache.get(&key)
        {
            self.meter.n_from_cache.fetch_add(1, Ordering::Relaxed);
            self.tape.record(request, &reply);
            return Ok(cached_call_result(reply, key));
        }
        let result = match &self.batches {
            Some(batches) => Err(batches.add(line, request).into()),
            None => self.call_with_retries(line, request, &key, tries).await,
        };
        match &result {
            Ok(called) => self.tape.record(request, &called.reply),
            Err(_) => {
                self.meter.n_failed.fetch_add(1, Ordering::Relaxed);
            }
        }
        result
    }

    /// The folder of the cache, if replies could not be stored there.
    pub fn lossy_cache(&self) -> Option<&std::path::Path> {
        self.cache.as_ref().filter(|cache| cache.is_lossy()).map(Cache::folder)
    }

    /// Stores a reply in the cache. Callers do this after they have parsed it, so that unusable replies are not cached.
    pub fn keep(&self, key: &str, reply: &ModelReply) {
        if let Some(cache) = self.cache.as_ref().filter(|_| !key.is_empty()) {
            cache.put(key, reply);
        }
    }

    async fn call_with_retries(
        &self,
        line: &ModelEndpoint,
        request: &Request,
        key: &str,
        tries: &mut Tries,
    ) -> Result<CallResult, CallFailure> {
        let gate = self.rate_limiter(&line.vendor);
        let breaker = gate.breaker(&line.name);
        let (mut attempts, mut spend) = (Vec::new(), None);
        loop {
            let sent = match self.send(line, request, &gate, tries).await {
                Ok(sent) => sent,
                Err(error) => return Err(CallFailure { error, attempts, spend }),
            };
            spend = add_optional_spend(spend, sent.spend);
            let error = match sent.result {
                Ok(reply) => {
                    let (spend, key) = (spend.unwrap_or_default(), key.to_owned());
                    return Ok(CallResult { reply, spend, attempts, key });
                }
                Err(error) => error,
            };
            self.notify_listener(line, &error, sent.development);
            let wait = error.retry_after.unwrap_or_else(|| self.wait(key, attempts.len()));
            // After two timeouts a third is likely, and each one takes the full time limit of a call.
            let hangs = error.kind == ModelErrorKind::Timeout
                && attempts.iter().any(|attempt: &Attempt| attempt.failure == Failure::Timeout);
            let is_over = tries.is_used_up() || hangs || LONGEST_WAIT < wait || breaker.is_settled();
            if !error.is_passing() || is_over {
                return Err(CallFailure { error, attempts, spend });
            }
            // A rate limit is normal operation and is not reported.
            let is_trouble = error.kind != ModelErrorKind::RateLimit && attempts.len() == 1;
            if is_trouble && breaker.announces_trouble() {
                self.notify_listener(line, &error, Some(BreakerEvent::Trouble));
            }
            attempts.push(Attempt { failure: error.failure(), detail: error.detail, time: None });
            // During an outage the circuit breaker decides which call is next and when.
            if !breaker.has_outage() {
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// Sends a request once, and settles its cost.
    async fn send(
        &self,
        line: &ModelEndpoint,
        request: &Request,
        gate: &RateLimiter,
        tries: &mut Tries,
    ) -> Result<RequestOutcome, ModelError> {
        // Such an endpoint has no price either, so under a cap a missing price would be the reason.
        if let Some(why) = line.model.missing_key() {
            return Err(ModelError::new(ModelErrorKind::NoKey, why.to_owned()));
        }
        let affordable = self.affordable(line, request, gate).await;
        let request = affordable.as_ref();
        let usage = request.most_usage();
        let most = line.price.map(|price| price.of(usage));
        let reserved = self.budget.reserve(&line.name, most).await?;
        let permit = gate.enter(&line.name, usage.input / 4).await?;
        // Reserved directly before the call, so that an open reservation always belongs to a call in progress.
        let held = self.reserve_shared_budget(line, most).await?;
        tries.count_one();
        self.meter.n_requests.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        let result = line
            .model
            .complete(request)
            .await
            .map(|reply| ModelReply { duration_ms: Some(started.elapsed().as_secs_f64() * 1e3), ..reply });
        let n_refused = result.as_ref().map_or_else(|error| error.n_refused, |reply| reply.n_refused);
        self.meter.n_requests.fetch_add(u64::from(n_refused), Ordering::Relaxed);
        let development = gate.record(permit, &line.name, &result);
        let spend = self.spend(line.price, &result, most);
        match spend {
            Some(spend) => reserved.settle(spend.cost),
            None => drop(reserved),
        }
        settle_reservation(held, spend.map_or(Some(Usd::default()), |spend| spend.cost)).await;
        Ok(RequestOutcome { result, spend, development })
    }

    /// The request, with a lower limit of output tokens if the full limit does not fit into the budget: the usual
    /// length of this model's replies plus a margin. So the rest of a small budget is used and the cap still holds.
    async fn affordable<'r>(
        &self,
        line: &ModelEndpoint,
        request: &'r Request,
        gate: &RateLimiter,
    ) -> Cow<'r, Request> {
        let (Some(shared_budget), Some(price)) = (&self.shared_budget, line.price) else {
            return Cow::Borrowed(request);
        };
        match gate.likely_output(&line.name) {
            Some(likely)
                if likely < request.max_tokens
                    && !shared_budget.may_fit(price.of(request.most_usage())).await =>
            {
                Cow::Owned(Request { max_tokens: likely, ..request.clone() })
            }
            _ => Cow::Borrowed(request),
        }
    }

    fn notify_listener(&self, line: &ModelEndpoint, error: &ModelError, development: Option<BreakerEvent>) {
        let (vendor, why) = (line.vendor.clone(), error.detail.clone());
        match development {
            Some(BreakerEvent::Trouble) => (self.listener)(CallNotice::Retrying { vendor, why }),
            Some(BreakerEvent::Opened) => (self.listener)(CallNotice::CircuitOpened { vendor, why }),
            None => {}
        }
    }

    async fn reserve_shared_budget(
        &self,
        line: &ModelEndpoint,
        most: Option<Usd>,
    ) -> Result<Option<Box<dyn BudgetReservation>>, ModelError> {
        match &self.shared_budget {
            Some(shared_budget) => shared_budget.reserve(&line.name, most).await.map(Some),
            None => Ok(None),
        }
    }

    /// Cost of a request with or without a reply; `None` if it is free. A request that may have been served and has no
    /// token counts is charged at its highest possible cost.
    fn spend(
        &self,
        price: Option<Price>,
        result: &Result<ModelReply, ModelError>,
        most: Option<Usd>,
    ) -> Option<Spend> {
        let (usage, cost) = match result {
            Ok(reply) => (reply.usage, price.map(|price| price.of_reply(reply))),
            Err(error) if !error.usage.is_nothing() => {
                (error.usage, price.map(|price| price.of(error.usage)))
            }
            Err(error) if error.maybe_billed => (error.usage, most),
            Err(_) => return None,
        };
        self.meter.tokens_in.fetch_add(usage.input, Ordering::Relaxed);
        self.meter.tokens_out.fetch_add(usage.output, Ordering::Relaxed);
        Some(Spend {
            tokens_in: usage.input,
            tokens_cached: usage.cached,
            tokens_out: usage.output,
            cost: if usage.is_nothing() { most } else { cost },
            from_cache: false,
        })
    }

    fn rate_limiter(&self, vendor: &str) -> Arc<RateLimiter> {
        let mut gates = self.gates.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates
            .entry(vendor.to_owned())
            .or_insert_with(|| Arc::new(RateLimiter::new(self.limits, self.backoff)));
        Arc::clone(gate)
    }

    /// Exponential backoff with a jitter of up to 25 % from the request's hash, so that retries do not arrive together.
    fn wait(&self, key: &str, n_before: usize) -> Duration {
        let chance = blake3::hash(format!("{key}{n_before}").as_bytes()).as_bytes()[0];
        let factor = f64::from(1_u32 << n_before.min(6)) * (0.75 + f64::from(chance) / 510.0);
        self.backoff.mul_f64(factor).min(Duration::from_secs(20))
    }
}

/// Result of one request.
struct RequestOutcome {
    result: Result<ModelReply, ModelError>,
    spend: Option<Spend>,
    development: Option<BreakerEvent>,
}

fn add_optional_spend(a: Option<Spend>, b: Option<Spend>) -> Option<Spend> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (a, b) => a.or(b),
    }
}

async fn settle_reservation(held: Option<Box<dyn BudgetReservation>>, cost: Option<Usd>) {
    if let Some(held) = held {
        held.settle(cost).await;
    }
}

/// Cache key: a hash of the request and the model's address.
fn cache_key(line: &ModelEndpoint, request: &Request) -> String {
    blake3::hash(format!("{} {}", request.key(), line.address).as_bytes()).to_hex().to_string()
}

/// A result from the cache or a recording, at no cost.
fn cached_call_result(reply: ModelReply, key: String) -> CallResult {
    let spend = Spend { cost: Some(Usd::default()), from_cache: true, ..Spend::default() };
    CallResult { reply, spend, attempts: Vec::new(), key }
}

impl CallFailure {
    /// The reason for a deferral if the model was not called; `None` if the call failed.
    pub fn deferral(&self) -> Option<jurist_core::grade::Deferral> {
        match self.error.kind {
            ModelErrorKind::NoKey => Some(jurist_core::grade::Deferral::NoKey),
            ModelErrorKind::OverBudget => Some(jurist_core::grade::Deferral::OverBudget),
            ModelErrorKind::Pending => Some(jurist_core::grade::Deferral::NotGraded),
            _ => None,
        }
    }
}
