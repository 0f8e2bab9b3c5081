//! Intervals that may be looked at every day: the chance that the truth is *ever* outside is bounded.
//!
//! An ordinary interval is wrong one time in twenty at each look, and so sooner or later. A confidence
//! sequence is wider and stays right at every step (Waudby-Smith and Ramdas 2023; Howard et al. 2021).

use serde::{Deserialize, Serialize};

use crate::stats::basics::numbers::ensure_usable_share;
use crate::stats::basics::undefined::Undefined;

/// What bounds the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SequenceBound {
    /// Only that values lie on 0..=1.
    Hoeffding,
    /// Their spread as well, which is narrower where values are alike.
    EmpiricalBernstein,
}

/// A mean on 0..=1 as values come in. It can be stored and continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sequence {
    bound: SequenceBound,
    alpha: f64,
    n: usize,
    sum: f64,
    /// Squared distances from the mean so far.
    squares: f64,
    /// Of bets: their sum, the sum of what they were on, and what they cost below and above.
    bets: f64,
    betted: f64,
    costs: (f64, f64),
    now: (f64, f64),
    ever: (f64, f64),
}

impl Sequence {
    pub fn new(bound: SequenceBound, alpha: f64) -> Result<Self, Undefined> {
        ensure_usable_share("alpha", alpha)?;
        let (all, none) = ((0.0, 1.0), (0.0, 0.0));
        Ok(Self {
            bound,
            alpha,
            n: 0,
            sum: 0.0,
            squares: 0.0,
            bets: 0.0,
            betted: 0.0,
            costs: none,
            now: all,
            ever: all,
        })
    }

    pub fn n(&self) -> usize {
        self.n
    }

    /// Where the mean lies by the last step alone.
    pub fn now(&self) -> (f64, f64) {
        self.now
    }

    /// Where it lies by all steps together. Low is above high when they contradict each other: the mean moved.
    pub fn interval(&self) -> (f64, f64) {
        self.ever
    }

    pub fn push(&mut self, value: f64) -> Result<(), Undefined> {
        ensure_unit_value(value, self.n)?;
        let reach = (2.0 / self.alpha).ln();
        let (before, t) = (self.n as f64, self.n as f64 + 1.0);
        let pace = t * (t + 1.0).ln();
        // The bet is placed before the value is seen.
        let (bet, (low_cost, high_cost)) = match self.bound {
            SequenceBound::Hoeffding => {
                let bet = (8.0 * reach / pace).sqrt().min(1.0);
                (bet, (bet * bet / 8.0, bet * bet / 8.0))
            }
            SequenceBound::EmpiricalBernstein => {
                let spread = (0.25 + self.squares) / t;
                let bet = (2.0 * reach / (spread * pace)).sqrt().min(0.5);
                let cost = -(-bet).ln_1p() - bet;
                // Before the first value each side expects the edge it is afraid of.
                let (low, high) =
                    if self.n == 0 { (0.0, 1.0) } else { (self.sum / before, self.sum / before) };
                (bet, (cost * (value - low).powi(2), cost * (value - high).powi(2)))
            }
        };
        self.n += 1;
        self.sum += value;
        self.squares += (value - (0.5 + self.sum) / (t + 1.0)).powi(2);
        self.bets += bet;
        self.betted += bet * value;
        let (low_before, high_before) = self.costs;
        let (low_costs, high_costs) = (low_before + low_cost, high_before + high_cost);
        self.costs = (low_costs, high_costs);
        let middle = self.betted / self.bets;
        let low = (middle - (reach + low_costs) / self.bets).max(0.0);
        let high = (middle + (reach + high_costs) / self.bets).min(1.0);
        self.now = (low, high);
        self.ever = intersect_intervals(self.ever, self.now);
        Ok(())
    }
}

/// Low is above high where they do not meet.
fn intersect_intervals((a_low, a_high): (f64, f64), (b_low, b_high): (f64, f64)) -> (f64, f64) {
    (a_low.max(b_low), a_high.min(b_high))
}

/// Means that are tried, and between which an end is not told.
const N_MEANS: usize = 1_000;

