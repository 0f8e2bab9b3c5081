//! A circuit breaker for one model of a vendor: during an outage one request at a time (the probe) tests whether the
//! model is back. Each model has its own breaker, so that a failing model does not stop the others.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::LONGEST_WAIT;
use crate::model::{ModelError, ModelErrorKind};

/// Failed requests in a row before all calls wait for a probe.
const FAILURES: u32 = 8;

/// Failed probes before calls are refused without being sent. Each wait is twice as long as the one before: with a
/// first wait of half a second, the last probe is sent after 15.5 seconds (0.5 + 1 + 2 + 4 + 8).
const PROBES: u32 = 5;

/// Time until one more probe after all of them have failed, in units of the first wait: 60 times 0.5 s is 30 s.
const PAUSE: u32 = 60;

#[derive(Debug)]
pub(super) struct CircuitBreaker {
    state: Mutex<BreakerState>,
    /// Notified when a probe ends or the circuit closes.
    changed: Notify,
    /// The first wait.
    backoff: Duration,
}

#[derive(Debug, Default)]
struct BreakerState {
    /// Failed requests since the last success.
    n_failed: u32,
    outage: Option<Outage>,
    /// The API key was rejected; waiting does not help.
    refused: Option<ModelError>,
    is_trouble_announced: bool,
    is_opening_announced: bool,
}

#[derive(Debug)]
struct Outage {
    error: ModelError,
    n_failed_probes: u32,
    next_probe: Instant,
    is_probing: bool,
}

/// Whether a request may be sent.
#[derive(Debug)]
pub(super) enum Admission {
    Send,
    /// This request is the probe. The caller has to record its result or abandon it.
    Probe,
    WaitUntil(Instant),
    WaitForProbe,
    Refuse(ModelError),
}

/// A change of state that is reported to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BreakerEvent {
    /// Requests fail, and calls wait.
    Trouble,
    /// Calls are refused without being sent.
    Opened,
}

impl Outage {
    fn is_settled(&self) -> bool {
        PROBES <= self.n_failed_probes
    }
}

impl CircuitBreaker {
    pub(super) fn new(backoff: Duration) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), backoff }
    }

    fn state(&self) -> MutexGuard<'_, BreakerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next change. Create it before asking for admission, so that no change is missed.
    pub(super) fn change(&self) -> tokio::sync::futures::Notified<'_> {
        self.changed.notified()
    }

    pub(super) fn admit(&self, now: Instant) -> Admission {
        let mut state = self.state();
        if let Some(error) = &state.refused {
            return Admission::Refuse(open_circuit_error(error));
        }
        match &mut state.outage {
            None => Admission::Send,
            Some(outage) if !outage.is_probing && outage.next_probe <= now => {
                outage.is_probing = true;
                Admission::Probe
            }
            Some(outage) if outage.is_settled() => Admission::Refuse(open_circuit_error(&outage.error)),
            Some(outage) if outage.is_probing => Admission::WaitForProbe,
            Some(outage) => Admission::WaitUntil(outage.next_probe),
        }
    }

    /// Whether requests fail, so that calls wait for a probe.
    pub(super) fn has_outage(&self) -> bool {
        self.state().outage.is_some()
    }

    /// Whether waiting is useless, because calls are refused.
    pub(super) fn is_settled(&self) -> bool {
        self.state().outage.as_ref().is_some_and(Outage::is_settled)
    }

    /// The model answered.
    pub(super) fn record_answer(&self) {
        let mut state = self.state();
        state.n_failed = 0;
        if state.outage.take().is_some() {
            self.changed.notify_waiters();
        }
    }

    /// The probe was cancelled without a result; another call may probe.
    pub(super) fn abandon_probe(&self) {
        if let Some(outage) = &mut self.state().outage {
            outage.is_probing = false;
        }
        self.changed.notify_waiters();
    }

    /// Records a failure, and returns an event if the state has changed.
    pub(super) fn record_failure(
        &self,
        error: &ModelError,
        is_probe: bool,
        now: Instant,
    ) -> Option<BreakerEvent> {
        if !error.is_passing() {
            // The vendor rejected this request, so it is reachable.
            self.record_answer();
            let mut state = self.state();
            let is_refused = error.kind == ModelErrorKind::Auth;
            return is_refused.then(|| state.refuse(error)).flatten();
        }
        let state = &mut *self.state();
        state.n_failed += 1;
        match &mut state.outage {
            Some(outage) if is_probe => {
                outage.n_failed_probes += 1;
                outage.postpone(error, self.backoff, now);
                self.changed.notify_waiters();
            }
            None if FAILURES <= state.n_failed => {
                let mut outage =
                    Outage { error: error.clone(), n_failed_probes: 0, next_probe: now, is_probing: false };
                outage.postpone(error, self.backoff, now);
                state.outage = Some(outage);
            }
            // Too few failures so far, or a request that was sent before the outage was known.
            _ => return None,
        }
        if state.outage.as_ref().is_some_and(Outage::is_settled) {
            return state.announce_opening();
        }
        state.announce_trouble()
    }

    /// Whether this call is the first to report that calls fail and are retried.
    pub(super) fn announces_trouble(&self) -> bool {
        self.state().announce_trouble().is_some()
    }
}

