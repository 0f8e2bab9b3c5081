//! Where a share may really lie when `passed` of `n` did.

use serde::{Deserialize, Serialize};

use super::numbers::{around, ensure_usable_share};
use super::special::{beta_quantile, two_sided_z};
use super::undefined::Undefined;

/// A share with where it may really lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Proportion {
    pub rate: f64,
    pub interval: (f64, f64),
    pub n: usize,
}

/// How the interval is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProportionMethod {
    Wilson,
    AgrestiCoull,
    /// Exact, and for that reason wider than need be.
    ClopperPearson,
    Jeffreys,
    /// Wrong at the edges: 0 of 10 would be certain to be 0.
    Wald,
}

/// The share that passes (Clopper and Pearson, 95 %): of ten cases that pass with 99 %, Wilson's interval holds
/// that in 90 of 100.
pub fn pass_rate(passed: usize, n: usize) -> Result<Proportion, Undefined> {
    proportion(passed, n, 0.05, ProportionMethod::ClopperPearson)
}

pub fn proportion(
    passed: usize,
    n: usize,
    alpha: f64,
    method: ProportionMethod,
) -> Result<Proportion, Undefined> {
    if n == 0 {
        return Undefined::because("there is no case");
    }
    if n < passed {
        return Undefined::because(format!("{passed} of {n} is more than all"));
    }
    ensure_usable_share("alpha", alpha)?;
    let (k, all) = (passed as f64, n as f64);
    let (rate, z) = (k / all, two_sided_z(alpha));
    let wald = |rate: f64, all: f64| around(rate, z * (rate * (1.0 - rate) / all).sqrt());
    let (low, high) = match method {
        ProportionMethod::Wilson => {
            let grown = 1.0 + z * z / all;
            let half = z * (rate * (1.0 - rate) / all + z * z / (4.0 * all * all)).sqrt() / grown;
            around((rate + z * z / (2.0 * all)) / grown, half)
        }
        ProportionMethod::AgrestiCoull => wald((k + z * z / 2.0) / (all + z * z), all + z * z),
        ProportionMethod::ClopperPearson => (
            if passed == 0 { 0.0 } else { beta_quantile(alpha / 2.0, k, all - k + 1.0) },
            if passed == n { 1.0 } else { beta_quantile(1.0 - alpha / 2.0, k + 1.0, all - k) },
        ),
        ProportionMethod::Jeffreys => {
            let at = |share| beta_quantile(share, k + 0.5, all - k + 0.5);
            (at(alpha / 2.0), at(1.0 - alpha / 2.0))
        }
        ProportionMethod::Wald => wald(rate, all),
    };
    Ok(Proportion { rate, interval: (low.max(0.0), high.min(1.0)), n })
}

#[cfg(test)]
mod tests {
    use super::super::resample::Chance;
    use super::*;

    #[test]
    fn intervals_have_their_published_values() {
        let check = |k, n, method, expected: (f64, f64)| {
            let (low, high) = proportion(k, n, 0.05, method).unwrap().interval;
            assert!(
                (low - expected.0).abs() < 1e-9 && (high - expected.1).abs() < 1e-9,
                "{method:?} {low} {high}"
            );
        };
        check(84, 200, ProportionMethod::Wilson, (0.353_735_991_616_167, 0.489_279_260_604_195));
        check(0, 10, ProportionMethod::Wilson, (0.0, 0.277_532_799_862_889));
        check(10, 10, ProportionMethod::ClopperPearson, (0.691_502_892_181_239, 1.0));
        check(0, 10, ProportionMethod::Jeffreys, (4.789_043_315_758e-5, 0.217_196_267_509_211));
        check(1, 50, ProportionMethod::AgrestiCoull, (0.0, 0.114_748_304_550_084));
        check(10, 10, ProportionMethod::Wald, (1.0, 1.0));
        assert_eq!(pass_rate(0, 0).unwrap_err().to_string(), "undefined, because there is no case");
        assert!(pass_rate(3, 2).is_err());
    }

    #[test]
    fn wilson_holds_what_it_promises_and_wald_does_not() {
        let mut chance = Chance::new(11);
        let (mut wilson, mut wald) = (0, 0);
        for _ in 0..2_000 {
            let passed = (0..50).filter(|_| chance.unit() < 0.95).count();
            let holds = |method| {
                let (low, high) = proportion(passed, 50, 0.05, method).unwrap().interval;
                usize::from(low <= 0.95 && 0.95 <= high)
            };
            wilson += holds(ProportionMethod::Wilson);
            wald += holds(ProportionMethod::Wald);
        }
        println!("Wilson {wilson}, Wald {wald} of 2000");
        assert!((1_860..=1_940).contains(&wilson), "{wilson}");
        assert!(wald < 1_860, "{wald}");
    }
}
