//! The way of a call: cache, budget, rate limit, retry, meter.
//!
//! Failures never enter the cache, and a call never costs more requests than its one budget of tries.

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

/// What use is made of replies that were got before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caching {
    #[default]
    Use,
    /// Ask anew, and keep the new replies.
    Refresh,
    Off,
}

/// How often a question may be sent, all in all.
#[derive(Debug, Clone, Copy)]
pub struct Tries(u32);

impl Default for Tries {
    fn default() -> Self {
        // One, and at most three more.
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
}

/// A reply, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub reply: ModelReply,
    pub spend: Spend,
    pub attempts: Vec<Attempt>,
    /// Under which it can be kept.
    pub key: String,
}

/// No reply, and what was tried.
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

/// What happened that a person may want to know once.
#[derive(Debug, Clone, PartialEq)]
pub enum CallNotice {
    /// A vendor failed so often that it is left alone for a while.
    CircuitOpened { vendor: String, why: String },
    /// A call failed twice and is made again: the vendor may be down, and the work goes on slowly.
    Retrying { vendor: String, why: String },
}

/// Everything that calls share.
pub struct ModelClient {
    cache: Option<Cache>,
    caching: Caching,
    pub budget: CallBudget,
    /// Asked besides the budget, where money is not this caller's alone.
    purse: Option<Arc<dyn SharedBudget>>,
    limits: VendorRateLimits,
    gates: RateLimiters,
    pub tape: Tape,
    /// Where requests wait instead of being sent.
    pub batches: Option<BatchQueue>,
    /// The first wait before trying again; each further one is twice as long.
    backoff: Duration,
    pub meter: Meter,
    listener: Box<dyn Fn(CallNotice) + Send + Sync>,
}

/// Where calls wait for their vendor; callers of one process may share them.
#[derive(Debug, Clone, Default)]
pub struct RateLimiters(Arc<Mutex<HashMap<String, Arc<RateLimiter>>>>);

/// What all calls together came to.
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

/// A wait longer than this is not waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl std::fmt::Debug for ModelClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("caching", &self.caching).finish_non_exhaustive()
    }
}