impl Outage {
    /// Decides when the next probe is sent.
    fn postpone(&mut self, error: &ModelError, backoff: Duration, now: Instant) {
        let requested = error.retry_after.unwrap_or_default();
        if LONGEST_WAIT < requested {
            self.n_failed_probes = PROBES;
        }
        let own = if self.is_settled() { backoff * PAUSE } else { backoff * (1 << self.n_failed_probes) };
        self.next_probe = now + own.max(requested.min(LONGEST_WAIT));
        self.is_probing = false;
        self.error = error.clone();
    }
}

impl BreakerState {
    fn refuse(&mut self, error: &ModelError) -> Option<BreakerEvent> {
        self.refused = Some(error.clone());
        self.announce_opening()
    }

    fn announce_trouble(&mut self) -> Option<BreakerEvent> {
        (!std::mem::replace(&mut self.is_trouble_announced, true)).then_some(BreakerEvent::Trouble)
    }

    fn announce_opening(&mut self) -> Option<BreakerEvent> {
        (!std::mem::replace(&mut self.is_opening_announced, true)).then_some(BreakerEvent::Opened)
    }
}

fn open_circuit_error(error: &ModelError) -> ModelError {
    let detail = format!("this model keeps failing; calls to it are paused: {}", error.detail);
    ModelError { kind: error.kind, retry_after: error.retry_after, ..ModelError::new(error.kind, detail) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hundred calls to a vendor that fails all of them, with the usual concurrency; time is simulated.
    #[test]
    fn a_vendor_that_only_refuses_is_settled_after_five_probes() {
        let breaker = CircuitBreaker::new(Duration::from_millis(500));
        let error = ModelError::new(ModelErrorKind::RateLimit, "429");
        let start = Instant::now();
        let (mut now, mut n_requests, mut developments) = (start, 0, Vec::new());
        // All concurrent calls are sent before the first one returns.
        for _ in 0..32 {
            assert!(matches!(breaker.admit(now), Admission::Send));
            n_requests += 1;
        }
        for _ in 0..32 {
            developments.extend(breaker.record_failure(&error, false, now));
        }
        loop {
            match breaker.admit(now) {
                Admission::WaitUntil(until) => now = until,
                Admission::Probe => {
                    assert!(matches!(breaker.admit(now), Admission::WaitForProbe), "one at a time");
                    n_requests += 1;
                    developments.extend(breaker.record_failure(&error, true, now));
                }
                Admission::Refuse(error) => {
                    assert!(error.detail.contains("429"), "{error}");
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((n_requests, now - start), (37, Duration::from_millis(15_500)));
        assert_eq!(developments, [BreakerEvent::Trouble, BreakerEvent::Opened]);
        // Half a minute later one more probe is sent, and its success admits all other calls.
        now += Duration::from_secs(30);
        assert!(matches!(breaker.admit(now), Admission::Probe));
        assert!(matches!(breaker.admit(now), Admission::Refuse(_)));
        breaker.record_answer();
        assert!(matches!(breaker.admit(now), Admission::Send));
    }

    #[test]
    fn a_wait_that_the_vendor_asks_for_is_kept_to_and_too_long_a_one_settles_it() {
        let limited = |seconds| ModelError {
            retry_after: Some(Duration::from_secs(seconds)),
            ..ModelError::new(ModelErrorKind::RateLimit, "429")
        };
        let now = Instant::now();
        let wait = |seconds: u64| {
            let breaker = CircuitBreaker::new(Duration::from_millis(500));
            for _ in 0..FAILURES {
                breaker.record_failure(&limited(seconds), false, now);
            }
            breaker.admit(now)
        };
        assert!(matches!(wait(20), Admission::WaitUntil(until) if until == now + Duration::from_secs(20)));
        assert!(matches!(wait(3600), Admission::Refuse(_)));
    }

    #[test]
    fn a_probe_that_is_given_up_leaves_the_place_to_another() {
        let breaker = CircuitBreaker::new(Duration::ZERO);
        let now = Instant::now();
        for _ in 0..FAILURES {
            breaker.record_failure(&ModelError::new(ModelErrorKind::Unavailable, "503"), false, now);
        }
        assert!(matches!(breaker.admit(now), Admission::Probe));
        breaker.abandon_probe();
        assert!(matches!(breaker.admit(now), Admission::Probe));
    }
}
