//! Notices that a mean is no longer what it was, however often one looks.

use serde::{Deserialize, Serialize};

use super::sequence::{Sequence, SequenceBound, ensure_unit_value};
use crate::stats::basics::undefined::Undefined;

/// Compares what comes in with what came in before. It can be stored and continued.
///
/// New sequences start at steps 1, 2, 4, 8, … of what is watched, so that a late change is not thinned out by a
/// long quiet time; their chances of a false alarm add up to half of alpha, the reference has the other half.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    alpha: f64,
    reference: Sequence,
    watched: Vec<Sequence>,
    n_watched: usize,
    alarm: Option<Alarm>,
}

/// A change that chance does not explain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// At which watched value it was noticed.
    pub at: usize,
    /// The values from here on are different.
    pub since: usize,
    pub before: (f64, f64),
    pub now: (f64, f64),
}

impl Drift {
    /// With what came in before, on 0..=1.
    pub fn new(reference: &[f64], alpha: f64) -> Result<Self, Undefined> {
        let mut sequence = Sequence::new(SequenceBound::EmpiricalBernstein, alpha / 2.0)?;
        for value in reference {
            sequence.push(*value)?;
        }
        if reference.is_empty() {
            return Undefined::because("there is nothing to compare with");
        }
        Ok(Self { alpha, reference: sequence, watched: Vec::new(), n_watched: 0, alarm: None })
    }

    pub fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }

    /// The first alarm stays.
    pub fn push(&mut self, value: f64) -> Result<Option<&Alarm>, Undefined> {
        ensure_unit_value(value, self.n_watched)?;
        self.n_watched += 1;
        if self.n_watched.is_power_of_two() {
            let at = self.watched.len() as f64 + 1.0;
            // 1 + 1/4 + 1/9 + … is π²/6.
            let share = 6.0 / (std::f64::consts::PI * at).powi(2);
            self.watched.push(Sequence::new(SequenceBound::EmpiricalBernstein, self.alpha / 2.0 * share)?);
        }
        let before @ (before_low, before_high) = self.reference.interval();
        for (start, sequence) in self.watched.iter_mut().enumerate() {
            sequence.push(value)?;
            let now @ (low, high) = sequence.interval();
            if self.alarm.is_none() && (high < before_low || before_high < low) {
                self.alarm = Some(Alarm { at: self.n_watched, since: 1 << start, before, now });
            }
        }
        Ok(self.alarm())
    }
}

/// A mean over time, looked at after every value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftReport {
    /// The values that say what was usual.
    pub reference: Vec<RunningMean>,
    /// Those that came in after them, looked at for themselves.
    pub since: Vec<RunningMean>,
    pub alarm: Option<Alarm>,
    /// The values that should say what was usual contradict each other from this one on.
    pub unsteady: Option<usize>,
}

/// A mean after some values, and where it may lie however often one looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RunningMean {
    pub mean: f64,
    pub interval: (f64, f64),
}

/// Holds what comes after the first `n_reference` values against them.
pub fn detect_drift(values: &[f64], n_reference: usize, alpha: f64) -> Result<DriftReport, Undefined> {
    let Some((before, after)) = values.split_at_checked(n_reference).filter(|(_, after)| !after.is_empty())
    else {
        return Undefined::because(format!(
            "there are only {} values, and {n_reference} of them are the reference period",
            values.len()
        ));
    };
    let mut drift = Drift::new(before, alpha)?;
    for value in after {
        drift.push(*value)?;
    }
    let (reference, unsteady) = compute_running_means(before, alpha)?;
    let (since, _) = compute_running_means(after, alpha)?;
    Ok(DriftReport { reference, since, alarm: drift.alarm, unsteady })
}

fn compute_running_means(values: &[f64], alpha: f64) -> Result<(Vec<RunningMean>, Option<usize>), Undefined> {
    let mut sequence = Sequence::new(SequenceBound::EmpiricalBernstein, alpha)?;
    let (mut sum, mut looks, mut unsteady) = (0.0, Vec::with_capacity(values.len()), None);
    for (at, value) in values.iter().enumerate() {
        sequence.push(*value)?;
        sum += value;
        looks.push(RunningMean { mean: sum / (at + 1) as f64, interval: sequence.now() });
        let (low, high) = sequence.interval();
        if high < low && unsteady.is_none() {
            unsteady = Some(at + 1);
        }
    }
    Ok((looks, unsteady))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::basics::resample::Chance;

    fn draw(chance: &mut Chance, rate: f64) -> f64 {
        if chance.unit() < rate { 1.0 } else { 0.0 }
    }

    #[test]
    fn a_late_change_is_noticed_and_none_is_not() {
        let mut chance = Chance::new(21);
        let (mut false_alarms, mut noticed) = (0, 0);
        for _ in 0..200 {
            let reference: Vec<f64> = (0..500).map(|_| draw(&mut chance, 0.85)).collect();
            let mut drift = Drift::new(&reference, 0.05).unwrap();
            for _ in 0..300 {
                drift.push(draw(&mut chance, 0.85)).unwrap();
            }
            false_alarms += usize::from(drift.alarm().is_some());
            for _ in 0..300 {
                drift.push(draw(&mut chance, 0.5)).unwrap();
            }
            noticed += usize::from(
                drift.alarm().is_some_and(|alarm| 300 < alarm.at && alarm.now.1 < alarm.before.0),
            );
        }
        println!("{false_alarms} false alarms, {noticed} noticed of 200");
        assert!(false_alarms < 10 && 190 < noticed + false_alarms, "{false_alarms} {noticed}");
    }

    #[test]
    fn looking_at_every_value_raises_few_false_alarms() {
        let mut chance = Chance::new(31);
        let alarms = (0..2_000)
            .filter(|_| {
                let values: Vec<f64> = (0..200).map(|_| draw(&mut chance, 0.8)).collect();
                detect_drift(&values, 100, 0.05).unwrap().alarm.is_some()
            })
            .count();
        println!("{alarms} false alarms of 2000");
        assert!(alarms < 100, "{alarms}");
    }

    #[test]
    fn a_reference_that_moved_itself_is_named() {
        let values: Vec<f64> = (0..900).map(|n| if n < 300 { 0.9 } else { 0.2 }).collect();
        let result = detect_drift(&values, 600, 0.05).unwrap();
        assert!(
            result.unsteady.is_some_and(|unsteady| 300 < unsteady && unsteady < 600),
            "{:?}",
            result.unsteady
        );
        assert!((result.since.len(), result.reference.len()) == (300, 600));
        assert!(detect_drift(&values, 900, 0.05).is_err() && detect_drift(&values, 0, 0.05).is_err());
    }

    #[test]
    fn without_a_reference_nothing_drifts() {
        assert!(Drift::new(&[], 0.05).unwrap_err().to_string().contains("nothing to compare with"));
        assert!(Drift::new(&[0.5, 7.0], 0.05).is_err());
        let mut drift = Drift::new(&[0.5], 0.05).unwrap();
        assert!(drift.push(f64::NAN).is_err());
    }
}
