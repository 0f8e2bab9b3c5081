//! Ends checks that take too long. A check reads no clock, so another thread does and stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jurist_core::check::CheckFinding;

/// How often the clock is read. A check may exceed its limit by this much, plus the time until it reads its flag.
const PERIOD: Duration = Duration::from_millis(100);

/// The checks of one thread, one after the other.
#[derive(Debug, Default)]
pub(super) struct CheckWatch {
    stop: AtomicBool,
    /// When the running check began.
    begun: Mutex<Option<Instant>>,
}

impl CheckWatch {
    /// Runs a check that ends early if the flag is set.
    pub(super) fn run(&self, check: impl FnOnce(&AtomicBool) -> CheckFinding) -> CheckFinding {
        self.stop.store(false, Ordering::Relaxed);
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let mut finding = check(&self.stop);
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A check that was complete when its time ended is as good as any other.
        if finding.failed && self.stop.load(Ordering::Relaxed) {
            let n_seconds = begun.map_or(0, |begun| begun.elapsed().as_secs());
            finding.comment = format!("the check was stopped after {n_seconds} s");
        }
        finding
    }

    fn stop_if_late(&self, limit: Duration) {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.is_some_and(|begun| limit <= begun.elapsed()) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Does `work`, and meanwhile stops the checks in it that take longer than `limit`.
pub(super) fn watch_checks<R>(watches: &[CheckWatch], limit: Duration, work: impl FnOnce() -> R) -> R {
    std::thread::scope(|scope| {
        let (working, end) = channel::<()>();
        scope.spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(PERIOD.min(limit)) {
                watches.iter().for_each(|watch| watch.stop_if_late(limit));
            }
        });
        let result = work();
        // The other thread ends, as it does if `work` panics.
        drop(working);
        result
    })
}

#[cfg(test)]
mod tests {
    use jurist_core::check::{Check, CheckSubject};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_check_over_its_time_is_stopped_and_the_next_one_runs() {
        let watch = CheckWatch::default();
        let check = Check::new("exact_match", &json!({})).unwrap();
        let output = json!("a");
        let subject = CheckSubject::from_outputs(&output, Some(&output));
        let run = |stop: &AtomicBool| check.run(&CheckSubject { stop: Some(stop), ..subject.clone() });
        let endless = |stop: &AtomicBool| {
            loop {
                let finding = run(stop);
                if finding.failed {
                    return finding;
                }
            }
        };
        let watch_one = |limit, check: &dyn Fn(&AtomicBool) -> CheckFinding| {
            watch_checks(std::slice::from_ref(&watch), limit, || watch.run(check))
        };
        let stopped = watch_one(Duration::from_millis(20), &endless);
        let complete = watch_one(Duration::from_secs(60), &run);
        assert!(stopped.failed && stopped.score.is_none(), "{stopped:?}");
        assert!(stopped.comment.starts_with("the check was stopped after "), "{}", stopped.comment);
        assert_eq!(complete.score, Some(1.0), "{complete:?}");
    }
}
