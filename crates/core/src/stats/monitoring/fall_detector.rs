//! Notices that a mean has fallen, from daily sums alone, with a bound on false alarms that holds for any scores.
//!
//! Every day opens a bet that scores from this day on are lower than in the eight weeks before it. Under the
//! assumption that they are not, no bet is expected to win anything, whatever the scores are distributed like, so
//! that the chance that all bets together reach `A` within `N` days is at most `N / A` (Doob's inequality; the
//! sum over start days is an e-detector of Shiryaev–Roberts type, Shin, Ramdas and Rinaldo 2023). The mean of
//! before is not known either: a second bet is that it was higher than a value, and the product of both counts at
//! the value that suits them least, which is the price of what is not known.
//!
//! Where days differ more than their scores explain, all bets are made smaller by that factor, which is a quasi-
//! likelihood. It is estimated from the reference itself, which can at most double the bound.
//!
//! A bet multiplies by `1 + λ·k·(μ − x)` for a score `x` of weight `k`. Sums do not tell the product, but bound it
//! from below in two ways: as if scores were coins of the same mean, which is sharp for pass and fail, and by their
//! second moment (Fan, Grama and Liu 2015), which is sharp for scores that lie close together.

use super::traffic::WeightedScoreSums;

/// Days that a fall is looked for in, and days before it that say what is usual: whole weeks.
const FALL_DAYS: i64 = 42;
const REFERENCE_DAYS: i64 = 56;
/// Fewer days or scores say nothing about what is usual.
const MIN_REFERENCE_DAYS: usize = 7;
const MIN_REFERENCE_SCORES: usize = 20;
/// Falls that bets are made for.
const FALLS: [f64; 4] = [0.05, 0.1, 0.2, 0.4];
/// Bets on what was before, in standard errors of its mean; they must not depend on its scores, so that their spread
/// is taken to be an ordinary one.
const REFERENCE_BETS: [f64; 3] = [0.7, 1.5, 3.0];
const ORDINARY_SPREAD: f64 = 0.08;

/// The scores of one day, by stratum.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DailyScores {
    /// Days since 1970.
    pub day: i64,
    pub strata: Vec<WeightedScoreSums>,
}

/// What daily scores say about a fall of their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FallEvidence {
    /// What the bets of all days have won together.
    pub evidence: f64,
    /// The first day of the fall, by the bet that won most.
    pub since: i64,
    /// The mean in the eight weeks before that day, and since then.
    pub before: f64,
    pub now: f64,
    pub n_before: usize,
    pub n_since: usize,
    /// The newest scores, as many as it takes to tell, lie nearer to the mean of before than to that of the fall.
    pub has_recovered: bool,
}

/// Weights are scaled so that the largest of a day is 1.
#[derive(Debug, Clone, Copy, Default)]
struct BetSums {
    n: usize,
    w: f64,
    wx: f64,
    ww: f64,
    wwx: f64,
    wwxx: f64,
}

impl BetSums {
    /// If the sample rate changed within a day, the mean weight of a stratum replaces its largest weight.
    fn of(day: &DailyScores) -> Self {
        let all = day.strata.iter().fold(WeightedScoreSums::default(), |sum, stratum| sum.plus(*stratum));
        let scored = day.strata.iter().filter(|stratum| 0 < stratum.n);
        let heaviest = scored.map(|stratum| stratum.ww / stratum.w).fold(0.0, f64::max);
        if heaviest <= 0.0 {
            return Self::default();
        }
        let c = 1.0 / heaviest;
        Self {
            n: all.n,
            w: c * all.w,
            wx: c * all.wx,
            ww: c * c * all.ww,
            wwx: c * c * all.wwx,
            wwxx: c * c * all.wwxx,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            n: self.n + other.n,
            w: self.w + other.w,
            wx: self.wx + other.wx,
            ww: self.ww + other.ww,
            wwx: self.wwx + other.wwx,
            wwxx: self.wwxx + other.wwxx,
        }
    }

    fn mean(&self) -> f64 {
        (self.wx / self.w).clamp(0.0, 1.0)
    }

    fn spread(&self) -> f64 {
        let mean = self.mean();
        ((self.wwxx - 2.0 * mean * self.wwx + mean * mean * self.ww) / self.ww).max(0.0)
    }

    /// The same of `1 − x`.
    fn mirror_scores(&self) -> Self {
        Self {
            wx: self.w - self.wx,
            wwx: self.ww - self.wwx,
            wwxx: self.ww - 2.0 * self.wwx + self.wwxx,
            ..*self
        }
    }

