//! How often intervals that are called 95 % hold the truth, over sizes, rates and imbalance.
//!
//! `cargo test --release -p jurist-core --lib stats::coverage -- --ignored --nocapture` prints the table of
//! docs/statistics.md; `make test` tries a part of it.

#![cfg(test)]

use super::agreement::alpha::alpha_with_interval;
use super::agreement::icc::{Design, IccUnit, icc};
use super::agreement::kappa::{KappaWeights, cohen_with_interval, fleiss_with_interval};
use super::agreement::measure_agreement::gwet_ac;
use super::agreement::ratings::{Level, Ratings};
use super::basics::bounded::{Cluster, difference_interval, mean_interval};
use super::basics::correlation::{kendall, pearson, spearman};
use super::basics::proportion::pass_rate;
use super::basics::resample::Chance;
use super::monitoring::sequence::{Sequence, SequenceBound};
use super::monitoring::traffic::{
    LabelledTrace, TrafficSums, WeightedScoreSums, correct_traffic_mean, estimate_traffic_mean,
};
use super::ranking::rank::{BradleyTerryModel, Pair, Preferred, fit_bradley_terry};
use super::sampling::estimators::{EstimatedQuantity, LabelledScores, compare_estimators};
use super::sampling::sample::{SampledStratum, estimate_stratified_mean, hajek};

/// An interval and the truth that it should hold; no interval where none is given.
type Tried = (Option<(f64, f64)>, f64);

/// Size, rate (or agreement), and the chance to draw with.
type Try = fn(usize, f64, &mut Chance) -> Tried;

struct Family {
    name: &'static str,
    sizes: &'static [usize],
    rates: &'static [f64],
    run: Try,
}

const RATES: &[f64] = &[0.5, 0.8, 0.9, 0.95, 0.99];
const SIZES: &[usize] = &[5, 10, 20, 50, 200];
const FEW_AND_MANY: &[usize] = &[2, 3, 5, 10, 20, 50, 200];
const AGREED: &[f64] = &[0.0, 0.4, 0.7, 0.9];
const ITEMS: &[usize] = &[10, 20, 50];

