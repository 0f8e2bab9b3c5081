//! What sampled scores say of all traffic, from sums alone, so that a million traces need not be read.
//!
//! A stratum's mean weighs each score by how unlikely it was to be drawn (Hájek), so that a sample rate
//! which was changed in between moves nothing; strata then count by how many traces they have (post-stratification).

use std::collections::BTreeMap;

use super::sequence::{Sequence, SequenceBound};
use crate::stats::basics::bounded::{equal_spread, unit_interval};
use crate::stats::basics::numbers::around;
use crate::stats::basics::special::t_quantile;
use crate::stats::basics::undefined::Undefined;
use crate::stats::sampling::estimators::clamp_to_unit;
use crate::stats::sampling::ppi::FEWEST_LABELS;

/// Scores on 0..=1 in sums. The weight of one is the inverse of the probability with which it came to be scored.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WeightedScoreSums {
    pub n: usize,
    pub x: f64,
    pub w: f64,
    pub wx: f64,
    pub wxx: f64,
    pub ww: f64,
    pub wwx: f64,
    pub wwxx: f64,
}

/// What is known of one stratum.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrafficSums {
    pub name: String,
    /// Traces that are known here.
    pub n_seen: usize,
    /// Estimated number of traces before sampling by the sender.
    pub population: f64,
    /// How uncertain that number is: the sum of (1 − u) / u² over those that were kept with probability u.
    pub population_variance: f64,
    /// Sampled, with a judge error.
    pub n_errors: usize,
    /// Sampled and not judged: waiting, over budget or overloaded.
    pub n_unjudged: usize,
    pub scores: WeightedScoreSums,
}

/// The mean over all traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    pub mean: f64,
    pub se: f64,
    pub interval: (f64, f64),
    /// Unweighted mean of the scored traces, which depends on the sampling.
    pub naive: f64,
    pub n: usize,
    /// Effective sample size.
    pub n_eff: f64,
    pub population: f64,
    /// The share of the population in strata that can be estimated; the mean is of these alone.
    pub covered: f64,
    /// Among the sampled and judged traces.
    pub error_rate: f64,
    /// Worst-case range: the mean if all judge errors scored 0, and if all scored 1.
    pub if_errors_scored: (f64, f64),
    pub strata: Vec<TrafficStratum>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TrafficStratum {
    pub name: String,
    pub n_seen: usize,
    pub population: f64,
    pub n: usize,
    pub n_errors: usize,
    pub n_unjudged: usize,
    pub mean: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// Why there is no mean.
    pub not_estimable: Option<String>,
}

impl WeightedScoreSums {
    /// One more score, that came to be scored with this probability.
    pub fn add(&mut self, score: f64, probability: f64) {
        let w = 1.0 / probability;
        self.n += 1;
        self.x += score;
        self.w += w;
        self.wx += w * score;
        self.wxx += w * score * score;
        self.ww += w * w;
        self.wwx += w * w * score;
        self.wwxx += w * w * score * score;
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            n: self.n + other.n,
            x: self.x + other.x,
            w: self.w + other.w,
            wx: self.wx + other.wx,
            wxx: self.wxx + other.wxx,
            ww: self.ww + other.ww,
            wwx: self.wwx + other.wwx,
            wwxx: self.wwxx + other.wwxx,
        }
    }

    pub(crate) fn mean(&self) -> f64 {
        (self.wx / self.w).clamp(0.0, 1.0)
    }

    /// The spread of the scores. Those that are all alike may still hide others: as if one more of
    /// each end had been seen.
    pub(crate) fn spread(&self) -> f64 {
        let (n, mean) = (self.n as f64, self.mean());
        let own = (self.wxx / self.w - mean * mean).max(0.0);
        if 1 < self.n && 1e-9 < own {
            return own * n / (n - 1.0);
        }
        equal_spread(n, mean)
    }

    /// How many scores that count alike would say as much (Kish).
    fn n_alike(&self) -> f64 {
        self.w * self.w / self.ww
    }

    /// The variance of the mean, where `answered` is the share of sampled ones that have a score.
    fn variance(&self, answered: f64) -> f64 {
        let (n, mean) = (self.n as f64, self.mean());
        // Traces that were sampled with certainty add no uncertainty.
        let left = (self.ww - answered * self.w).max(0.0);
        if left <= 1e-9 * self.ww {
            return 0.0;
        }
        let own = (self.wxx / self.w - mean * mean).max(0.0);
        if self.n < 2 || own <= 1e-9 {
            return self.spread() * left / (self.w * self.w);
        }
        let squares = |xx: f64, x: f64, one: f64| xx - 2.0 * mean * x + mean * mean * one;
        let sum = squares(self.wwxx, self.wwx, self.ww) - answered * squares(self.wxx, self.wx, self.w);
        sum.max(0.0) / (self.w * self.w) * n / (n - 1.0)
    }
}

