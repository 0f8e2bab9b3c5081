//! Projected month-end spend.

use super::traffic_forecast::forecast_sum;
use crate::money::Month;
use crate::quantity::{Time, Usd};
use crate::stats::basics::undefined::Undefined;

const DAY: i64 = 86_400_000_000;

/// Days that are looked back on: four weeks, so that each day of the week counts alike.
const BACK: i64 = 28;

/// The projection has an 80 % interval.
const ALPHA: f64 = 0.2;

/// What was paid on a day of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaySum {
    /// Its first moment.
    pub day: Time,
    pub paid: Usd,
}

/// The month's sum at its end, if days go on like the last ones and nothing stops them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    pub expected: Usd,
    pub low: Usd,
    pub high: Usd,
    /// When the cap is reached, if that is to be expected this month.
    pub reaches_cap: Option<Time>,
}

/// From what was paid so far this month and on each of the last days; those without payments may be absent.
pub fn forecast(spent: Usd, days: &[DaySum], cap: Option<Usd>, now: Time) -> Result<Forecast, Undefined> {
    let month = Month::of(now);
    let past = whole_days(days, now);
    if past.len() < 2 {
        return Err(Undefined("a forecast needs two full days with spending".to_owned()));
    }
    let (spent, left) = (spent.nanos() as f64, month.days_left(now));
    let coming = forecast_sum(&past, left, ALPHA)?;
    let (low, high) = coming.interval;
    let sum = |more: f64| Usd::from_nanos((spent + more.max(0.0)).round() as i64);
    let a_day = past.iter().sum::<f64>() / past.len() as f64;
    let reaches_cap = cap.and_then(|cap| {
        let days = ((cap.nanos() as f64 - spent) / a_day).max(0.0);
        (days < left).then(|| Time::from_micros(now.micros() + (days * DAY as f64) as i64))
    });
    Ok(Forecast { expected: sum(coming.expected), low: sum(low), high: sum(high), reaches_cap })
}

/// What each whole day cost, from the first one with spending on: before it there was nothing to pay for.
fn whole_days(days: &[DaySum], now: Time) -> Vec<f64> {
    let today = now.micros().div_euclid(DAY);
    let day_of = |day_sum: &DaySum| day_sum.day.micros().div_euclid(DAY);
    let is_recent =
        |day_sum: &&DaySum| (today - BACK..today).contains(&day_of(day_sum)) && 0 < day_sum.paid.nanos();
    let Some(first) = days.iter().filter(is_recent).map(day_of).min() else { return Vec::new() };
    let paid = |day: i64| {
        let of_day = days.iter().filter(|day_sum| day_of(day_sum) == day);
        of_day.map(|day_sum| day_sum.paid.nanos() as f64).sum::<f64>()
    };
    (first..today).map(paid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOLLAR: i64 = 1_000_000_000;

    fn at(text: &str) -> Time {
        Time::parse(text).unwrap()
    }

    /// So many dollars on each of these days.
    fn days(from: &str, dollars: &[i64]) -> Vec<DaySum> {
        let first = at(&format!("{from}T00:00:00Z")).micros();
        let day = |(nth, paid): (i64, &i64)| DaySum {
            day: Time::from_micros(first + nth * DAY),
            paid: Usd::from_nanos(paid * DOLLAR),
        };
        (0..).zip(dollars).map(day).collect()
    }

    fn dollars(amount: Usd) -> f64 {
        (amount.nanos() as f64 / 1e7).round() / 100.0
    }

    #[test]
    fn like_days_go_on_to_the_months_end() {
        let check = |from: &str, paid: &[i64], spent: i64, now: &str, expected: f64| {
            let result = forecast(Usd::from_nanos(spent * DOLLAR), &days(from, paid), None, at(now)).unwrap();
            assert!((dollars(result.expected) - expected).abs() < 0.011, "{now}: {result:?}");
            assert!(result.low <= result.expected && result.expected <= result.high);
            assert!(spent * DOLLAR <= result.low.nanos());
        };
        check("2026-11-01", &[2; 10], 20, "2026-11-11T00:00:00Z", 60.0);
        // A leap day is a day, and in other years it is none.
        check("2028-02-01", &[1; 14], 14, "2028-02-15T00:00:00Z", 29.0);
        check("2027-02-01", &[1; 14], 14, "2027-02-15T00:00:00Z", 28.0);
        // The first of a month looks back into the one before.
        check("2026-11-16", &[3; 15], 0, "2026-12-01T00:00:00Z", 93.0);
        // A month of clock changes is as long as its days.
        check("2026-03-01", &[1; 28], 28, "2026-03-29T00:00:00Z", 31.0);
        // At the last moment of the month, nothing is added.
        check("2026-11-01", &[2; 29], 60, "2026-11-30T23:59:59.999999Z", 60.0);
        // Days without spending count once it has begun.
        check("2026-11-01", &[0, 0, 4, 0], 4, "2026-11-05T00:00:00Z", 56.0);
    }

    #[test]
    fn the_cap_is_reached_when_it_will_be() {
        let past = days("2026-11-01", &[4; 10]);
        let of = |cap: i64| {
            let spent = Usd::from_nanos(40 * DOLLAR);
            forecast(spent, &past, Some(Usd::from_nanos(cap * DOLLAR)), at("2026-11-11T00:00:00Z")).unwrap()
        };
        assert_eq!(of(60).reaches_cap, Some(at("2026-11-16T00:00:00Z")));
        assert_eq!(of(40).reaches_cap, Some(at("2026-11-11T00:00:00Z")));
        assert_eq!(of(500).reaches_cap, None);
    }

    #[test]
    fn little_is_not_enough_to_look_ahead() {
        let now = at("2026-11-03T06:00:00Z");
        let none = forecast(Usd::default(), &[], None, now).unwrap_err();
        assert!(none.to_string().contains("two full days"), "{none}");
        // Today is no whole day.
        assert!(forecast(Usd::default(), &days("2026-11-02", &[5, 5]), None, now).is_err());
        assert!(forecast(Usd::default(), &days("2026-11-01", &[5, 5]), None, now).is_ok());
    }
}