const FAMILIES: &[Family] = &[
    Family { name: "pass rate", sizes: FEW_AND_MANY, rates: RATES, run: try_pass_rate },
    Family { name: "mean of pass and fail", sizes: FEW_AND_MANY, rates: RATES, run: try_binary_mean },
    Family { name: "mean of five levels", sizes: FEW_AND_MANY, rates: RATES, run: try_level_mean },
    Family { name: "mean, three trials a case", sizes: FEW_AND_MANY, rates: RATES, run: try_clustered_mean },
    Family {
        name: "paired difference, pass or fail",
        sizes: FEW_AND_MANY,
        rates: &[0.01, 0.05, 0.2, 0.4],
        run: try_paired_pass,
    },
    Family {
        name: "paired difference, five levels",
        sizes: FEW_AND_MANY,
        rates: &[0.1, 0.5, 0.9],
        run: try_paired_levels,
    },
    Family {
        name: "paired difference, few large losses",
        sizes: FEW_AND_MANY,
        rates: &[0.02, 0.05, 0.2],
        run: try_paired_losses,
    },
    Family {
        name: "kappa, even answers",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_kappa(&[0.5, 0.5], n, agreed, chance),
    },
    Family {
        name: "kappa, 80 to 20",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_kappa(&[0.8, 0.2], n, agreed, chance),
    },
    Family {
        name: "kappa, 90 to 10",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_kappa(&[0.9, 0.1], n, agreed, chance),
    },
    Family {
        name: "quadratic kappa, five levels",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_quadratic(&[0.1, 0.2, 0.4, 0.2, 0.1], n, agreed, chance),
    },
    Family {
        name: "quadratic kappa, skewed",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_quadratic(&[0.03, 0.05, 0.12, 0.3, 0.5], n, agreed, chance),
    },
    Family {
        name: "alpha, three raters",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_raters(&[0.5, 0.5], RaterStatistic::Alpha, n, agreed, chance),
    },
    Family {
        name: "alpha, 85 to 15",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_raters(&[0.85, 0.15], RaterStatistic::Alpha, n, agreed, chance),
    },
    Family {
        name: "Fleiss' kappa, 85 to 15",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_raters(&[0.85, 0.15], RaterStatistic::Fleiss, n, agreed, chance),
    },
    Family {
        name: "Gwet's AC1, 85 to 15",
        sizes: ITEMS,
        rates: AGREED,
        run: |n, agreed, chance| try_raters(&[0.85, 0.15], RaterStatistic::Gwet, n, agreed, chance),
    },
    Family { name: "ICC(2,1), three raters", sizes: &[5, 10, 20, 50], rates: &[0.2, 0.5, 0.8], run: try_icc },
    Family {
        name: "Pearson's correlation",
        sizes: &[5, 10, 20, 50],
        rates: &[0.0, 0.5, 0.9],
        run: |n, rho, chance| try_correlation(0, n, rho, chance),
    },
    Family {
        name: "Spearman's correlation",
        sizes: &[5, 10, 20, 50],
        rates: &[0.0, 0.5, 0.9],
        run: |n, rho, chance| try_correlation(1, n, rho, chance),
    },
    Family {
        name: "Kendall's correlation",
        sizes: &[5, 10, 20, 50],
        rates: &[0.0, 0.5, 0.9],
        run: |n, rho, chance| try_correlation(2, n, rho, chance),
    },
    Family {
        name: "PPI++, mean of pass and fail",
        sizes: &[5, 10, 20, 30, 50, 200],
        rates: &[0.5, 0.8, 0.9, 0.95],
        run: |n, rate, chance| try_estimate(EstimatedQuantity::Mean, false, n, rate, chance),
    },
    Family {
        name: "Rogan–Gladen",
        sizes: &[20, 50, 200],
        rates: &[0.5, 0.8, 0.9],
        run: |n, rate, chance| {
            try_estimate(EstimatedQuantity::PassRate { pass_mark: 0.5 }, true, n, rate, chance)
        },
    },
    Family { name: "post-stratified, failures equal", sizes: SIZES, rates: RATES, run: try_strata },
    Family { name: "Hájek, two rates", sizes: &[10, 20, 50, 200], rates: RATES, run: try_hajek },
    Family { name: "traffic of a monitor", sizes: SIZES, rates: RATES, run: try_traffic },
    Family {
        name: "monitor corrected by labels",
        sizes: &[10, 20, 50, 200],
        rates: &[0.5, 0.8, 0.9],
        run: try_corrected_traffic,
    },
    Family {
        name: "strength of one of three",
        sizes: &[30, 60, 200],
        rates: &[0.0, 0.5, 1.0],
        run: try_strength,
    },
    Family {
        name: "confidence sequence, at its end",
        sizes: &[10, 50, 200],
        rates: &[0.5, 0.9],
        run: try_sequence,
    },
];

fn binary(rate: f64, chance: &mut Chance) -> f64 {
    f64::from(u8::from(chance.unit() < rate))
}

/// Of five levels on 0..=1, the higher the rate the more skewed.
fn level(rate: f64, chance: &mut Chance) -> f64 {
    let unit = chance.unit();
    let rest = [0.4, 0.3, 0.2, 0.1].map(|value| value * (1.0 - rate));
    let mut under = rate;
    for (at, share) in rest.iter().enumerate() {
        if unit < under {
            return 1.0 - at as f64 / 4.0;
        }
        under += share;
    }
    0.0
}

fn level_mean(rate: f64) -> f64 {
    rate + (1.0 - rate) * (0.4 * 0.75 + 0.3 * 0.5 + 0.2 * 0.25)
}

fn singles(values: impl Iterator<Item = f64>) -> Vec<Cluster> {
    values.map(Cluster::single).collect()
}

fn try_pass_rate(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let passed = (0..n).filter(|_| chance.unit() < rate).count();
    (pass_rate(passed, n).ok().map(|proportion| proportion.interval), rate)
}

fn try_binary_mean(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    (mean_interval(&singles((0..n).map(|_| binary(rate, chance)))), rate)
}

fn try_level_mean(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    (mean_interval(&singles((0..n).map(|_| level(rate, chance)))), level_mean(rate))
}

/// Half of the cases pass or fail as a whole.
fn try_clustered_mean(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let case = |chance: &mut Chance| {
        if chance.unit() < 0.5 {
            return Cluster { sum: 3.0 * binary(rate, chance), n: 3.0 };
        }
        Cluster { sum: (0..3).map(|_| binary(rate, chance)).sum(), n: 3.0 }
    };
    (mean_interval(&(0..n).map(|_| case(chance)).collect::<Vec<_>>()), rate)
}