impl TrafficSums {
    fn answered_share(&self) -> f64 {
        let n = self.scores.n as f64;
        n / (n + (self.n_errors + self.n_unjudged) as f64)
    }

    fn estimate(&self) -> TrafficStratum {
        let n = self.scores.n;
        let mean = (0 < n).then(|| self.scores.mean());
        let interval = mean.map(|mean| {
            let degrees = (n as f64 - 1.0).max(1.0);
            unit_interval(mean, self.scores.variance(self.answered_share()), degrees, self.scores.n_alike())
        });
        let why = || match (self.n_seen, self.n_errors, self.n_unjudged) {
            (0, _, _) => "the stratum has no traces".to_owned(),
            (_, 0, 0) => "none of its traces was sampled".to_owned(),
            (_, 0, waiting) => format!("{waiting} were sampled, and none is judged yet"),
            (_, errors, _) => format!("the judge failed on all {errors} sampled traces"),
        };
        TrafficStratum {
            name: self.name.clone(),
            n_seen: self.n_seen,
            population: self.population,
            n,
            n_errors: self.n_errors,
            n_unjudged: self.n_unjudged,
            mean,
            interval,
            not_estimable: (n == 0).then(why),
        }
    }
}

impl Traffic {
    /// The same interval at another chance of being wrong.
    pub fn interval_at(&self, alpha: f64) -> (f64, f64) {
        let degrees = (self.n_eff - 1.0).max(1.0);
        clamp_to_unit(around(self.mean, t_quantile(1.0 - alpha / 2.0, degrees) * self.se))
    }
}

