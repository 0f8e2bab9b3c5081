//! Whoever guesses passwords waits, longer each time.

use std::collections::HashMap;
use std::sync::Mutex;

use jurist_core::grade::Time;

/// So many wrong passwords are a person who forgot.
const FREE: u32 = 5;
/// The longest wait, in seconds.
const LONGEST: i64 = 900;
/// More names than this are somebody who fills the memory; the oldest are forgotten.
const MOST: usize = 10_000;

/// Wrong passwords by name, in this process.
#[derive(Debug, Default)]
pub struct LockOut(Mutex<HashMap<String, Tried>>);

#[derive(Debug, Clone, Copy)]
struct Tried {
    n: u32,
    last: Time,
}

impl LockOut {
    /// Counts a try as wrong, under all of its names. Or seconds to wait before the next, and nothing is counted.
    pub fn begin(&self, names: &[String], now: Time) -> Option<u64> {
        let mut all = self.0.lock().expect("nothing panics while it is held");
        if let Some(seconds) = names.iter().filter_map(|it| all.get(it)?.wait(now)).max() {
            return Some(seconds);
        }
        for name in names {
            if MOST <= all.len() && !all.contains_key(name) {
                let oldest = all.iter().min_by_key(|it| it.1.last).map(|it| it.0.clone());
                oldest.and_then(|it| all.remove(&it));
            }
            let tried = all.entry(name.clone()).or_insert(Tried { n: 0, last: now });
            *tried = Tried { n: tried.n.saturating_add(1), last: now };
        }
        None
    }

    /// It was not wrong after all.
    pub fn right(&self, names: &[String]) {
        let mut all = self.0.lock().expect("nothing panics while it is held");
        for name in names {
            all.remove(name);
        }
    }
}

impl Tried {
    fn wait(&self, now: Time) -> Option<u64> {
        let until = self.last.micros() + pause(self.n) * 1_000_000;
        let left = (until - now.micros() + 999_999) / 1_000_000;
        u64::try_from(left).ok().filter(|it| 0 < *it)
    }
}

fn pause(n_wrong: u32) -> i64 {
    match n_wrong.checked_sub(FREE) {
        None => 0,
        Some(over) => 1_i64.checked_shl(over.min(20)).unwrap_or(LONGEST).min(LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_further_guess_waits_twice_as_long() {
        let (lock_out, mut now) = (LockOut::default(), Time::from_micros(0));
        let (ada, bob) = (["ada".to_owned(), "here".to_owned()], ["bob".to_owned(), "there".to_owned()]);
        let mut waits = Vec::new();
        for _ in 0..20 {
            let wait = lock_out.begin(&ada, now);
            waits.push(wait.unwrap_or(0));
            if let Some(seconds) = wait {
                now = Time::from_micros(now.micros() + i64::try_from(seconds).unwrap() * 1_000_000);
                assert_eq!(lock_out.begin(&ada, now), None, "whoever waited may try");
            }
        }
        assert_eq!(waits[..9], [0, 0, 0, 0, 0, 1, 2, 4, 8], "all at the same moment");
        assert_eq!(waits[19], 900);
        assert_eq!(lock_out.begin(&bob, now), None);
        let from_there = ["ada".to_owned(), "there".to_owned()];
        assert!(lock_out.begin(&from_there, now).is_some(), "by name, wherever they are");
        lock_out.right(&ada);
        assert_eq!(lock_out.begin(&ada, now), None);
    }
}
