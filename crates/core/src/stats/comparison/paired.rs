//! Two measurements of the same items: is there a difference?

use serde::Serialize;

use crate::stats::basics::bounded::Cluster;
use crate::stats::basics::numbers::{
    around, ensure_usable_pairs, ensure_usable_values, mean, ranks, ties, variance,
};
use crate::stats::basics::resample::{Chance, sign_test};
use crate::stats::basics::special::{even_odds, ln_gamma, normal_cdf, t_cdf, t_quantile};
use crate::stats::basics::undefined::Undefined;

/// With fewer pairs no test can claim anything: of five differences that all point one way, chance makes as
/// much in 2 of 2⁵ cases, which is more than 5 %.
pub const MIN_PAIRS: usize = 6;

/// A split of pairs into those that changed one way and the other (McNemar).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct McNemar {
    /// The smaller number of changes.
    pub statistic: f64,
    pub exact_p: f64,
    /// Less cautious than the exact one, and still honest.
    pub mid_p: f64,
    /// None without a change.
    pub chi2_corrected: Option<f64>,
    pub p_corrected: Option<f64>,
    pub chi2_uncorrected: Option<f64>,
    pub p_uncorrected: Option<f64>,
}

/// Pairs of which only the first passes, and those of which only the second does.
pub fn mcnemar(only_first: usize, only_second: usize) -> McNemar {
    let (b, c) = (only_first as f64, only_second as f64);
    let n = b + c;
    let fewer = only_first.min(only_second);
    let exact_p = even_odds(only_first as u64, only_second as u64);
    let chance_of_this = {
        let choose = ln_gamma(n + 1.0) - ln_gamma(fewer as f64 + 1.0) - ln_gamma(n - fewer as f64 + 1.0);
        (choose - n * std::f64::consts::LN_2).exp()
    };
    let mid_p = if only_first == only_second { 1.0 } else { (exact_p - chance_of_this).clamp(0.0, 1.0) };
    let chi2 = |less: f64| (0.0 < n).then(|| ((b - c).abs() - less).max(0.0).powi(2) / n);
    let p = |chi2: Option<f64>| chi2.map(|chi2| 2.0 * normal_cdf(-chi2.sqrt()));
    McNemar {
        statistic: fewer as f64,
        exact_p,
        mid_p,
        chi2_corrected: chi2(1.0),
        p_corrected: p(chi2(1.0)),
        chi2_uncorrected: chi2(0.0),
        p_uncorrected: p(chi2(0.0)),
    }
}

/// What becomes of pairs without a difference in Wilcoxon's test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zeros {
    /// They are left out (Wilcoxon).
    Dropped,
    /// They are ranked and then left out (Pratt).
    Ranked,
}

/// Wilcoxon's signed ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SignedRanks {
    /// The smaller sum of ranks.
    pub statistic: f64,
    pub p_normal: f64,
    pub p_normal_continuity: f64,
    /// Over all ways to turn the signs; none for more than 50 pairs.
    pub p_exact: Option<f64>,
    /// From −1 to 1: how much of the ranks speaks for the first.
    pub rank_biserial: f64,
    /// Pairs with a difference.
    pub n: usize,
}

/// A difference that is not zero, with the rank of its size.
struct RankedDifference {
    difference: f64,
    rank: f64,
}

pub fn signed_ranks(first: &[f64], second: &[f64], zeros: Zeros) -> Result<SignedRanks, Undefined> {
    let differences = differences(first, second, 1)?;
    let n_zeros = differences.iter().filter(|difference| **difference == 0.0).count();
    if n_zeros == differences.len() {
        return Undefined::because("no pair differs");
    }
    let ranked: Vec<f64> = match zeros {
        Zeros::Dropped => differences.iter().copied().filter(|difference| *difference != 0.0).collect(),
        Zeros::Ranked => differences,
    };
    let places = ranks(&ranked.iter().map(|ranked| ranked.abs()).collect::<Vec<_>>());
    let signed: Vec<RankedDifference> = ranked
        .iter()
        .zip(places)
        .filter(|(difference, _)| **difference != 0.0)
        .map(|(difference, rank)| RankedDifference { difference: *difference, rank })
        .collect();
    let sum = |sign: f64| {
        let one_side = signed.iter().filter(|signed| 0.0 < signed.difference * sign);
        one_side.map(|signed| signed.rank).sum::<f64>()
    };
    let (plus, minus) = (sum(1.0), sum(-1.0));
    let statistic = plus.min(minus);

    let n = ranked.len() as f64;
    let zeros = if zeros == Zeros::Ranked { n_zeros as f64 } else { 0.0 };
    let square = |n: f64| n * (n + 1.0) * (2.0 * n + 1.0);
    let tied: f64 = ties(&signed.iter().map(|signed| signed.rank).collect::<Vec<_>>())
        .iter()
        .map(|t| t * (t * t - 1.0))
        .sum();
    let expected = (n * (n + 1.0) - zeros * (zeros + 1.0)) / 4.0;
    let se = ((square(n) - square(zeros) - tied / 2.0) / 24.0).sqrt();
    let off = (statistic - expected).abs();
    Ok(SignedRanks {
        statistic,
        p_normal: 2.0 * normal_cdf(-off / se),
        p_normal_continuity: (2.0 * normal_cdf(-(off - 0.5).max(0.0) / se)).min(1.0),
        p_exact: (signed.len() <= 50).then(|| signed_ranks_exact_p(&signed, statistic)),
        rank_biserial: (plus - minus) / (plus + minus),
        n: signed.len(),
    })
}