/// So many pairs get better, and a quarter as many worse.
fn try_paired_pass(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let pair = |chance: &mut Chance| match chance.unit() {
        it if it < rate => 1.0,
        it if it < 1.25 * rate => -1.0,
        _ => 0.0,
    };
    (difference_interval(&singles((0..n).map(|_| pair(chance))), 1.0), 0.75 * rate)
}

fn try_paired_levels(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let pair = |chance: &mut Chance| {
        if chance.unit() < rate { 0.25 * (chance.below(5) as f64 - 1.0) } else { 0.0 }
    };
    (difference_interval(&singles((0..n).map(|_| pair(chance))), 1.0), rate * 0.25)
}

/// So many pairs lose anything up to 1; the others hardly differ.
fn try_paired_losses(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let pair = |chance: &mut Chance| {
        if chance.unit() < rate { -chance.unit() } else { 0.01 * chance.normal() }
    };
    (difference_interval(&singles((0..n).map(|_| pair(chance))), 1.0), -rate / 2.0)
}

/// What a rater says who knows the truth this often, and else guesses by how common answers are.
fn draw_answer(truth: usize, shares: &[f64], knows: f64, chance: &mut Chance) -> usize {
    if chance.unit() < knows { truth } else { answer(shares, chance) }
}

fn answer(shares: &[f64], chance: &mut Chance) -> usize {
    let mut left = chance.unit();
    shares
        .iter()
        .position(|share| {
            left -= share;
            left < 0.0
        })
        .unwrap_or(shares.len() - 1)
}

fn rated_pairs(shares: &[f64], n: usize, agreed: f64, chance: &mut Chance) -> Vec<(usize, usize)> {
    let knows = agreed.sqrt();
    (0..n)
        .map(|_| {
            let truth = answer(shares, chance);
            (draw_answer(truth, shares, knows, chance), draw_answer(truth, shares, knows, chance))
        })
        .collect()
}

fn try_kappa(shares: &[f64], n: usize, agreed: f64, chance: &mut Chance) -> Tried {
    let pairs = rated_pairs(shares, n, agreed, chance);
    let kappa = cohen_with_interval(&pairs, shares.len(), KappaWeights::None, Some(chance.next()));
    (kappa.ok().and_then(|coefficient| coefficient.interval), agreed)
}

fn try_quadratic(shares: &[f64], n: usize, agreed: f64, chance: &mut Chance) -> Tried {
    let pairs = rated_pairs(shares, n, agreed, chance);
    let kappa = cohen_with_interval(&pairs, shares.len(), KappaWeights::Quadratic, Some(chance.next()));
    (kappa.ok().and_then(|coefficient| coefficient.interval), agreed)
}

#[derive(Clone, Copy)]
enum RaterStatistic {
    Alpha,
    Fleiss,
    Gwet,
}

fn try_raters(shares: &[f64], which: RaterStatistic, n: usize, agreed: f64, chance: &mut Chance) -> Tried {
    let knows = agreed.sqrt();
    let mut cells = Vec::new();
    for _ in 0..n {
        let truth = answer(shares, chance);
        cells.extend((0..3).map(|_| Some(draw_answer(truth, shares, knows, chance) as f64)));
    }
    let names = (0..3).map(|n| n.to_string()).collect();
    let Ok(ratings) = Ratings::of_numbers(names, &cells) else { return (None, 0.0) };
    let seed = chance.next();
    let result = match which {
        RaterStatistic::Alpha => alpha_with_interval(&ratings, Level::Nominal, seed),
        RaterStatistic::Fleiss => fleiss_with_interval(&ratings, seed),
        RaterStatistic::Gwet => gwet_ac(&ratings, Level::Nominal, seed),
    };
    let truth = match which {
        RaterStatistic::Gwet => {
            let same: f64 = shares.iter().map(|share| share * share).sum();
            let by_chance = (1.0 - same) / (shares.len() as f64 - 1.0);
            (agreed + (1.0 - agreed) * same - by_chance) / (1.0 - by_chance)
        }
        _ => agreed,
    };
    (result.ok().and_then(|coefficient| coefficient.interval), truth)
}

fn try_icc(n: usize, rho: f64, chance: &mut Chance) -> Tried {
    let mut cells = Vec::new();
    for _ in 0..n {
        let own = chance.normal() * rho.sqrt();
        cells.extend((0..3).map(|_| Some(own + chance.normal() * (1.0 - rho).sqrt())));
    }
    let names = (0..3).map(|n| n.to_string()).collect();
    let icc_result =
        Ratings::of_numbers(names, &cells).and_then(|ratings| icc(&ratings, Design::Random, IccUnit::Single));
    (icc_result.ok().and_then(|icc| icc.coefficient().interval), rho)
}

