//! The only clock; callers of the store read it, so that a simulation can replace it.

use std::time::SystemTime;

use jurist_core::grade::Time;

pub fn current_time() -> Time {
    #[cfg(feature = "testing")]
    if let Some(now) = crate::testing::simulated_time() {
        return now;
    }
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Start of the UTC day, in microseconds.
pub(crate) fn utc_day_start(time: Time) -> i64 {
    time.micros().div_euclid(DAY_MICROS) * DAY_MICROS
}

const DAY_MICROS: i64 = 86_400_000_000;