    /// A lower bound of the logarithm of what a bet on a mean below `mu` has won.
    fn log_winnings(&self, bet: f64, mu: f64) -> f64 {
        let above = 1.0 - mu;
        let bet = if 1e-9 < above { bet.min(0.9 / above) } else { bet };
        let risk = bet * above;
        let as_coins = (self.w - self.wx) * (bet * mu).ln_1p() + self.wx * (-risk).ln_1p();
        let cost = if 1e-4 < risk { (-(-risk).ln_1p() - risk) / (risk * risk) } else { 0.5 };
        let squares = (mu * mu * self.ww - 2.0 * mu * self.wwx + self.wwxx).max(0.0);
        let by_spread = bet * (mu * self.w - self.wx) - cost * bet * bet * squares;
        as_coins.max(by_spread)
    }
}

/// The days before a start day.
struct Reference {
    stakes: BetSums,
    mirrored: BetSums,
    bets: [f64; FALLS.len()],
    reference_bets: [f64; REFERENCE_BETS.len()],
    /// How much more days differ than their scores explain: bets are made smaller by it.
    dispersion: f64,
}

impl Reference {
    fn of(days: &[BetSums]) -> Option<Self> {
        let days: Vec<&BetSums> = days.iter().filter(|day| 0 < day.n).collect();
        let stakes = days.iter().fold(BetSums::default(), |sum, day| sum.plus(**day));
        if days.len() < MIN_REFERENCE_DAYS || stakes.n < MIN_REFERENCE_SCORES {
            return None;
        }
        let (mean, spread) = (stakes.mean(), stakes.spread());
        let off = |day: &&BetSums| (day.mean() - mean).powi(2) * day.w * day.w / day.ww;
        let off: f64 = days.iter().map(off).sum();
        let dispersion = if 1e-9 < spread { off / spread / (days.len() as f64 - 1.0) } else { 1.0 };
        Some(Self {
            stakes,
            mirrored: stakes.mirror_scores(),
            // What wins fastest by the second of the two bounds.
            bets: FALLS.map(|fall| fall / (spread + fall * fall + fall * (1.0 - mean))),
            reference_bets: REFERENCE_BETS.map(|errors| errors / (ORDINARY_SPREAD * stakes.ww).sqrt()),
            dispersion: (dispersion - (2.0 / (days.len() as f64 - 1.0)).sqrt()).max(1.0),
        })
    }

    /// The logarithm of what both bets have won if the mean was, and is, `mu`.
    fn won_at(&self, since: &BetSums, mu: f64) -> f64 {
        let lower = average(self.bets.map(|bet| since.log_winnings(bet, mu) / self.dispersion));
        let higher = average(
            self.reference_bets.map(|bet| self.mirrored.log_winnings(bet, 1.0 - mu) / self.dispersion),
        );
        lower + higher
    }

    /// At the `mu` that suits them least; `None` if that is nothing.
    fn won(&self, since: &BetSums) -> Option<f64> {
        let together = self.stakes.plus(*since);
        if self.stakes.mean() <= since.mean() || self.won_at(since, together.mean()) < 0.0 {
            return None;
        }
        let (mut low, mut high, mut least) = (0.0, 1.0, f64::INFINITY);
        for _ in 0..4 {
            let step = (high - low) / 16.0;
            let mut at = low;
            for place in 0..=16 {
                let mu = low + step * f64::from(place);
                let won = self.won_at(since, mu);
                if won < least {
                    (least, at) = (won, mu);
                }
            }
            (low, high) = ((at - step).max(0.0), (at + step).min(1.0));
        }
        (0.0 < least).then_some(least)
    }
}

/// The logarithm of what several bets have won on average, with as much as each that is not bet.
fn average<const N: usize>(logs: [f64; N]) -> f64 {
    let most = logs.iter().copied().fold(0.0, f64::max);
    let sum: f64 = (-most).exp() + logs.iter().map(|log| (log - most).exp()).sum::<f64>();
    most + (sum / (N as f64 + 1.0)).ln()
}

/// A day on which scores may have begun to fall.
struct FallStart {
    /// Place among the days.
    at: usize,
    /// Logarithm of what a bet on a fall from this day on has won.
    won: f64,
    reference: Reference,
}

/// What scores day by day, the oldest first, say about a fall in the last six weeks. `None` without evidence.
pub fn find_fall(days: &[DailyScores]) -> Option<FallEvidence> {
    let last = days.last()?.day;
    let stakes: Vec<BetSums> = days.iter().map(BetSums::of).collect();
    let index = |day: i64| days.partition_point(|daily_scores| daily_scores.day < day);
    let mut evidence = 0.0;
    let mut best: Option<FallStart> = None;
    let mut since = BetSums::default();
    for start in (index(last + 1 - FALL_DAYS)..days.len()).rev() {
        since = since.plus(stakes[start]);
        if stakes[start].n == 0 {
            continue;
        }
        let from = index(days[start].day - REFERENCE_DAYS);
        let Some(reference) = Reference::of(&stakes[from..start]) else { continue };
        let Some(won) = reference.won(&since) else { continue };
        evidence += won.exp();
        if best.as_ref().is_none_or(|best| best.won < won) {
            best = Some(FallStart { at: start, won, reference });
        }
    }
    let FallStart { at: start, reference, .. } = best?;
    let since = stakes[start..].iter().fold(BetSums::default(), |sum, day| sum.plus(*day));
    let (before, now) = (reference.stakes.mean(), since.mean());
    Some(FallEvidence {
        evidence,
        since: days[start].day,
        before,
        now,
        n_before: reference.stakes.n,
        n_since: since.n,
        has_recovered: has_recovered(&stakes[start..], reference.stakes.spread(), before),
    })
}