fn try_correlation(which: usize, n: usize, rho: f64, chance: &mut Chance) -> Tried {
    let (x, y): (Vec<f64>, Vec<f64>) = (0..n)
        .map(|_| {
            let x = chance.normal();
            (x, rho * x + (1.0 - rho * rho).sqrt() * chance.normal())
        })
        .unzip();
    let ranked = 2.0 / std::f64::consts::PI * rho.asin();
    match which {
        0 => (pearson(&x, &y).ok().and_then(|correlation| correlation.interval()), rho),
        1 => (
            spearman(&x, &y).ok().and_then(|correlation| correlation.interval()),
            6.0 / std::f64::consts::PI * (rho / 2.0).asin(),
        ),
        _ => (kendall(&x, &y).ok().and_then(|correlation| correlation.interval()), ranked),
    }
}

/// A judge that is right nine times in ten, together with so many labels. Where there is no corrected number, that of the
/// labels is what is said.
fn try_estimate(
    quantity: EstimatedQuantity,
    by_mistakes: bool,
    n: usize,
    rate: f64,
    chance: &mut Chance,
) -> Tried {
    let item = |chance: &mut Chance| {
        let human = binary(rate, chance);
        (human, if chance.unit() < 0.9 { human } else { 1.0 - human })
    };
    let both = (0..n).map(|_| item(chance)).collect();
    let judge_only = (0..1_000).map(|_| item(chance).1).collect();
    let estimates =
        compare_estimators(&LabelledScores { both, judge_only, human_only: Vec::new() }, quantity);
    let interval = match estimates.rogan_gladen.filter(|_| by_mistakes) {
        Some(rate) => rate.interval(),
        None if by_mistakes => None,
        None => estimates.ppi_plus_plus.interval().or(estimates.labels.interval()),
    };
    (interval, rate)
}

/// One in twenty failed and nearly always scores 0; of the rest so many were drawn.
fn try_strata(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let stratum = |name: &str, population: usize, n: usize, rate: f64, chance: &mut Chance| SampledStratum {
        name: name.to_owned(),
        population,
        scores: (0..n).map(|_| binary(rate, chance)).collect(),
        n_errors: 0,
    };
    let strata = [stratum("failed", 50_000, 10, 0.03, chance), stratum("fine", 950_000, n, rate, chance)];
    (
        estimate_stratified_mean(&strata).ok().and_then(|stratified| stratified.interval),
        0.05 * 0.03 + 0.95 * rate,
    )
}

fn try_hajek(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    // One in four is drawn five times as often.
    let values: Vec<f64> = (0..n).map(|_| binary(rate, chance)).collect();
    let probabilities: Vec<f64> = (0..n).map(|n| if n % 4 == 0 { 0.000_5 } else { 0.000_1 }).collect();
    (hajek(&values, &probabilities).ok().map(|weighted_mean| weighted_mean.interval), rate)
}

fn try_traffic(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let stratum = |name: &str, population: f64, n: usize, rate: f64, chance: &mut Chance| {
        let mut scores = WeightedScoreSums::default();
        (0..n).for_each(|_| scores.add(binary(rate, chance), n as f64 / population));
        TrafficSums {
            name: name.to_owned(),
            n_seen: population as usize,
            population,
            scores,
            ..TrafficSums::default()
        }
    };
    let strata = [stratum("failed", 50_000.0, 10, 0.2, chance), stratum("other", 950_000.0, n, rate, chance)];
    (estimate_traffic_mean(&strata).ok().map(|traffic| traffic.interval), 0.05 * 0.2 + 0.95 * rate)
}

/// A judge that is right nine times in ten, of one trace in fifty; so many of these have labels.
fn try_corrected_traffic(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let mut scores = WeightedScoreSums::default();
    let mut labelled = Vec::new();
    for at in 0..1_000 {
        let human = binary(rate, chance);
        let judge = if chance.unit() < 0.9 { human } else { 1.0 - human };
        scores.add(judge, 0.02);
        if at < n {
            labelled.push(LabelledTrace { human, judge, probability: 0.02 });
        }
    }
    let stratum = TrafficSums { n_seen: 50_000, population: 50_000.0, scores, ..TrafficSums::default() };
    let corrected =
        estimate_traffic_mean(&[stratum]).and_then(|judged| correct_traffic_mean(&judged, &labelled));
    (corrected.ok().map(|corrected_traffic| corrected_traffic.interval), rate)
}

