//! Limits of ingest. Requests beyond the limits get 429 or 503 with `Retry-After`; nothing is dropped silently.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use futures_util::StreamExt;
use jurist_core::grade::Time;

use crate::error::ApiError;

/// Most senders in memory; beyond it those that were inactive for longest are dropped, so that memory stays bounded.
const MOST_SENDERS: usize = 10_000;

/// A body or a line that takes more once it is decoded is refused.
pub const MAX_DECODED_BYTES: usize = 2_000_000_000;

/// What a body grows by when it is decoded before it counts more than its bytes. Exports of OpenTelemetry grow by 5 in
/// protobuf and by 40 in JSON.
pub const USUAL_GROWTH: usize = 24;

/// Limits of ingest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IngestLimits {
    /// Most bytes of decompressed bodies in memory.
    pub bytes: usize,
    pub requests: usize,
    /// Rate limit per token, account or, on an open server, address.
    pub rate: Option<Rate>,
}

/// Requests per second, and the size of a burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    pub burst: f64,
}

impl Default for IngestLimits {
    fn default() -> Self {
        Self { bytes: 128 * 1024 * 1024, requests: 512, rate: None }
    }
}

/// Current usage of the limits.
#[derive(Debug, Default)]
pub struct IngestAdmission {
    bytes: AtomicUsize,
    requests: AtomicUsize,
    senders: Mutex<HashMap<String, TokenBucket>>,
}

/// Token bucket of a sender.
#[derive(Debug, Clone, Copy)]
struct TokenBucket {
    left: f64,
    since: Time,
}

/// An admitted request; dropping it releases its share of the limits.
#[derive(Debug)]
pub struct AdmittedRequest {
    admission: Arc<IngestAdmission>,
    max_bytes: usize,
    bytes: usize,
}

impl IngestAdmission {
    /// Seconds that a sender over its rate has to wait.
    fn wait(&self, sender: &str, rate: Rate, now: Time) -> Option<u64> {
        let mut senders = self.senders.lock().expect("nothing panics while it is held");
        if MOST_SENDERS <= senders.len() && !senders.contains_key(sender) {
            let oldest =
                senders.iter().min_by_key(|sender| sender.1.since).map(|min_by_key| min_by_key.0.clone());
            oldest.and_then(|oldest| senders.remove(&oldest));
        }
        let full = TokenBucket { left: rate.burst.max(1.0), since: now };
        let bucket = senders.entry(sender.to_owned()).or_insert(full);
        let seconds = (now.micros() - bucket.since.micros()).max(0) as f64 / 1e6;
        let left = (bucket.left + seconds * rate.per_second).min(full.left);
        *bucket = TokenBucket { left, since: now };
        if left < 1.0 {
            return Some(((1.0 - left) / rate.per_second).ceil().clamp(1.0, 3600.0) as u64);
        }
        bucket.left -= 1.0;
        None
    }
}

/// Adds to a counter if the sum is allowed. In one step: two requests of which one fits must not refuse each other.
fn add_within(counter: &AtomicUsize, n: usize, is_allowed: impl Fn(usize) -> bool) -> bool {
    let add = |now: usize| now.checked_add(n).filter(|all| is_allowed(*all));
    counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
}

/// The bytes that a text counts once it is decoded, in addition to those that it counts already.
pub fn count_decoding(decoded_bytes: usize, counted: usize) -> Result<usize, ApiError> {
    if MAX_DECODED_BYTES < decoded_bytes {
        let why = "the body has more values than fit into memory; send fewer at once";
        return Err(ApiError::TooLarge(why.to_owned()));
    }
    Ok((decoded_bytes / USUAL_GROWTH).saturating_sub(counted))
}