/// Counts the ways to turn the signs that leave as little on one side; ranks may be halves.
fn signed_ranks_exact_p(signed: &[RankedDifference], statistic: f64) -> f64 {
    let doubled: Vec<usize> = signed.iter().map(|signed| (2.0 * signed.rank).round() as usize).collect();
    let total: usize = doubled.iter().sum();
    let mut ways = vec![0.0; total + 1];
    ways[0] = 1.0;
    for rank in doubled {
        for sum in (rank..=total).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let few: f64 = ways[..=(2.0 * statistic).round() as usize].iter().sum();
    (2.0 * few / ways.iter().sum::<f64>()).min(1.0)
}

/// Student's test of paired differences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedT {
    pub difference: f64,
    pub t: f64,
    pub p: f64,
    pub interval: (f64, f64),
}

pub fn paired_t(first: &[f64], second: &[f64]) -> Result<PairedT, Undefined> {
    let differences = differences(first, second, 2)?;
    let (n, difference) = (differences.len() as f64, mean(&differences));
    let se = (variance(&differences) / n).sqrt();
    if se <= 0.0 {
        return Undefined::because("all differences are equal, so their variance cannot be estimated");
    }
    let t = difference / se;
    Ok(PairedT {
        difference,
        t,
        p: 2.0 * t_cdf(-t.abs(), n - 1.0),
        interval: around(difference, t_quantile(0.975, n - 1.0) * se),
    })
}

/// Counts which of the two is greater; by how much does not matter.
pub fn sign_p(first: &[f64], second: &[f64]) -> Result<f64, Undefined> {
    let differences = differences(first, second, 1)?;
    let count = |sign: f64| differences.iter().filter(|difference| 0.0 < **difference * sign).count() as u64;
    Ok(even_odds(count(1.0), count(-1.0)))
}

/// How often chance alone makes a mean difference as large, by turning signs.
pub fn paired_permutation_p(first: &[f64], second: &[f64], seed: u64) -> Result<f64, Undefined> {
    let clusters: Vec<Cluster> = differences(first, second, 1)?.into_iter().map(Cluster::single).collect();
    Ok(sign_test(&clusters, seed))
}

/// The same for two groups of different items, by dealing the items out again.
pub fn permutation_p(first: &[f64], second: &[f64], n_draws: usize, seed: u64) -> Result<f64, Undefined> {
    ensure_usable_values("value of the first group", first, 2)?;
    ensure_usable_values("value of the second group", second, 2)?;
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let total: f64 = all.iter().sum();
    let (n, m) = (first.len() as f64, second.len() as f64);
    let off = |sum: f64| (sum / n - (total - sum) / m).abs();
    let observed = off(first.iter().sum()) - 1e-12;
    let mut chance = Chance::new(seed);
    let extreme = (0..n_draws)
        .filter(|_| {
            let order = chance.order(all.len());
            observed <= off(order[..first.len()].iter().map(|index| all[*index]).sum())
        })
        .count();
    Ok((extreme + 1) as f64 / (n_draws + 1) as f64)
}

fn differences(first: &[f64], second: &[f64], at_least: usize) -> Result<Vec<f64>, Undefined> {
    ensure_usable_pairs(("first value", first), ("second value", second), at_least)?;
    Ok(first.iter().zip(second).map(|(a, b)| a - b).collect())
}

/// What pairs say about a difference, with all that speaks for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairedComparison {
    pub n: usize,
    /// First minus second.
    pub difference: f64,
    pub interval: (f64, f64),
    pub p_permutation: f64,
    pub p_wilcoxon: Option<f64>,
    /// The difference in standard deviations of differences (Cohen's d of pairs).
    pub effect: f64,
    pub claim: DifferenceClaim,
}

/// The conclusion of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceClaim {
    /// Fewer than [`MIN_PAIRS`].
    TooFew,
    NotShown,
    Shown,
}

