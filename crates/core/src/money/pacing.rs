//! Lowers the share of traces that is judged, so that the money lasts the month.

use crate::quantity::Usd;

/// Spent money in relation to the elapsed time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpendPace {
    /// How much of the month is over, on 0..=1; see [`super::Month::elapsed_share`].
    pub elapsed: f64,
    /// Paid and set aside this month.
    pub spent: Usd,
    pub cap: Usd,
    /// The least that shares are multiplied with as long as there is money for it.
    pub floor: f64,
    /// The part of the cap that nothing but failed traces may use.
    pub kept_for_failures: f64,
}

/// How strongly shares follow the money.
///
/// Let judging everything cost λ times the money there is. Where the factor is the k-th power of the money's
/// share over the time's share, that ratio comes to rest at λ^(−1/(k−1)), and the factor near 1/λ, which is
/// what would last exactly; the larger k, the nearer. At 8 a λ of 3 settles at 0.29 within three days.
const POWER: i32 = 8;

/// What to multiply the sampling probability of a trace with that has not failed, on 0..=1.
///
/// 1 while the money goes no faster than the month, and 0 once only that for failures is left. Failed traces
/// are judged whatever this says.
pub fn pacing_factor(pace: &SpendPace) -> f64 {
    let share = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
    let money = pace.cap.nanos() as f64 * (1.0 - share(pace.kept_for_failures));
    let left = money - pace.spent.nanos() as f64;
    if left <= 0.0 {
        return 0.0;
    }
    let (money_left, time_left) = (left / money, 1.0 - share(pace.elapsed));
    if time_left <= money_left {
        return 1.0;
    }
    (money_left / time_left).powi(POWER).clamp(share(pace.floor), 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CAP: i64 = 50_000_000_000;

    fn at(elapsed: f64, spent: f64, floor: f64, kept_for_failures: f64) -> f64 {
        let spent = Usd::from_nanos((spent * CAP as f64) as i64);
        pacing_factor(&SpendPace { elapsed, spent, cap: Usd::from_nanos(CAP), floor, kept_for_failures })
    }

    /// A month in which judging everything would cost so many caps: when the money was gone, what was spent,
    /// and the factors of its hours.
    fn month(load: f64, kept_for_failures: f64) -> (Option<f64>, f64, Vec<f64>) {
        let (mut spent, mut gone, mut factors) = (0.0, None, Vec::new());
        let n = 30 * 24;
        for hour in 0..n {
            let elapsed = f64::from(hour) / f64::from(n);
            let factor = at(elapsed, spent, 0.01, kept_for_failures);
            if factor == 0.0 && gone.is_none() {
                gone = Some(elapsed);
            }
            spent += load * factor / f64::from(n);
            factors.push(factor);
        }
        (gone, spent, factors)
    }

    #[test]
    fn money_lasts_the_month_and_is_used() {
        for load in [0.3, 0.9, 1.5, 3.0, 10.0, 40.0] {
            let (gone, spent, factors) = month(load, 0.1);
            let could = load.min(0.9);
            let settled = &factors[5 * 24..29 * 24];
            let (least, most) =
                settled.iter().fold((1.0_f64, 0.0_f64), |it, at| (it.0.min(*at), it.1.max(*at)));
            println!("{load}: gone {gone:?}, spent {spent:.3} of {could}, factor {least:.3}..{most:.3}");
            assert_eq!(gone, None, "{load}");
            assert!(0.85 * could <= spent && spent <= could + 1e-9, "{load}: {spent}");
            // Even, and near what would last exactly.
            assert!(most <= 2.5 * least, "{load}: {least}..{most}");
            let exact = (0.9 / load).min(1.0);
            assert!(0.5 * exact < least && most < 1.6 * exact, "{load}: {least}..{most} for {exact}");
        }
    }

    #[test]
    fn the_ends_are_what_they_should_be() {
        let check = |actual: f64, expected: f64, why: &str| {
            assert!((actual - expected).abs() < 1e-12, "{why}: {actual}");
        };
        check(at(0.0, 0.0, 0.1, 0.2), 1.0, "nothing is spent");
        check(at(0.5, 0.4, 0.1, 0.2), 1.0, "on schedule");
        check(at(0.0, 0.79, 0.1, 0.2), 0.1, "the floor");
        check(at(0.9, 0.8, 0.1, 0.2), 0.0, "what is left is for failures");
        check(at(1.0, 0.5, 0.1, 0.2), 1.0, "the month is over");
        check(at(f64::NAN, 0.5, 0.1, f64::NAN), 0.1, "the time is unknown");
        check(at(0.5, 0.0, 0.1, 1.0), 0.0, "all of it is for failures");
    }

    proptest! {
        #[test]
        fn more_spent_is_never_more_judged(
            elapsed in 0.0..=1.0, spent in 0.0..1.2, more in 0.0..0.5, floor in 0.0..0.5, kept_for_failures in 0.0..0.9,
        ) {
            let (now, then) = (at(elapsed, spent, floor, kept_for_failures), at(elapsed, spent + more, floor, kept_for_failures));
            prop_assert!(then <= now);
            prop_assert!((0.0..=1.0).contains(&now));
            prop_assert!(now == 0.0 || floor <= now);
        }

        #[test]
        fn more_time_gone_is_never_less_judged(
            elapsed in 0.0..=1.0_f64, later in 0.0..0.5_f64, spent in 0.0..1.2, kept_for_failures in 0.0..0.9,
        ) {
            prop_assert!(at(elapsed, spent, 0.0, kept_for_failures) <= at((elapsed + later).min(1.0), spent, 0.0, kept_for_failures));
        }

        #[test]
        fn it_never_jumps(elapsed in 0.0..0.9, spent in 0.0..0.79) {
            // A thousandth of the cap, or of the month, is a small step.
            let (here, paid) = (at(elapsed, spent, 0.02, 0.2), at(elapsed, spent + 0.001, 0.02, 0.2));
            prop_assert!((here - paid).abs() < 0.13);
            prop_assert!((here - at(elapsed + 0.001, spent, 0.02, 0.2)).abs() < 0.13);
        }
    }
}