/// The mean over all traffic. What the judge could not grade is taken to be like the rest of its stratum.
pub fn estimate_traffic_mean(strata: &[TrafficSums]) -> Result<Traffic, Undefined> {
    let scored: Vec<&TrafficSums> = strata.iter().filter(|sums| 0 < sums.scores.n).collect();
    let total: f64 = strata.iter().map(|sums| sums.population).sum();
    let covered: f64 = scored.iter().map(|sums| sums.population).sum();
    if scored.is_empty() || covered <= 0.0 {
        return Undefined::because("no trace has a score");
    }
    let share = |sums: &TrafficSums| sums.population / covered;
    let mean: f64 = scored.iter().map(|sums| share(sums) * sums.scores.mean()).sum();
    let n: usize = scored.iter().map(|sums| sums.scores.n).sum();
    let within = |sums: &&TrafficSums| share(sums).powi(2) * sums.scores.variance(sums.answered_share());
    let between =
        |sums: &&TrafficSums| sums.population_variance * ((sums.scores.mean() - mean) / covered).powi(2);
    let variance: f64 = scored.iter().map(|sums| within(sums) + between(sums)).sum();
    // As many degrees of freedom as the strata that add uncertainty have (Satterthwaite): what was drawn for sure
    // says nothing about how far the rest may be off.
    let own: f64 =
        scored.iter().map(|sums| within(sums).powi(2) / (sums.scores.n as f64 - 1.0).max(1.0)).sum();
    let degrees = if 0.0 < own { (variance * variance / own).clamp(1.0, 1e6) } else { 1e6 };
    let n_alike = 1.0 / scored.iter().map(|sums| share(sums).powi(2) / sums.scores.n_alike()).sum::<f64>();
    let within_and_between =
        |sums: &&TrafficSums| share(sums) * (sums.scores.spread() + (sums.scores.mean() - mean).powi(2));
    let spread: f64 = scored.iter().map(within_and_between).sum();
    let simple = spread * (1.0 - n as f64 / covered).max(0.0) / n as f64;
    let n_eff = if 0.0 < variance && 0.0 < simple { n as f64 * simple / variance } else { n as f64 };
    let if_errors = |score: f64| {
        let with = |sums: &&TrafficSums| {
            let (n, errors) = (sums.scores.n as f64, sums.n_errors as f64);
            share(sums) * (n * sums.scores.mean() + errors * score) / (n + errors)
        };
        scored.iter().map(with).sum()
    };
    let sum = |of: fn(&TrafficSums) -> usize| strata.iter().map(of).sum::<usize>();
    let (n_errors, n_unjudged) = (sum(|sums| sums.n_errors), sum(|sums| sums.n_unjudged));
    let se = variance.sqrt();
    Ok(Traffic {
        mean,
        se,
        interval: unit_interval(mean, variance, degrees, n_alike),
        naive: scored.iter().map(|sums| sums.scores.x).sum::<f64>() / n as f64,
        n,
        n_eff,
        population: total,
        covered: covered / total,
        error_rate: n_errors as f64 / (n + n_errors) as f64,
        if_errors_scored: (if_errors(0.0), if_errors(1.0)),
        strata: strata.iter().map(TrafficSums::estimate).collect(),
        warnings: collect_traffic_warnings(strata, n, n_errors, n_unjudged),
    })
}

fn collect_traffic_warnings(
    strata: &[TrafficSums],
    n: usize,
    n_errors: usize,
    n_unjudged: usize,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if 0 < n_errors {
        warnings.push(format!(
            "The judge could not grade {n_errors} of {}; they are assumed to be like the rest of their stratum.",
            n + n_errors
        ));
    }
    if 0 < n_unjudged {
        warnings.push(format!("{n_unjudged} sampled traces are not judged yet."));
    }
    for stratum in strata.iter().filter(|sums| 0 < sums.n_seen && sums.scores.n == 0) {
        warnings.push(format!("`{}` cannot be estimated and is excluded from the mean.", stratum.name));
    }
    warnings
}

/// The mean over traffic as scores come in, within bounds that may be looked at every day.
///
/// Each stratum has a sequence of its own, and they share the chance of being wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficSequence {
    strata: BTreeMap<String, Sequence>,
    alpha: f64,
}

impl TrafficSequence {
    /// Of so many strata at most.
    pub fn new(n_strata: usize, alpha: f64) -> Self {
        Self { strata: BTreeMap::new(), alpha: alpha / n_strata.max(1) as f64 }
    }

    pub fn push(&mut self, stratum: &str, score: f64) -> Result<(), Undefined> {
        if let Some(sequence) = self.strata.get_mut(stratum) {
            return sequence.push(score);
        }
        let mut sequence = Sequence::new(SequenceBound::EmpiricalBernstein, self.alpha)?;
        sequence.push(score)?;
        self.strata.insert(stratum.to_owned(), sequence);
        Ok(())
    }

