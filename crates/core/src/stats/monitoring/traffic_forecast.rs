//! Forecasts the sum of the next days, if they are like those before.

use crate::stats::basics::numbers::{ensure_usable_share, ensure_usable_values, mean, variance};
use crate::stats::basics::special::t_quantile;
use crate::stats::basics::undefined::Undefined;

/// A forecast sum with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumForecast {
    pub expected: f64,
    pub interval: (f64, f64),
}

/// The sum over `days` to come, which need not be whole: from past days that are as good as independent.
///
/// The interval is one of prediction: days differ, and their mean is known from few.
pub fn forecast_sum(past: &[f64], days: f64, alpha: f64) -> Result<SumForecast, Undefined> {
    ensure_usable_values("days", past, 2)?;
    ensure_usable_share("alpha", alpha)?;
    if !(0.0..=1e4).contains(&days) {
        return Undefined::because(format!("{days} is not a number of days"));
    }
    let n = past.len() as f64;
    let expected = mean(past) * days;
    let error = (variance(past) * (days + days * days / n)).sqrt();
    let half = t_quantile(1.0 - alpha / 2.0, n - 1.0) * error;
    Ok(SumForecast { expected, interval: (expected - half, expected + half) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::basics::resample::Chance;

    #[test]
    fn four_of_five_sums_lie_in_their_interval() {
        let mut chance = Chance::new(5);
        let mut inside = 0;
        for round in 0..2_000_usize {
            let (n, days) = (3 + round % 26, 1 + round % 20);
            // Between nothing and two, as lumpy as a day's work.
            let mut day = || chance.unit() + chance.unit();
            let past: Vec<f64> = (0..n).map(|_| day()).collect();
            let truth: f64 = (0..days).map(|_| day()).sum();
            let (low, high) = forecast_sum(&past, days as f64, 0.2).unwrap().interval;
            inside += usize::from((low..=high).contains(&truth));
        }
        println!("{inside} of 2000 inside");
        assert!((1540..=1660).contains(&inside), "{inside}");
    }

    #[test]
    fn one_day_says_nothing() {
        assert!(forecast_sum(&[1.0], 3.0, 0.2).is_err());
        assert!(forecast_sum(&[1.0, 2.0], f64::NAN, 0.2).is_err());
        let none = forecast_sum(&[1.0, 2.0], 0.0, 0.2).unwrap();
        assert_eq!((none.expected, none.interval), (0.0, (0.0, 0.0)));
    }
}
