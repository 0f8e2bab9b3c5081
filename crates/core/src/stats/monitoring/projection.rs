//! A month with another sample rate of a monitor: how many traces are judged, and how wide the interval of the mean is.

use super::traffic::TrafficSums;
use super::traffic_forecast::{SumForecast, forecast_sum};
use crate::stats::basics::special::two_sided_z;

/// Days of a month.
const MONTH: f64 = 30.0;

/// The projection has an 80 % interval.
const ALPHA: f64 = 0.2;

/// A stratum as it was seen, and the probability with which its traces would be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialled {
    pub sums: TrafficSums,
    pub share: f64,
}

/// What a month brings if days stay like those before: the sum, and where it will lie if there are two days at least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonthAhead {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// `None` where there is no day to go by.
pub fn month_ahead(days: &[f64]) -> Option<MonthAhead> {
    if days.is_empty() {
        return None;
    }
    let interval = forecast_sum(days, MONTH, ALPHA).ok();
    let interval = interval.map(|SumForecast { interval: (low, high), .. }| (low.max(0.0), high.max(0.0)));
    let value = days.iter().sum::<f64>() / days.len() as f64 * MONTH;
    Some(MonthAhead { value, interval })
}

/// Half of what the 95 % interval of the mean would span over so many times the traffic, if scores spread as they did.
///
/// As with the mean itself, strata without a score are not part of it; `None` if none has one.
pub fn half_width(strata: &[Dialled], times: f64) -> Option<f64> {
    let scored = || strata.iter().filter(|dialled| 0 < dialled.sums.scores.n && 0.0 < dialled.share);
    let covered: f64 = scored().map(|dialled| dialled.sums.population).sum();
    if covered <= 0.0 || !times.is_finite() {
        return None;
    }
    let mean: f64 =
        scored().map(|dialled| dialled.sums.population / covered * dialled.sums.scores.mean()).sum();
    let variance = |dialled: &Dialled| {
        let sums = &dialled.sums;
        let answered = sums.scores.n as f64 / (sums.scores.n + sums.n_errors) as f64;
        let population = times * sums.population;
        let n = times * sums.n_seen as f64 * dialled.share * answered;
        // What is drawn for sure adds no uncertainty.
        let left = (1.0 - n / population).max(0.0);
        let between = sums.population_variance * ((sums.scores.mean() - mean) / covered).powi(2) / times;
        (sums.population / covered).powi(2) * sums.scores.spread() * left / n + between
    };
    Some(two_sided_z(0.05) * scored().map(variance).sum::<f64>().sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::traffic::estimate_traffic_mean;
    use super::*;
    use crate::stats::basics::resample::Chance;

    fn stratum(n_seen: usize, share: f64, rate: f64, chance: &mut Chance) -> Dialled {
        let mut sums = TrafficSums { n_seen, population: n_seen as f64, ..TrafficSums::default() };
        for _ in 0..n_seen {
            let score = f64::from(u8::from(chance.unit() < rate));
            if chance.unit() < share {
                sums.scores.add(score, share);
            }
        }
        Dialled { sums, share }
    }

    #[test]
    fn a_month_at_another_dial_is_as_sure_as_was_said() {
        let mut chance = Chance::new(17);
        let mut month = |n: usize, dial: f64| {
            [stratum(n / 10, 1.0, 0.3, &mut chance), stratum(n, dial, 0.8, &mut chance)]
        };
        for dial in [0.05, 0.2, 0.6] {
            // Ten days at a tenth, and then a month at another sample rate.
            let mut observed = month(2_000, 0.1);
            observed[1].share = dial;
            let projected = half_width(&observed, 3.0).unwrap();
            let estimate = estimate_traffic_mean(&month(6_000, dial).map(|dialled| dialled.sums)).unwrap();
            let half = (estimate.interval.1 - estimate.interval.0) / 2.0;
            assert!(
                (projected / half - 1.0).abs() < 0.25,
                "sample rate {dial}: projected {projected}, measured {half}"
            );
        }
        let all = month(500, 1.0);
        assert!(half_width(&all, 3.0).unwrap() < 1e-9, "everything is looked at");
    }

    #[test]
    fn what_has_no_score_is_not_part_of_it() {
        let unscored = Dialled {
            sums: TrafficSums { n_seen: 9, population: 9.0, ..TrafficSums::default() },
            share: 0.5,
        };
        assert_eq!(half_width(std::slice::from_ref(&unscored), 3.0), None);
        let scored = stratum(1_000, 0.5, 0.5, &mut Chance::new(3));
        let alone = half_width(std::slice::from_ref(&scored), 3.0);
        assert_eq!(half_width(&[scored, unscored], 3.0), alone);
    }

    #[test]
    fn a_month_is_thirty_days_like_those_before() {
        assert_eq!(month_ahead(&[]), None);
        assert_eq!(month_ahead(&[4.0]), Some(MonthAhead { value: 120.0, interval: None }));
        let result = month_ahead(&[4.0, 6.0, 5.0]).unwrap();
        let (low, high) = result.interval.unwrap();
        assert!((result.value - 150.0).abs() < 1e-9 && low < 150.0 && 150.0 < high, "{result:?}");
    }
}