fn try_strength(n: usize, apart: f64, chance: &mut Chance) -> Tried {
    let strengths = [apart, 0.0, -apart];
    let pairs: Vec<Pair> = (0..n)
        .map(|case| {
            let (first, second) = [(0, 1), (1, 2), (2, 0)][case % 3];
            let wins = 1.0 / (1.0 + (strengths[second] - strengths[first]).exp());
            let preferred = if chance.unit() < wins { Preferred::First } else { Preferred::Second };
            Pair::new(case, first, second, preferred)
        })
        .collect();
    let names: Vec<String> = (0..3).map(|n| n.to_string()).collect();
    let fit = fit_bradley_terry(&names, &pairs, BradleyTerryModel::default());
    (fit.ok().and_then(|ranking| ranking.players[0].strength.interval), apart)
}

fn try_sequence(n: usize, rate: f64, chance: &mut Chance) -> Tried {
    let Ok(mut sequence) = Sequence::new(SequenceBound::EmpiricalBernstein, 0.05) else {
        return (None, rate);
    };
    for _ in 0..n {
        if sequence.push(binary(rate, chance)).is_err() {
            return (None, rate);
        }
    }
    (Some(sequence.interval()), rate)
}

/// Of how many intervals, the share that holds the truth, and how wide they are.
struct IntervalCoverage {
    share: f64,
    n_intervals: usize,
    width: f64,
}

fn hold(run: Try, n: usize, rate: f64, times: usize) -> IntervalCoverage {
    let mut chance = Chance::new((n as u64) << 32 ^ rate.to_bits());
    let (mut n_covering, mut n_intervals, mut width) = (0, 0, 0.0);
    for _ in 0..times {
        if let (Some((low, high)), truth) = run(n, rate, &mut chance) {
            n_intervals += 1;
            n_covering += usize::from(low - 1e-9 <= truth && truth <= high + 1e-9);
            width += high - low;
        }
    }
    IntervalCoverage {
        share: n_covering as f64 / n_intervals.max(1) as f64,
        n_intervals,
        width: width / n_intervals.max(1) as f64,
    }
}

/// Each cell that holds less than 93 %, by more than chance makes of so many.
fn too_low(families: &[&Family], times: usize, print: bool) -> Vec<String> {
    let mut failures = Vec::new();
    for family in families {
        let (mut worst, mut where_worst) = (1.0_f64, String::new());
        for (n, rate) in family.sizes.iter().flat_map(|n| family.rates.iter().map(move |rate| (*n, *rate))) {
            let IntervalCoverage { share, n_intervals, width } = hold(family.run, n, rate, times);
            if n_intervals < times / 20 {
                continue;
            }
            let luck = 2.5 * (0.93 * 0.07 / n_intervals as f64).sqrt();
            if share < 0.93 - luck {
                failures.push(format!("{}, n {n}, rate {rate}: {share:.3} of {n_intervals}", family.name));
            }
            if share < worst {
                (worst, where_worst) = (share, format!("{n}, {rate} ({width:.2})"));
            }
        }
        if print {
            println!(
                "| {} | {:?} | {:?} | {:.1} % | {where_worst} |",
                family.name,
                family.sizes,
                family.rates,
                100.0 * worst
            );
        }
    }
    failures
}

#[test]
fn intervals_of_95_percent_hold_93_or_more() {
    // The cheap ones in full; what is drawn a thousand times, by the fewest items.
    let cheap: Vec<&Family> = FAMILIES.iter().filter(|family| family.sizes != ITEMS).collect();
    assert_eq!(too_low(&cheap, 100, false), Vec::<String>::new());
    let families: Vec<Family> = FAMILIES
        .iter()
        .filter(|family| family.sizes == ITEMS)
        .map(|family| Family { sizes: &[20], rates: &family.rates[1..2], ..*family })
        .collect();
    assert_eq!(too_low(&families.iter().collect::<Vec<_>>(), 40, false), Vec::<String>::new());
}

#[test]
#[ignore = "the whole grid takes minutes; it writes the table of docs/statistics.md"]
fn the_whole_grid_holds_93_or_more() {
    println!(
        "| interval | n | rate or agreement | lowest coverage | there: n, rate (width) |\n| --- | --- | --- | --- | --- |"
    );
    let failures = too_low(&FAMILIES.iter().collect::<Vec<_>>(), 2_000, true);
    assert!(failures.is_empty(), "below 93 %:\n{}", failures.join("\n"));
}