/// The newest of the fallen days, as many as it takes to tell half of the fall by two and a half standard errors, lie
/// nearer to the mean of before than the days that fell.
fn has_recovered(days: &[BetSums], spread: f64, before: f64) -> bool {
    let sum = |days: &[BetSums]| days.iter().fold(BetSums::default(), |sum, day| sum.plus(*day));
    for split in (1..days.len()).rev() {
        let (fallen, newest) = (sum(&days[..split]), sum(&days[split..]));
        if fallen.n == 0 || newest.n == 0 {
            continue;
        }
        let variance = spread * newest.ww / newest.w.powi(2);
        if variance <= ((before - fallen.mean()) / 5.0).powi(2) {
            return f64::midpoint(before, fallen.mean()) < newest.mean();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days of ten scores around a mean, each scored with some probability.
    fn days(means: &[(f64, usize)], probability: f64) -> Vec<DailyScores> {
        let means = means.iter().flat_map(|(mean, n_days)| std::iter::repeat_n(*mean, *n_days));
        let day = |(day, mean): (usize, f64)| {
            let mut scores = WeightedScoreSums::default();
            for at in 0..10 {
                scores.add(mean + if at % 2 == 0 { 0.1 } else { -0.1 }, probability);
            }
            DailyScores { day: day as i64, strata: vec![scores] }
        };
        means.enumerate().map(day).collect()
    }

    #[test]
    fn a_fall_has_a_day_and_an_end() {
        let fallen = days(&[(0.8, 30), (0.6, 5)], 1.0);
        let fall = find_fall(&fallen).unwrap();
        assert!(1e5 < fall.evidence && fall.since == 30 && !fall.has_recovered, "{fall:?}");
        assert_eq!((fall.n_before, fall.n_since), (300, 50));
        assert!((fall.before - 0.8).abs() < 1e-9 && (fall.now - 0.6).abs() < 1e-9, "{fall:?}");
        let back = find_fall(&days(&[(0.8, 30), (0.6, 5), (0.8, 2)], 1.0)).unwrap();
        assert!(back.has_recovered, "{back:?}");
        // What has lasted is what is usual.
        assert_eq!(find_fall(&days(&[(0.8, 30), (0.6, 100)], 1.0)), None);
    }

    #[test]
    fn scores_that_stay_rise_or_are_few_say_nothing() {
        assert_eq!(find_fall(&[]), None);
        assert_eq!(find_fall(&days(&[(0.8, 40)], 1.0)), None);
        assert_eq!(find_fall(&days(&[(0.6, 30), (0.8, 10)], 1.0)), None);
        assert_eq!(find_fall(&days(&[(0.8, 4), (0.2, 3)], 1.0)), None, "six days are no reference");
    }

    #[test]
    fn scores_count_by_how_many_traces_they_stand_for() {
        // The same scores from a tenth of the traces say the same.
        let (all, tenth) = (days(&[(0.8, 30), (0.6, 3)], 1.0), days(&[(0.8, 30), (0.6, 3)], 0.1));
        let (all, tenth) = (find_fall(&all).unwrap(), find_fall(&tenth).unwrap());
        assert!((all.evidence / tenth.evidence - 1.0).abs() < 1e-6, "{all:?} {tenth:?}");
        // More failed traces that are always judged beside others of which a tenth is: no fall.
        let mixed = |day: i64, n_failed: usize, n_others: usize| {
            let mut strata = [WeightedScoreSums::default(); 2];
            (0..n_failed).for_each(|_| strata[0].add(0.2, 1.0));
            (0..n_others).for_each(|_| strata[1].add(0.8, if n_others == 10 { 1.0 } else { 0.1 }));
            DailyScores { day, strata: strata.to_vec() }
        };
        let turned: Vec<DailyScores> =
            (0..30).map(|day| mixed(day, 1, 10)).chain((30..35).map(|day| mixed(day, 10, 11))).collect();
        assert!(find_fall(&turned).is_none_or(|fall| fall.evidence < 10.0), "{:?}", find_fall(&turned));
    }
}