pub fn paired_comparison(first: &[f64], second: &[f64], seed: u64) -> Result<PairedComparison, Undefined> {
    let student = paired_t(first, second)?;
    let p_permutation = paired_permutation_p(first, second, seed)?;
    let differences = differences(first, second, 2)?;
    let claim = match differences.len() {
        n if n < MIN_PAIRS => DifferenceClaim::TooFew,
        _ if p_permutation < 0.05 => DifferenceClaim::Shown,
        _ => DifferenceClaim::NotShown,
    };
    let ranked = signed_ranks(first, second, Zeros::Dropped).ok();
    Ok(PairedComparison {
        n: differences.len(),
        difference: student.difference,
        interval: student.interval,
        p_permutation,
        p_wilcoxon: ranked.map(|signed_ranks| signed_ranks.p_exact.unwrap_or(signed_ranks.p_normal)),
        effect: student.difference / variance(&differences).sqrt(),
        claim,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-9, "{actual} {expected}");
    }

    #[test]
    fn mcnemar_has_the_values_of_statsmodels() {
        let result = mcnemar(12, 5);
        near(result.exact_p, 0.143_463_134_765_625);
        near(result.chi2_corrected.unwrap(), 2.117_647_058_823_529);
        near(result.p_uncorrected.unwrap(), 0.089_555_074_413_642);
        // Fagerland, Lydersen and Laake 2013: half of what is exactly as uneven does not count.
        near(mcnemar(1, 7).exact_p, 0.070_312_5);
        near(mcnemar(1, 7).mid_p, 0.039_062_5);
        near(mcnemar(3, 3).mid_p, 1.0);
        assert_eq!((mcnemar(0, 0).chi2_corrected, mcnemar(0, 0).p_corrected), (None, None));
        near(mcnemar(0, 0).exact_p, 1.0);
    }

    #[test]
    fn wilcoxon_has_the_values_of_scipy() {
        let (a, b) = ([3, 4, 5, 2, 5, 4, 3, 4, 5, 1, 4, 3], [3, 3, 4, 2, 3, 4, 2, 5, 3, 1, 2, 2]);
        let (a, b) = (a.map(f64::from), b.map(f64::from));
        let dropped = signed_ranks(&a, &b, Zeros::Dropped).unwrap();
        near(dropped.statistic, 3.0);
        near(dropped.p_normal, 0.030_382_821_976_577);
        near(dropped.p_normal_continuity, 0.036_358_553_172_791);
        let ranked = signed_ranks(&a, &b, Zeros::Ranked).unwrap();
        near(ranked.statistic, 7.0);
        near(ranked.p_normal, 0.028_525_021_155_610);
        near(paired_t(&a, &b).unwrap().t, 2.691_449_876_743_833);
        near(sign_p(&a, &b).unwrap(), 0.070_312_5);
        let (a, b) = ([10.1, 12.4, 9.8, 11.0, 13.2, 10.9, 12.0], [9.7, 11.1, 10.3, 10.2, 11.9, 11.2, 10.4]);
        near(signed_ranks(&a, &b, Zeros::Dropped).unwrap().p_exact.unwrap(), 0.109_375);
    }

    #[test]
    fn few_pairs_claim_nothing() {
        let claim = |n: u32| {
            let first: Vec<f64> = (0..n).map(|n| 1.0 + 0.01 * f64::from(n)).collect();
            paired_comparison(&first, &vec![0.0; first.len()], 1).unwrap().claim
        };
        assert_eq!(
            (claim(2), claim(5), claim(6)),
            (DifferenceClaim::TooFew, DifferenceClaim::TooFew, DifferenceClaim::Shown)
        );
        let check = |first: &[f64], second: &[f64], expected: &str| {
            let result = paired_comparison(first, second, 1).unwrap_err();
            assert!(result.to_string().contains(expected), "{result}");
        };
        check(&[1.0], &[0.0], "only 1 first value");
        check(&[1.0, 2.0], &[0.0], "cannot be paired");
        check(&[1.0, 1.0], &[0.0, 0.0], "differences are equal");
        check(&[1.0, f64::NAN], &[0.0, 0.0], "not a number");
        assert!(
            signed_ranks(&[1.0], &[1.0], Zeros::Dropped).unwrap_err().to_string().contains("no pair differs")
        );
    }

    #[test]
    fn groups_are_dealt_out_again() {
        let p = permutation_p(&[5.0, 6.0, 7.0, 8.0], &[1.0, 2.0, 3.0, 4.0], 9_999, 3).unwrap();
        // Two of the 70 ways to deal are as extreme.
        assert!((p - 2.0 / 70.0).abs() < 0.006, "{p}");
        assert!(0.5 < permutation_p(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 999, 3).unwrap());
    }
}