impl Default for ModelClient {
    fn default() -> Self {
        Self {
            cache: None,
            caching: Caching::Off,
            budget: CallBudget::new(None),
            purse: None,
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
    pub fn with_shared_budget(self, purse: Arc<dyn SharedBudget>) -> Self {
        Self { purse: Some(purse), ..self }
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

    /// Requests wait for a batch instead of being sent.
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

    /// A reply to a request, from wherever it is cheapest.
    pub async fn call(
        &self,
        line: &ModelEndpoint,
        request: &Request,
        tries: &mut Tries,
    ) -> Result<CallResult, CallFailure> {
        if let Some(replayed) = self.tape.replay(request) {
            self.meter.n_from_cache.fetch_add(1, Ordering::Relaxed);
            return Ok(cached_call_result(replayed?));
        }
        // Before the cache, which has it as well by now: it was paid in this run.
        if let Some(batched) = self.batches.as_ref().and_then(|batch| batch.reply(request)) {
            let (attempts, spend) = (Vec::new(), batched.spend);
            let reply = batched.result.map_err(|error| CallFailure { error, attempts: Vec::new(), spend })?;
            self.tape.record(request, &reply);
            let key = cache_key(line, request);
            return Ok(CallResult { reply, spend: spend.unwrap_or_default(), attempts, key });
        }
        let key = cache_key(line, request);
        if let (Some(cache), Caching::Use) = (&self.cache, self.caching)
            && let Some(reply) = cache.get(&key)
        {
            self.meter.n_from_cache.fetch_add(1, Ordering::Relaxed);
            self.tape.record(request, &reply);
            return Ok(cached_call_result(reply));
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

    /// The folder of the cache, if replies could not be kept there.
    pub fn lossy_cache(&self) -> Option<&std::path::Path> {
        self.cache.as_ref().filter(|cache| cache.is_lossy()).map(Cache::folder)
    }

    /// Keeps a reply for the next time. Only who has understood it knows that it is worth keeping.
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
            // A model that hung twice will hang again, and each time takes as long as a call may.
            let hangs = error.kind == ModelErrorKind::Timeout
                && attempts.iter().any(|attempt: &Attempt| attempt.failure == Failure::Timeout);
            let is_over = tries.0 == 0 || hangs || LONGEST_WAIT < wait || breaker.is_settled();
            if !error.is_passing() || is_over {
                return Err(CallFailure { error, attempts, spend });
            }
            // To be asked for patience is nothing out of the ordinary.
            let is_trouble = error.kind != ModelErrorKind::RateLimit && attempts.len() == 1;
            if is_trouble && breaker.announces_trouble() {
                self.notify_listener(line, &error, Some(BreakerEvent::Trouble));
            }
            attempts.push(Attempt { failure: error.failure(), detail: error.detail, time: None });
            // Where nothing succeeds, the breaker says who is next, and when.
            if !breaker.has_outage() {
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// Sends a request once, and pays for it.
    async fn send(
        &self,
        line: &ModelEndpoint,
        request: &Request,
        gate: &RateLimiter,
        tries: &mut Tries,
    ) -> Result<RequestOutcome, ModelError> {
        let affordable = self.affordable(line, request, gate).await;
        let request = affordable.as_ref();
        let usage = request.most_usage();
        let most = line.price.map(|price| price.of(usage));
        let reserved = self.budget.reserve(&line.name, most).await?;
        let permit = gate.enter(&line.name, usage.input / 4).await?;
        // The last thing before the call, so that what is held is under way.
        let held = self.reserve_shared_budget(line, most).await?;
        tries.0 = tries.0.saturating_sub(1);
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

    /// The request, with a shorter reply if the longest cannot be paid: as long as this model's replies usually are,
    /// with a margin. What is left of a small budget is used that way, and the cap holds.
    async fn affordable<'r>(
        &self,
        line: &ModelEndpoint,
        request: &'r Request,
        gate: &RateLimiter,
    ) -> Cow<'r, Request> {
        let (Some(purse), Some(price)) = (&self.purse, line.price) else { return Cow::Borrowed(request) };
        match gate.likely_output(&line.name) {
            Some(likely)
                if likely < request.max_tokens && !purse.may_fit(price.of(request.most_usage())).await =>
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
        match &self.purse {
            Some(purse) => purse.reserve(&line.name, most).await.map(Some),
            None => Ok(None),
        }
    }

    /// What a request took, whether there is a reply or not; `None` if nothing has to be paid. One that may have
    /// been served and does not tell its tokens is taken to have cost the most that it can.
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

    /// Doubling, within a quarter more or less by the request's own hash, so that not all come back at once.
    fn wait(&self, key: &str, n_before: usize) -> Duration {
        let chance = blake3::hash(format!("{key}{n_before}").as_bytes()).as_bytes()[0];
        let factor = f64::from(1_u32 << n_before.min(6)) * (0.75 + f64::from(chance) / 510.0);
        self.backoff.mul_f64(factor).min(Duration::from_secs(20))
    }
}

/// What became of one request.
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

/// Everything the model saw, and where it is.
fn cache_key(line: &ModelEndpoint, request: &Request) -> String {
    blake3::hash(format!("{} {}", request.key(), line.address).as_bytes()).to_hex().to_string()
}

/// A reply that cost nothing this time.
fn cached_call_result(reply: ModelReply) -> CallResult {
    let spend = Spend { cost: Some(Usd::default()), from_cache: true, ..Spend::default() };
    CallResult { reply, spend, attempts: Vec::new(), key: String::new() }
}

impl CallFailure {
    /// Whether nobody was asked, as opposed to asked in vain.
    pub fn deferral(&self) -> Option<jurist_core::grade::Deferral> {
        match self.error.kind {
            ModelErrorKind::NoKey => Some(jurist_core::grade::Deferral::NoKey),
            ModelErrorKind::OverBudget => Some(jurist_core::grade::Deferral::OverBudget),
            ModelErrorKind::Pending => Some(jurist_core::grade::Deferral::NotGraded),
            _ => None,
        }
    }
}
