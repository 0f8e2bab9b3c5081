//! Delays sign-in attempts after wrong passwords, longer each time.
//!
//! Attempts are counted per pair of name and address. With a count per name, anyone could lock out the owner of a
//! known name; with a count per address, anyone in the same office or behind the same proxy.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use jurist_core::grade::Time;

/// Wrong passwords without a delay, for users who mistype.
const FREE: u32 = 5;
/// The longest wait, in seconds.
const LONGEST: i64 = 900;
/// Most pairs in memory; beyond it the oldest are dropped, so that an attacker cannot fill the memory.
const MOST: usize = 100_000;

/// Counts of wrong passwords by key, in this process.
#[derive(Debug, Default)]
pub struct LockOut(Mutex<HashMap<String, FailedSignIns>>);

#[derive(Debug, Clone, Copy)]
struct FailedSignIns {
    n: u32,
    last: Time,
}

impl LockOut {
    /// Counts an attempt as wrong and returns `None`; or returns the seconds to wait, and counts nothing.
    pub fn begin(&self, key: &str, now: Time) -> Option<u64> {
        let mut all = self.0.lock().expect("nothing panics while it is held");
        if let Some(seconds) = all.get(key).and_then(|tried| tried.wait(now)) {
            return Some(seconds);
        }
        if MOST <= all.len() && !all.contains_key(key) {
            let oldest = all.iter().min_by_key(|(_, tried)| tried.last).map(|(key, _)| key.clone());
            oldest.and_then(|key| all.remove(&key));
        }
        let tried = all.entry(key.to_owned()).or_insert(FailedSignIns { n: 0, last: now });
        *tried = FailedSignIns { n: tried.n.saturating_add(1), last: now };
        None
    }

    /// Clears the count after a correct password.
    pub fn clear_attempts(&self, key: &str) {
        self.0.lock().expect("nothing panics while it is held").remove(key);
    }
}

/// Key that sign-in attempts are counted by: e-mail and client. The e-mail is hashed, because anyone can send a long
/// one, and keys stay in memory.
pub fn sign_in_key(email: &str, address: IpAddr) -> String {
    format!("{} {}", client_network(address), blake3::hash(email.as_bytes()).to_hex())
}

/// The address that limits per client count by. Of an IPv6 address only the /64 network counts, because one client
/// usually controls all addresses of its network.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
    }
}

impl FailedSignIns {
    fn wait(&self, now: Time) -> Option<u64> {
        let until = self.last.micros() + lockout_seconds(self.n) * 1_000_000;
        let left = (until - now.micros() + 999_999) / 1_000_000;
        u64::try_from(left).ok().filter(|seconds| 0 < *seconds)
    }
}

fn lockout_seconds(n_wrong: u32) -> i64 {
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
        let here: IpAddr = "203.0.113.7".parse().unwrap();
        let ada = sign_in_key("ada@example.org", here);
        let mut waits = Vec::new();
        for _ in 0..20 {
            let wait = lock_out.begin(&ada, now);
            waits.push(wait.unwrap_or(0));
            if let Some(seconds) = wait {
                now = Time::from_micros(now.micros() + i64::try_from(seconds).unwrap() * 1_000_000);
                assert_eq!(lock_out.begin(&ada, now), None, "an attempt after the wait is allowed");
            }
        }
        assert_eq!(waits[..9], [0, 0, 0, 0, 0, 1, 2, 4, 8], "all at the same moment");
        assert_eq!(waits[19], 900);
        assert_eq!(lock_out.begin(&sign_in_key("bob@example.org", here), now), None, "others are not meant");
        assert!(lock_out.begin(&ada, now).is_some(), "the attempt of another does not end her wait");
        let there = sign_in_key("ada@example.org", "203.0.113.8".parse().unwrap());
        assert_eq!(lock_out.begin(&there, now), None, "she is not locked out elsewhere");
        lock_out.clear_attempts(&ada);
        assert_eq!(lock_out.begin(&ada, now), None);
    }

    #[test]
    fn the_oldest_count_goes_when_there_are_too_many() {
        let lock_out = LockOut::default();
        let at = |n: usize| Time::from_micros(i64::try_from(n).unwrap());
        for n in 0..MOST {
            assert_eq!(lock_out.begin(&n.to_string(), at(n)), None);
        }
        let has = |key: &str| lock_out.0.lock().unwrap().contains_key(key);
        // An attempt under a key that is counted makes no room.
        lock_out.begin("1", at(MOST));
        assert!(has("0"));
        lock_out.begin("new", at(MOST));
        assert_eq!(
            (has("0"), has("1"), has("new"), lock_out.0.lock().unwrap().len()),
            (false, true, true, MOST)
        );
    }

    #[test]
    fn an_ipv6_network_is_one_guesser() {
        let key = |address: &str| sign_in_key("ada", address.parse().unwrap());
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:203.0.113.7"), key("203.0.113.7"));
        let long = sign_in_key(&"a".repeat(60_000), "2001:db8:1:2::1".parse().unwrap());
        assert!(long.len() < 120, "many of these keys fill the memory: {}", long.len());
    }
}