impl AdmittedRequest {
    /// Admits a request if the limits allow it.
    pub fn new(
        admission: &Arc<IngestAdmission>,
        limits: IngestLimits,
        sender: &str,
        now: Time,
    ) -> Result<Self, ApiError> {
        if let Some(rate) = limits.rate
            && let Some(seconds) = admission.wait(sender, rate, now)
        {
            let why = format!("more than {} requests a second", rate.per_second);
            return Err(ApiError::Busy { seconds, why });
        }
        if !add_within(&admission.requests, 1, |all| all <= limits.requests) {
            let why = "too many concurrent requests; nothing of this one was stored".to_owned();
            return Err(ApiError::Busy { seconds: 1, why });
        }
        Ok(Self { admission: Arc::clone(admission), max_bytes: limits.bytes, bytes: 0 })
    }

    /// Adds bytes to the usage; fails if the limit is exceeded.
    pub fn grow(&mut self, n: usize) -> Result<(), ApiError> {
        let (own, limit) = (self.bytes + n, self.max_bytes);
        // A single request always fits; otherwise a large one could never be sent.
        if !add_within(&self.admission.bytes, n, |all| all <= limit || all <= own) {
            // Earlier lines of a bulk upload may be stored.
            let why =
                "the memory for uploads is full; send the request again, data is stored once".to_owned();
            return Err(ApiError::Busy { seconds: 1, why });
        }
        self.bytes = own;
        Ok(())
    }

    /// Adds what the text that was read takes once it is decoded, as far as that is unusually much. Returns the bytes
    /// that it added.
    pub fn admit_decoding(&mut self, decoded_bytes: usize) -> Result<usize, ApiError> {
        let more = count_decoding(decoded_bytes, self.bytes)?;
        if 0 < more {
            self.grow(more)?;
        }
        Ok(more)
    }

    /// Releases bytes that are no longer in memory.
    pub fn shrink(&mut self, n: usize) {
        self.bytes -= n;
        self.admission.bytes.fetch_sub(n, Ordering::Relaxed);
    }

    /// Reads all of a body.
    pub async fn read(&mut self, body: Body) -> Result<Vec<u8>, ApiError> {
        let (mut stream, mut all) = (body.into_data_stream(), Vec::new());
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| ApiError::unread(&error))?;
            self.grow(chunk.len())?;
            all.extend_from_slice(&chunk);
        }
        Ok(all)
    }
}

impl Drop for AdmittedRequest {
    fn drop(&mut self) {
        self.admission.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.admission.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_count_by_what_they_take_once_they_are_decoded() {
        let admission = Arc::new(IngestAdmission::default());
        let limits = IngestLimits { bytes: 1_000, ..IngestLimits::default() };
        let admit = || AdmittedRequest::new(&admission, limits, "a", Time::from_micros(1)).unwrap();
        let (mut first, mut second) = (admit(), admit());
        first.grow(100).unwrap();
        first.admit_decoding(2_000).unwrap();
        second.grow(900).unwrap();
        let busy = first.admit_decoding(24 * 200).unwrap_err();
        assert!(matches!(busy, ApiError::Busy { .. }), "{busy:?}");
        drop(second);
        // A single request always fits, unless it would take all memory.
        first.admit_decoding(24 * 5_000).unwrap();
        assert!(matches!(first.admit_decoding(MAX_DECODED_BYTES + 1), Err(ApiError::TooLarge(_))));
        drop(first);
        assert_eq!(admission.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_sender_may_burst_and_then_waits() {
        let (admission, rate) = (IngestAdmission::default(), Rate { per_second: 2.0, burst: 3.0 });
        let at = |seconds: f64| Time::from_micros((seconds * 1e6) as i64);
        let waits: Vec<_> = (0..5).map(|_| admission.wait("a", rate, at(0.0))).collect();
        assert_eq!(waits, [None, None, None, Some(1), Some(1)]);
        assert_eq!(admission.wait("b", rate, at(0.0)), None, "others do not suffer for it");
        assert_eq!(admission.wait("a", rate, at(0.5)), None);
        assert_eq!(admission.wait("a", rate, at(0.5)), Some(1));
        assert_eq!(
            admission.wait("a", rate, at(-9.0)),
            Some(1),
            "a clock that is put back lets no request in"
        );
    }
}
