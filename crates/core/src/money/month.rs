//! Months of UTC.

use crate::quantity::{Time, date_from_days, days_since_epoch};

const DAY: i64 = 86_400_000_000;

/// From its first moment to that of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Month {
    pub start: Time,
    pub end: Time,
}

impl Month {
    /// The month that a moment is in.
    pub fn of(time: Time) -> Self {
        let (year, month, _) = date_from_days(time.micros().div_euclid(DAY));
        let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        let first = |year, month| Time::from_micros(days_since_epoch(year, month, 1) * DAY);
        Self { start: first(year, month), end: first(next_year, next_month) }
    }

    /// Elapsed share of the month, from 0 to 1.
    pub fn elapsed_share(&self, now: Time) -> f64 {
        let (gone, all) = (now.micros() - self.start.micros(), self.end.micros() - self.start.micros());
        (gone as f64 / all as f64).clamp(0.0, 1.0)
    }

    /// Days that are left of it, with the rest of this one.
    pub fn days_left(&self, now: Time) -> f64 {
        ((self.end.micros() - now.micros()) as f64 / DAY as f64).max(0.0)
    }
}

impl std::fmt::Display for Month {
    /// `2026-03`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, _) = date_from_days(self.start.micros().div_euclid(DAY));
        write!(f, "{year:04}-{month:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_at_the_first_whatever_clocks_do() {
        let check = |time: &str, name: &str, n_days: i64| {
            let month = Month::of(Time::parse(time).unwrap());
            assert_eq!(
                (month.to_string().as_str(), (month.end.micros() - month.start.micros()) / DAY),
                (name, n_days)
            );
            assert_eq!(Month::of(month.start), month);
            assert_eq!(Month::of(month.end).start, month.end);
            assert_eq!(Month::of(Time::from_micros(month.end.micros() - 1)), month);
        };
        check("2026-11-30T23:59:59.999999Z", "2026-11", 30);
        check("2026-12-31T23:00:00-01:00", "2027-01", 31);
        check("2026-12-15T12:00:00Z", "2026-12", 31);
        check("2028-02-29T12:00:00Z", "2028-02", 29);
        check("2100-02-28T12:00:00Z", "2100-02", 28);
        // Clocks change in much of the world in these months, and the months stay as long.
        check("2026-03-29T01:30:00Z", "2026-03", 31);
        check("2026-10-25T01:30:00+01:00", "2026-10", 31);
    }

    #[test]
    fn a_month_passes_evenly() {
        let month = Month::of(Time::parse("2028-02-10T00:00:00Z").unwrap());
        let at = |text: &str| Time::parse(text).unwrap();
        assert!((month.elapsed_share(at("2028-02-15T12:00:00Z")) - 0.5).abs() < 1e-12);
        assert!((month.days_left(at("2028-02-28T12:00:00Z")) - 1.5).abs() < 1e-12);
        assert!((month.elapsed_share(month.start), month.elapsed_share(month.end)) == (0.0, 1.0));
    }
}