/// Confidence sequence for the mean by betting (Waudby-Smith and Ramdas 2023): a candidate mean is excluded once a
/// bettor against it has multiplied the stake by 1 / alpha. Narrower than the others for few values; the time is a
/// thousand steps (`N_MEANS`) per value.
pub(crate) fn hedged_sequence(values: &[f64], alpha: f64) -> Result<Vec<(f64, f64)>, Undefined> {
    ensure_usable_share("alpha", alpha)?;
    let means: Vec<f64> = (0..=N_MEANS).map(|n| n as f64 / N_MEANS as f64).collect();
    let mut capital = vec![(0.0_f64, 0.0_f64); means.len()];
    let (mut sum, mut squares, mut ever) = (0.5, 0.25, (0.0_f64, 1.0_f64));
    let mut steps = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        ensure_unit_value(*value, at)?;
        let t = at as f64 + 1.0;
        // The bet is placed before the value is seen.
        let bet = (2.0 * (2.0 / alpha).ln() / (squares / t * t * (t + 1.0).ln())).sqrt();
        for (mean, (above, below)) in means.iter().zip(&mut capital) {
            *above += (bet.min(0.5 / mean) * (value - mean)).ln_1p();
            *below += (-bet.min(0.5 / (1.0 - mean)) * (value - mean)).ln_1p();
        }
        sum += value;
        squares += (value - sum / (t + 1.0)).powi(2);
        // Half of the money is on each side.
        let is_left = |(above, below): &(f64, f64)| above.max(*below) + 0.5_f64.ln() < -alpha.ln();
        let first = capital.iter().position(is_left);
        let last = capital.iter().rposition(is_left);
        let step = 1.0 / N_MEANS as f64;
        if let Some((first, last)) = first.zip(last) {
            let low = if first == 0 { 0.0 } else { means[first] - step };
            let high = if last == N_MEANS { 1.0 } else { means[last] + step };
            ever = intersect_intervals(ever, (low, high));
        }
        steps.push(ever);
    }
    Ok(steps)
}

/// The value after so many lies on 0..=1.
pub(crate) fn ensure_unit_value(value: f64, n_before: usize) -> Result<(), Undefined> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Undefined::because(format!("value {} is {value} and not on 0..=1", n_before + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::basics::resample::Chance;

    #[test]
    fn looking_at_every_step_raises_few_false_alarms() {
        let mut chance = Chance::new(12);
        let mut alarms = [0; 3];
        for _ in 0..2_000 {
            let mut sequences = [SequenceBound::Hoeffding, SequenceBound::EmpiricalBernstein]
                .map(|sequence_bound| Sequence::new(sequence_bound, 0.05).unwrap());
            let (mut raised, mut sum) = ([false; 3], 0.0);
            for step in 1..=200 {
                let value = if chance.unit() < 0.8 { 1.0 } else { 0.0 };
                for (at, sequence) in sequences.iter_mut().enumerate() {
                    sequence.push(value).unwrap();
                    let (low, high) = sequence.interval();
                    raised[at] |= 0.8 < low || high < 0.8;
                }
                sum += value;
                // The ordinary interval, looked at as often.
                let off = (sum / f64::from(step) - 0.8_f64).abs();
                raised[2] |= 20 <= step && 1.96 * (0.16 / f64::from(step)).sqrt() < off;
            }
            for (count, raised) in alarms.iter_mut().zip(raised) {
                *count += usize::from(raised);
            }
        }
        println!(
            "Hoeffding {}, empirical Bernstein {}, ordinary {} of 2000",
            alarms[0], alarms[1], alarms[2]
        );
        assert!(alarms[0] < 100 && alarms[1] < 100, "{alarms:?}");
        assert!(300 < alarms[2], "{alarms:?}");
    }

    #[test]
    fn a_sequence_can_be_stored_and_knows_its_scale() {
        let mut sequence = Sequence::new(SequenceBound::EmpiricalBernstein, 0.05).unwrap();
        for _ in 0..500 {
            sequence.push(0.7).unwrap();
        }
        let (low, high) = sequence.interval();
        assert!(0.65 < low && high < 0.75, "{low} {high}");
        let back: Sequence = serde_json::from_str(&serde_json::to_string(&sequence).unwrap()).unwrap();
        assert_eq!(back.n(), 500);
        assert!(sequence.push(f64::NAN).unwrap_err().to_string().contains("value 501"));
        assert!(sequence.push(5.0).is_err() && Sequence::new(SequenceBound::Hoeffding, 0.0).is_err());
    }
}