    /// Where the mean lies, given how many traces each stratum has; a stratum without a score may be anywhere.
    pub fn interval(&self, populations: &BTreeMap<String, f64>) -> Option<(f64, f64)> {
        let total: f64 = populations.values().sum();
        if total <= 0.0 || self.strata.is_empty() {
            return None;
        }
        let of = |(name, population): (&String, &f64)| {
            let (low, high) = self.strata.get(name).map_or((0.0, 1.0), Sequence::now);
            (population / total * low, population / total * high)
        };
        let add = |(low_sum, high_sum): (f64, f64), (low, high): (f64, f64)| (low_sum + low, high_sum + high);
        Some(populations.iter().map(of).fold((0.0, 0.0), add))
    }
}

/// A trace that the judge scored and people labelled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelledTrace {
    pub human: f64,
    pub judge: f64,
    /// With which it came to be scored.
    pub probability: f64,
}

/// A judge's mean, corrected by human labels.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedTraffic {
    pub mean: f64,
    pub se: f64,
    pub interval: (f64, f64),
    pub n_labels: usize,
    /// Weight of the judge (λ), from 0 (labels alone) to 1.
    pub lambda: f64,
}

/// PPI++ over traffic. It assumes that the labelled traces are a random sample of the scored traces.
pub fn correct_traffic_mean(
    judge: &Traffic,
    labelled: &[LabelledTrace],
) -> Result<CorrectedTraffic, Undefined> {
    let n = labelled.len();
    if n < FEWEST_LABELS {
        return Undefined::because(format!(
            "only {n} of the scored traces have a label; at least {FEWEST_LABELS} are needed"
        ));
    }
    let w: f64 = labelled.iter().map(|labelled| 1.0 / labelled.probability).sum();
    let ww: f64 = labelled.iter().map(|labelled| labelled.probability.powi(-2)).sum();
    let mean = |of: &dyn Fn(&LabelledTrace) -> f64| {
        labelled.iter().map(|labelled| of(labelled) / labelled.probability).sum::<f64>() / w
    };
    let (h, j) = (mean(&|it| it.human), mean(&|it| it.judge));
    let small = n as f64 / (n as f64 - 1.0);
    let human = small * mean(&|it| (it.human - h).powi(2));
    let own = small * mean(&|it| (it.judge - j).powi(2));
    let together = small * mean(&|it| (it.human - h) * (it.judge - j));
    if human <= 0.0 {
        return Undefined::because(format!("all {n} labels are equal"));
    }
    let n_eff = w * w / ww;
    // The λ with the narrowest interval.
    let lambda = (together / n_eff) / (judge.se.powi(2) + own / n_eff);
    let lambda = if lambda.is_finite() { lambda.clamp(0.0, 1.0) } else { 0.0 };
    let rectified = (human - 2.0 * lambda * together + lambda * lambda * own).max(0.0) / n_eff;
    let middle = lambda * judge.mean + h - lambda * j;
    let se = ((lambda * judge.se).powi(2) + rectified).sqrt();
    let middle = middle.clamp(0.0, 1.0);
    // As of PPI++, λ was chosen on the same labels, and some errors count as seen: with half of one, as there,
    // 20 labels of which nine in ten pass cover 91.5 %.
    let degrees = n as f64 - 2.0;
    let unseen = 1.5 * lambda * lambda / (degrees * n_eff);
    let interval = unit_interval(middle, se * se + unseen, degrees, n_eff);
    Ok(CorrectedTraffic { mean: middle, se, interval, n_labels: n, lambda })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::{SpendPace, pacing_factor};
    use crate::plan::hash_position;
    use crate::quantity::Usd;
    use crate::stats::basics::resample::Chance;

    /// A day of traffic: the share that fails, and how often the rest passes.
    struct Day {
        n: usize,
        failed: f64,
        fine: f64,
        dial: f64,
    }

    const FAILED: f64 = 0.2;
    const FINE: f64 = 0.85;

    /// Samples a day as a monitor does, and returns its sums with the truth of exactly these traces.
    fn day(chance: &mut Chance, day: &Day, upstream: f64, errors: f64) -> (Vec<TrafficSums>, f64) {
        let named = |name: &str| TrafficSums { name: name.to_owned(), ..TrafficSums::default() };
        let mut strata = vec![named("failed"), named("other")];
        let mut truth = 0.0;
        for _ in 0..day.n {
            let is_failed = chance.unit() < day.failed;
            let score = f64::from(u8::from(chance.unit() < if is_failed { FAILED } else { day.fine }));
            truth += score;
            if upstream <= chance.unit() {
                continue;
            }
            let (stratum, dial) = if is_failed { (0, 1.0) } else { (1, day.dial) };
            let stratum = &mut strata[stratum];
            stratum.n_seen += 1;
            stratum.population += 1.0 / upstream;
            stratum.population_variance += (1.0 - upstream) / upstream.powi(2);
            if chance.unit() < dial {
                if chance.unit() < errors {
                    stratum.n_errors += 1;
                } else {
                    stratum.scores.add(score, dial * upstream);
                }
            }
        }
        (strata, truth / day.n as f64)
    }

    fn merged(a: Vec<TrafficSums>, b: Vec<TrafficSums>) -> Vec<TrafficSums> {
        let both = |(a, b): (TrafficSums, TrafficSums)| TrafficSums {
            n_seen: a.n_seen + b.n_seen,
            population: a.population + b.population,
            population_variance: a.population_variance + b.population_variance,
            n_errors: a.n_errors + b.n_errors,
            n_unjudged: a.n_unjudged + b.n_unjudged,
            scores: a.scores.plus(b.scores),
            ..a
        };
        a.into_iter().zip(b).map(both).collect()
    }

    fn holds((low, high): (f64, f64), truth: f64) -> usize {
        usize::from(low <= truth && truth <= high)
    }

    /// How often, of 200, the interval holds the truth, and the mean distance of estimate and plain mean.
    fn coverage(before: &Day, after: &Day, upstream: f64, errors: f64) -> (usize, f64, f64) {
        let mut chance = Chance::new(7);
        let (mut n_covered, mut off, mut naive) = (0, 0.0, 0.0);
        for _ in 0..200 {
            let (first, a) = day(&mut chance, before, upstream, errors);
            let (second, b) = day(&mut chance, after, upstream, errors);
            let n = (before.n + after.n) as f64;
            let truth = (a * before.n as f64 + b * after.n as f64) / n;
            let result = estimate_traffic_mean(&merged(first, second)).unwrap();
            n_covered += holds(result.interval, truth);
            off += (result.mean - truth) / 200.0;
            naive += (result.naive - truth) / 200.0;
        }
        println!("held {n_covered} of 200, off by {off:.4}, the plain mean by {naive:.4}");
        (n_covered, off, naive)
    }

    #[test]
    fn failures_that_double_bias_the_plain_mean_and_not_the_estimate() {
        let before = Day { n: 1_000, failed: 0.05, fine: FINE, dial: 0.1 };
        let (n_covered, off, naive) = coverage(&before, &Day { failed: 0.1, ..before }, 1.0, 0.0);
        assert!(
            (183..=198).contains(&n_covered) && off.abs() < 0.006 && naive < -0.1,
            "{n_covered} {off} {naive}"
        );
    }

    #[test]
    fn the_dial_moves_the_sample_and_not_the_estimate() {
        // Quality falls while the sample rate rises: a plain mean within strata would follow the sample rate.
        let before = Day { n: 1_000, failed: 0.05, fine: FINE, dial: 0.05 };
        let (n_covered, off, _) = coverage(&before, &Day { failed: 0.3, dial: 0.8, ..before }, 1.0, 0.1);
        assert!((183..=198).contains(&n_covered) && off.abs() < 0.01, "{n_covered} {off}");
    }

    #[test]
    fn small_samples_that_ids_draw_are_as_fair_as_those_of_chance() {
        // 24 traces, of which 3 failed; the others score 0.5, 0.75 and 1.
        let score = |at: usize| if at.is_multiple_of(8) { 0.0 } else { 0.5 + (at % 3) as f64 / 4.0 };
        let truth = (0..24).map(score).sum::<f64>() / 24.0;
        let (n, mut n_covered, mut off) = (4_000, 0, 0.0);
        for agent in 0..n {
            let named = |name: &str| TrafficSums { name: name.to_owned(), ..TrafficSums::default() };
            let mut strata = vec![named("failed"), named("other")];
            for at in 0..24_usize {
                let (stratum, dial) = if at.is_multiple_of(8) { (0, 1.0) } else { (1, 0.5) };
                strata[stratum].n_seen += 1;
                strata[stratum].population += 1.0;
                if hash_position("", &format!("a{agent}-{at}")) < dial {
                    strata[stratum].scores.add(score(at), dial);
                }
            }
            let result = estimate_traffic_mean(&strata).unwrap();
            n_covered += holds(result.interval, truth);
            off += (result.mean - truth) / f64::from(n);
        }
        println!("held {n_covered} of {n}, off by {off:.5}");
        // Three standard errors under 95 %; above it a little more, since twelve scores of four values are few.
        assert!((3_740..=3_880).contains(&n_covered) && off.abs() < 0.0018, "{n_covered} {off}");
    }

    #[test]
    fn a_dial_that_follows_the_money_moves_the_plain_mean_and_not_the_estimate() {
        // There is money for a fifth of what the sample rate asks for, and quality rises as the month goes on.
        let (n_days, n, dial) = (30, 200, 0.8);
        let money = 0.2 * dial * f64::from(n_days * n);
        let dollars = |value: f64| Usd::from_nanos((value * 1e9) as i64);
        let mut chance = Chance::new(5);
        let (mut n_covered, mut off, mut naive, mut most_spent) = (0, 0.0, 0.0, 0.0_f64);
        for _ in 0..200 {
            let (mut spent, mut truth, mut sums) = (0.0, 0.0, Vec::new());
            for at in 0..n_days {
                let elapsed = f64::from(at) / f64::from(n_days);
                let pace = SpendPace {
                    elapsed,
                    spent: dollars(spent),
                    cap: dollars(money),
                    floor: 0.05,
                    kept_for_failures: 0.2,
                };
                let today = Day {
                    n: n as usize,
                    failed: 0.02,
                    fine: 0.35 + 0.6 * elapsed,
                    dial: dial * pacing_factor(&pace),
                };
                let (result, mean) = day(&mut chance, &today, 1.0, 0.0);
                spent += result.iter().map(|sums| sums.scores.n as f64).sum::<f64>();
                truth += mean / f64::from(n_days);
                sums = if sums.is_empty() { result } else { merged(sums, result) };
            }
            let result = estimate_traffic_mean(&sums).unwrap();
            n_covered += holds(result.interval, truth);
            off += (result.mean - truth) / 200.0;
            naive += (result.naive - truth) / 200.0;
            most_spent = most_spent.max(spent / money);
        }
        println!(
            "held {n_covered} of 200, off by {off:.4}, the plain mean by {naive:.4}, spent {most_spent:.2}"
        );
        assert!(
            (182..=199).contains(&n_covered) && off.abs() < 0.006 && naive < -0.05,
            "{n_covered} {off} {naive}"
        );
        assert!(most_spent < 1.0, "{most_spent}");
    }

    #[test]
    fn what_whoever_sent_it_left_out_is_stood_in_for() {
        let before = Day { n: 2_000, failed: 0.2, fine: FINE, dial: 0.3 };
        let (n_covered, off, _) = coverage(&before, &Day { failed: 0.4, ..before }, 0.25, 0.05);
        assert!((183..=199).contains(&n_covered) && off.abs() < 0.01, "{n_covered} {off}");
    }

    #[test]
    fn strata_without_a_score_are_named_and_scores_that_are_alike_have_an_interval() {
        let mut fine =
            TrafficSums { name: "other".into(), n_seen: 100, population: 100.0, ..Default::default() };
        (0..10).for_each(|_| fine.scores.add(1.0, 0.1));
        let failed = TrafficSums {
            name: "failed".into(),
            n_seen: 20,
            population: 20.0,
            n_errors: 2,
            ..Default::default()
        };
        let result = estimate_traffic_mean(&[failed.clone(), fine]).unwrap();
        assert!((result.covered - 100.0 / 120.0).abs() < 1e-12 && result.interval.0 < 0.95, "{result:?}");
        let why = result.strata[0].not_estimable.as_deref().unwrap();
        assert!(why.contains("all 2") && result.warnings.len() == 2, "{result:?}");
        assert!((result.error_rate - 2.0 / 12.0).abs() < 1e-12);
        assert!(estimate_traffic_mean(&[failed]).unwrap_err().to_string().contains("no trace has a score"));
        // All traces were judged, so the estimate has no sampling error.
        let mut all = TrafficSums { name: "other".into(), n_seen: 2, population: 2.0, ..Default::default() };
        [0.0, 1.0].iter().for_each(|value| all.scores.add(*value, 1.0));
        assert!(estimate_traffic_mean(&[all]).unwrap().se < 1e-12);
    }

    #[test]
    fn a_sequence_over_strata_holds_at_every_look() {
        let mut chance = Chance::new(3);
        let truth = 0.1 * FAILED + 0.9 * FINE;
        let populations: BTreeMap<String, f64> =
            [("failed".to_owned(), 0.1), ("other".to_owned(), 0.9)].into();
        let mut wrong = 0;
        for _ in 0..200 {
            let mut sequence = TrafficSequence::new(2, 0.05);
            let mut ever = false;
            for step in 0..400 {
                let (name, rate) = if step % 2 == 0 { ("failed", FAILED) } else { ("other", FINE) };
                sequence.push(name, f64::from(u8::from(chance.unit() < rate))).unwrap();
                ever |= holds(sequence.interval(&populations).unwrap(), truth) == 0;
            }
            wrong += usize::from(ever);
            let (low, high) = sequence.interval(&populations).unwrap();
            assert!(high - low < 0.4, "{low} {high}");
        }
        assert!(wrong < 10, "{wrong}");
    }

    #[test]
    fn labels_move_a_judge_that_is_too_kind() {
        // People pass 60 %; the judge passes those and a third of the others.
        let mut chance = Chance::new(11);
        let (mut n_covered, mut n_raw_covered) = (0, 0);
        for _ in 0..200 {
            let mut sums = TrafficSums {
                name: "other".into(),
                n_seen: 4_000,
                population: 4_000.0,
                ..Default::default()
            };
            let mut labelled = Vec::new();
            for at in 0..800 {
                let human = chance.unit() < 0.6;
                let judge = human || chance.unit() < 0.33;
                let score = |flag: bool| f64::from(u8::from(flag));
                sums.scores.add(score(judge), 0.2);
                if at % 8 == 0 {
                    labelled.push(LabelledTrace {
                        human: score(human),
                        judge: score(judge),
                        probability: 0.2,
                    });
                }
            }
            let raw = estimate_traffic_mean(&[sums]).unwrap();
            let result = correct_traffic_mean(&raw, &labelled).unwrap();
            n_covered += holds(result.interval, 0.6);
            n_raw_covered += holds(raw.interval, 0.6);
        }
        println!("corrected {n_covered}, raw {n_raw_covered} of 200");
        assert!(180 <= n_covered && n_raw_covered < 20, "{n_covered} {n_raw_covered}");
        let one = [LabelledTrace { human: 1.0, judge: 1.0, probability: 1.0 }];
        let mut sums = TrafficSums { n_seen: 1, population: 1.0, ..Default::default() };
        sums.scores.add(1.0, 1.0);
        assert!(correct_traffic_mean(&estimate_traffic_mean(&[sums]).unwrap(), &one).is_err());
    }
}
